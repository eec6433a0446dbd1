//! The frequency of a busy CPU against its nominal one: the effect of turbo, governors and limits.
//!
//! APERF grows with the actual and MPERF with the nominal frequency while a CPU is not idle
//! (Intel's Software Developer's Manual, volume 3, section 15.2), counted with the kernel's `msr`
//! device.

use std::time::{Duration, Instant};

use knobstat_data::Unit;
use knobstat_sys::perf::{Counter, Event, Whose};
use knobstat_sys::topology::{affinity, set_affinity};

use super::Seen;

/// How long the CPU is kept busy.
const BUSY: Duration = Duration::from_millis(200);
/// Above this the frequency is more than nominal, whatever the counters' jitter.
const ABOVE_NOMINAL: f64 = 1.01;

/// Keeps a CPU busy and takes the ratio.
///
/// # Errors
/// When the counters cannot be had here.
pub fn look(knob: &str, level: &str) -> Result<Seen, String> {
    let before = affinity().map_err(|error| error.to_string())?;
    let cpu = *before.first().ok_or("no CPU may be used")?;
    let counter = |name: &str| {
        Event::of_device("msr", name)
            .and_then(|event| Counter::open(event, Whose::Cpu(cpu)))
            .map_err(|error| format!("{name} cannot be counted here: {error}"))
    };
    let (actual, nominal) = (counter("aperf")?, counter("mperf")?);
    set_affinity(&[cpu]).map_err(|error| error.to_string())?;
    let read = || -> Result<(u64, u64), String> {
        let value = |counter: &Counter| counter.read().map(|count| count.value);
        Ok((
            value(&actual).map_err(|error| error.to_string())?,
            value(&nominal).map_err(|error| error.to_string())?,
        ))
    };
    let first = read();
    let begun = Instant::now();
    while begun.elapsed() < BUSY {
        std::hint::spin_loop();
    }
    let last = read();
    set_affinity(&before).map_err(|error| error.to_string())?;
    let ((actual_before, nominal_before), (actual_after, nominal_after)) = (first?, last?);
    let nominal = nominal_after.wrapping_sub(nominal_before);
    if nominal == 0 {
        return Err("mperf stands still".to_owned());
    }
    let ratio = actual_after.wrapping_sub(actual_before) as f64 / nominal as f64;
    Ok(judge(knob, level, ratio))
}

fn judge(knob: &str, level: &str, ratio: f64) -> Seen {
    let absent = match (knob, level) {
        ("turbo", "on") if ratio <= ABOVE_NOMINAL => Some(format!(
            "a busy CPU runs at {ratio:.2} of its nominal frequency: turbo is permitted and not had"
        )),
        ("turbo", "off") if ratio > ABOVE_NOMINAL => Some(format!(
            "a busy CPU runs at {ratio:.2} of its nominal frequency although turbo is off"
        )),
        _ => None,
    };
    Seen {
        figure: "frequency_over_nominal",
        unit: Unit::COUNT,
        value: ratio,
        absent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turbo_on_is_a_permission_that_shows_in_the_ratio() {
        for (level, ratio, absent) in [
            ("on", 1.22, false),
            ("on", 1.0, true),
            ("off", 1.0, false),
            ("off", 1.22, true),
        ] {
            assert_eq!(
                judge("turbo", level, ratio).absent.is_some(),
                absent,
                "{level} {ratio}"
            );
        }
        assert_eq!(judge("governor", "powersave", 0.4).absent, None);
    }
}
