//! From the readings of perf events to evidence.

use knobstat_data::{Evidence, Unit};
use knobstat_sys::perf::Count;

use crate::evidence::evidence;

/// The keys, and how many of what is counted make one of the unit.
pub(super) const KINDS: [(&str, Unit, f64); 6] = [
    ("perf.cycles", Unit::COUNT, 1.0),
    ("perf.instructions", Unit::COUNT, 1.0),
    ("perf.branch_misses", Unit::COUNT, 1.0),
    ("perf.cache_misses", Unit::COUNT, 1.0),
    ("perf.migrations", Unit::COUNT, 1.0),
    ("perf.task_clock", Unit::SECONDS, 1e9),
];

/// The places of two of them.
pub(super) const CYCLES: usize = 0;
const TASK_CLOCK: usize = 5;

/// From here on it is the kernel that counts, on every machine.
pub(super) const FIRST_OF_KERNEL: usize = 4;

/// What one counter came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    /// Whether what the kernel did was left out, because this user may not count it.
    pub(super) user_mode_only: bool,
    /// The reading, or why there is none.
    pub(super) count: Result<Count, String>,
}

impl Counted {
    fn scope(&self) -> &'static str {
        if self.user_mode_only {
            "run in user mode"
        } else {
            "run"
        }
    }

    /// The share of the time in which it was counted; less than all of it where the processor
    /// has fewer counters than were asked for.
    fn share(&self) -> Option<f64> {
        let count = self.count.as_ref().ok()?;
        let enabled = count.enabled.as_secs_f64();
        (enabled > 0.0).then(|| count.running.as_secs_f64() / enabled)
    }

    /// The count, scaled up to all of the time.
    fn scaled(&self) -> Result<f64, String> {
        let count = self.count.as_ref().map_err(Clone::clone)?;
        match self.share() {
            Some(share) if share > 0.0 => Ok(count.value as f64 / share),
            Some(_) => Err("the processor never had a counter free for it".to_owned()),
            // Never enabled: the program was not executed.
            None => Ok(count.value as f64),
        }
    }
}

/// Evidence from all of them.
pub(super) fn decode(counted: [Counted; KINDS.len()]) -> Vec<Evidence> {
    let mut found = Vec::with_capacity(KINDS.len() + 1);
    for ((key, unit, per_unit), counted) in KINDS.iter().zip(&counted) {
        let value = counted.scaled().map(|value| value / per_unit);
        found.push(evidence(*key, counted.scope(), unit.clone(), value));
        if let Some(share) = counted.share().filter(|share| *share < 1.0) {
            let key = format!("{key}.counted");
            found.push(evidence(
                key,
                counted.scope(),
                Unit::SHARE,
                Ok(share * 100.0),
            ));
        }
    }
    let frequency = counted[CYCLES].scaled().and_then(|cycles| {
        let nanoseconds = counted[TASK_CLOCK].scaled()?;
        if counted[CYCLES].user_mode_only {
            return Err("cycles were counted in user mode only, and time was not".to_owned());
        }
        if nanoseconds > 0.0 {
            Ok(cycles / nanoseconds * 1e3)
        } else {
            Err("no time passed".to_owned())
        }
    });
    let unit = Unit::new("MHz");
    found.push(evidence("perf.frequency", "run", unit, frequency));
    found
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn count(value: u64, running: u64) -> Counted {
        Counted {
            user_mode_only: false,
            count: Ok(Count {
                value,
                enabled: Duration::from_millis(100),
                running: Duration::from_millis(running),
            }),
        }
    }

    fn value(decoded: &[Evidence], key: &str) -> Option<Result<f64, String>> {
        let found = decoded.iter().find(|one| one.key == key)?;
        Some(found.value.clone())
    }

    #[test]
    fn what_was_counted_for_half_the_time_is_scaled_and_says_so() {
        let decoded = decode([
            count(175_000_000, 50),
            count(0, 0),
            count(7, 100),
            Counted {
                user_mode_only: false,
                count: Err("a guest".to_owned()),
            },
            count(3, 100),
            count(100_000_000, 100),
        ]);
        assert_eq!(value(&decoded, "perf.task_clock"), Some(Ok(0.1)));
        assert_eq!(value(&decoded, "perf.migrations"), Some(Ok(3.0)));
        assert_eq!(value(&decoded, "perf.cycles"), Some(Ok(350_000_000.0)));
        assert_eq!(value(&decoded, "perf.cycles.counted"), Some(Ok(50.0)));
        assert_eq!(value(&decoded, "perf.branch_misses.counted"), None);
        assert!(value(&decoded, "perf.instructions").unwrap().is_err());
        assert_eq!(
            value(&decoded, "perf.cache_misses"),
            Some(Err("a guest".to_owned()))
        );
        assert_eq!(value(&decoded, "perf.frequency"), Some(Ok(3500.0)));
    }

    #[test]
    fn user_mode_is_said_and_gives_no_frequency() {
        let cycles = Counted {
            user_mode_only: true,
            ..count(5, 100)
        };
        let decoded = decode([
            cycles,
            count(1, 100),
            count(1, 100),
            count(1, 100),
            count(0, 100),
            count(100, 100),
        ]);
        let cycles = decoded.iter().find(|one| one.key == "perf.cycles").unwrap();
        assert_eq!(cycles.scope, "run in user mode");
        assert!(value(&decoded, "perf.frequency").unwrap().is_err());
    }
}
