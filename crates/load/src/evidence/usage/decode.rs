//! From wait4(2)'s word to evidence.

use knobstat_data::{Evidence, Unit};
use knobstat_sys::spawn::Usage;

use crate::evidence::evidence;

/// Evidence from what was used.
///
/// `harness_peak` is the largest resident set that the harness had around the start: a child's
/// figure is never below what its parent had when it was started. `hz` is the kernel's tick rate, by which
/// the split of CPU time is sampled.
pub fn decode(usage: &Usage, harness_peak: u64, hz: Option<u32>) -> Vec<Evidence> {
    let run = |key: &str, unit: Unit, value| evidence(key, "run", unit, value);
    let peak = usage.peak_resident as f64;
    let own_peak = if usage.peak_resident > harness_peak {
        Ok(peak)
    } else {
        Err(format!(
            "no more than the {harness_peak} bytes of the program that started it, and so unknown"
        ))
    };
    let step = hz
        .map(|hz| 1.0 / f64::from(hz))
        .ok_or_else(|| "the kernel does not tell its tick rate".to_owned());
    let count = |key: &str, count: u64| run(key, Unit::COUNT, Ok(count as f64));
    vec![
        run(
            "cpu.user_and_system",
            Unit::SECONDS,
            Ok(usage.cpu().as_secs_f64()),
        ),
        run("cpu.user", Unit::SECONDS, Ok(usage.user.as_secs_f64())),
        run("cpu.system", Unit::SECONDS, Ok(usage.system.as_secs_f64())),
        run("cpu.split_step", Unit::SECONDS, step),
        run("memory.peak", Unit::BYTES, own_peak),
        run("memory.peak_at_most", Unit::BYTES, Ok(peak)),
        count("context_switches.voluntary", usage.voluntary_switches),
        count("context_switches.involuntary", usage.involuntary_switches),
        count("faults.minor", usage.minor_faults),
        count("faults.major", usage.major_faults),
        count("blocks.read", usage.blocks_in),
        count("blocks.written", usage.blocks_out),
    ]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn value(decoded: &[Evidence], key: &str) -> Result<f64, String> {
        let found = decoded.iter().find(|one| one.key == key);
        found.unwrap().value.clone()
    }

    #[test]
    fn the_sum_is_given_beside_its_split_and_the_step_of_the_split() {
        let usage = Usage {
            user: Duration::from_millis(30),
            system: Duration::from_millis(12),
            peak_resident: 9 << 20,
            ..Usage::default()
        };
        let decoded = decode(&usage, 4 << 20, Some(250));
        assert_eq!(value(&decoded, "cpu.user_and_system"), Ok(0.042));
        assert_eq!(value(&decoded, "cpu.split_step"), Ok(0.004));
        assert_eq!(value(&decoded, "memory.peak"), Ok(9_437_184.0));
    }

    #[test]
    fn a_peak_that_may_be_the_harnesss_is_only_a_bound() {
        let usage = Usage {
            peak_resident: 4 << 20,
            ..Usage::default()
        };
        let decoded = decode(&usage, 4 << 20, None);
        assert!(value(&decoded, "memory.peak").is_err());
        assert_eq!(value(&decoded, "memory.peak_at_most"), Ok(4_194_304.0));
        assert!(value(&decoded, "cpu.split_step").is_err());
    }
}
