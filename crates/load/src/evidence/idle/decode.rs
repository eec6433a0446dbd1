//! From the counters of an idle state to evidence: the kernel's admin-guide/pm/cpuidle.rst.

use knobstat_data::{Evidence, Unit};

use crate::evidence::{counts, evidence, growth, seconds};

/// Times are in microseconds.
const PER_SECOND: f64 = 1e6;

/// Evidence from the texts before and after.
pub(super) fn decode(
    cpu: &str,
    state: &str,
    entries: Result<(&str, &str), String>,
    time: Result<(&str, &str), String>,
) -> Vec<Evidence> {
    let entries = counts(entries).and_then(|(before, after)| growth(before, after));
    let time = counts(time).and_then(|(before, after)| seconds(before, after, PER_SECOND));
    vec![
        evidence(format!("idle.{state}.entries"), cpu, Unit::COUNT, entries),
        evidence(format!("idle.{state}.time"), cpu, Unit::SECONDS, time),
    ]
}

/// For a machine without idle states.
pub(super) fn none() -> Vec<Evidence> {
    let reason = "the kernel has no idle states for the CPUs here".to_owned();
    vec![evidence("idle.time", "machine", Unit::SECONDS, Err(reason))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_has_entries_and_time() {
        let decoded = decode("cpu1", "C6", Ok(("10\n", "12\n")), Ok(("5\n", "500005\n")));
        let values: Vec<_> = decoded
            .iter()
            .map(|one| (one.key.as_str(), one.scope.as_str(), one.value.clone()))
            .collect();
        assert_eq!(
            values,
            [
                ("idle.C6.entries", "cpu1", Ok(2.0)),
                ("idle.C6.time", "cpu1", Ok(0.5))
            ]
        );
    }

    #[test]
    fn what_is_lacking_is_a_reason() {
        let decoded = decode("cpu1", "C6", Ok(("x", "2")), Err("gone".to_owned()));
        assert!(decoded.iter().all(|one| one.value.is_err()));
        assert!(none()[0].value.is_err());
    }
}
