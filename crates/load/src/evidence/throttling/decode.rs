//! From the counters of thermal throttling to evidence: the kernel's
//! ABI/testing/sysfs-devices-system-cpu.

use knobstat_data::{Evidence, Unit};

use crate::evidence::{counts, evidence, growth, seconds};

/// The key, the file, its unit, and how many of what the file counts make one of that.
pub(super) const KINDS: [(&str, &str, Unit, f64); 4] = [
    (
        "throttling.core.count",
        "core_throttle_count",
        Unit::COUNT,
        1.0,
    ),
    (
        "throttling.core.time",
        "core_throttle_total_time_ms",
        Unit::SECONDS,
        1e3,
    ),
    (
        "throttling.package.count",
        "package_throttle_count",
        Unit::COUNT,
        1.0,
    ),
    (
        "throttling.package.time",
        "package_throttle_total_time_ms",
        Unit::SECONDS,
        1e3,
    ),
];

/// Evidence from the texts of one counter, before and after.
pub(super) fn decode(kind: usize, cpu: &str, texts: Result<(&str, &str), String>) -> Evidence {
    let (key, _, unit, per_unit) = &KINDS[kind];
    let value = counts(texts).and_then(|(before, after)| {
        if *unit == Unit::SECONDS {
            seconds(before, after, *per_unit)
        } else {
            growth(before, after)
        }
    });
    evidence(*key, cpu, unit.clone(), value)
}

/// For a machine without such counters.
pub(super) fn none() -> Vec<Evidence> {
    let reason = "the kernel counts no thermal throttling here: it does on Intel's processors, \
                  and not in most guests"
        .to_owned();
    KINDS
        .iter()
        .map(|(key, _, unit, _)| evidence(*key, "machine", unit.clone(), Err(reason.clone())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_times_grow() {
        let found = decode(0, "cpu1", Ok(("7\n", "9\n")));
        assert_eq!(
            (found.key.as_str(), found.scope.as_str()),
            ("throttling.core.count", "cpu1")
        );
        assert_eq!(found.value, Ok(2.0));
        let found = decode(1, "cpu1", Ok(("100\n", "350\n")));
        assert_eq!((found.unit, found.value), (Unit::SECONDS, Ok(0.25)));
    }

    #[test]
    fn what_is_lacking_is_a_reason() {
        assert!(decode(2, "cpu0", Ok(("x", "1"))).value.is_err());
        assert!(decode(3, "cpu0", Ok(("5", "1"))).value.is_err());
        assert!(none().iter().all(|one| one.value.is_err()));
    }
}
