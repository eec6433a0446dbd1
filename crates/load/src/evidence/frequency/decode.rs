//! From APERF, MPERF and the TSC to a frequency: Intel's Software Developer's Manual, volume 3,
//! section 15.2, and AMD64's Architecture Programmer's Manual, volume 2, section 17.1.

use std::time::Duration;

use knobstat_data::{Evidence, Unit};

use crate::evidence::evidence;

const EFFECTIVE: &str = "frequency.effective";
const NOT_IDLE: &str = "frequency.not_idle";

fn megahertz() -> Unit {
    Unit::new("MHz")
}

/// What the counters of one CPU grew by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// Cycles at the frequency that the CPU had, while it was not idle.
    pub(super) aperf: u64,
    /// Cycles at the nominal frequency, while it was not idle.
    pub(super) mperf: u64,
    /// Cycles at the nominal frequency, all the time.
    pub(super) tsc: u64,
    /// All the time.
    pub(super) time: Duration,
}

/// Evidence of one CPU: the frequency while it was not idle, and how much of the time it was not.
pub(super) fn decode(cpu: u32, seen: Result<Seen, String>) -> Vec<Evidence> {
    let effective = seen.clone().and_then(|seen| {
        if seen.mperf == 0 || seen.time.is_zero() {
            return Err("the CPU was idle all along".to_owned());
        }
        let nominal = seen.tsc as f64 / seen.time.as_secs_f64();
        Ok(seen.aperf as f64 / seen.mperf as f64 * nominal / 1e6)
    });
    let not_idle = seen.and_then(|seen| {
        if seen.tsc == 0 {
            return Err("no time passed".to_owned());
        }
        Ok(seen.mperf as f64 / seen.tsc as f64 * 100.0)
    });
    let scope = format!("cpu{cpu}");
    vec![
        evidence(EFFECTIVE, scope.clone(), megahertz(), effective),
        evidence(NOT_IDLE, scope, Unit::SHARE, not_idle),
    ]
}

/// For a machine without these counters.
pub(super) fn none(reason: &str) -> Vec<Evidence> {
    vec![
        evidence(EFFECTIVE, "machine", megahertz(), Err(reason.to_owned())),
        evidence(NOT_IDLE, "machine", Unit::SHARE, Err(reason.to_owned())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frequency_is_that_of_the_time_that_was_not_idle() {
        let seen = Seen {
            aperf: 895_000_000,
            mperf: 732_500_000,
            tsc: 2_930_000_000,
            time: Duration::from_secs(1),
        };
        let decoded = decode(3, Ok(seen));
        assert_eq!(decoded[0].scope, "cpu3");
        assert_eq!(decoded[0].value, Ok(3580.0));
        assert_eq!(decoded[1].value, Ok(25.0));
    }

    #[test]
    fn what_cannot_be_said_is_a_reason() {
        let idle = Seen {
            aperf: 0,
            mperf: 0,
            tsc: 1000,
            time: Duration::from_secs(1),
        };
        let decoded = decode(0, Ok(idle));
        assert!(decoded[0].value.is_err());
        assert_eq!(decoded[1].value, Ok(0.0));
        let still = Seen { tsc: 0, ..idle };
        assert!(decode(0, Ok(still)).iter().all(|one| one.value.is_err()));
        assert!(
            decode(0, Err("gone".to_owned()))
                .iter()
                .all(|one| one.value.is_err())
        );
        assert!(none("a guest").iter().all(|one| one.value.is_err()));
    }
}
