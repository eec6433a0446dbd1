//! From two sightings to how far each clock went away from the stopwatch, and how far it may have
//! done so without anything being wrong.

use std::time::Duration;

use knobstat_data::{Evidence, Unit};

use crate::evidence::evidence;

/// The rate at which CLOCK_MONOTONIC and CLOCK_BOOTTIME may be slewed by adjtimex(2): 500 ppm.
const SLEW: f64 = 500e-6;

/// What the stopwatch and the clocks say between two sightings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Against {
    /// By the stopwatch, the least that it can be: from the end of the first sighting to the
    /// beginning of the second.
    pub least: Duration,
    /// The most that it can be.
    pub most: Duration,
    /// By CLOCK_MONOTONIC.
    pub monotonic: Duration,
    /// By CLOCK_MONOTONIC_RAW.
    pub monotonic_raw: Duration,
    /// By CLOCK_BOOTTIME.
    pub boottime: Duration,
    /// How far the stopwatch's rate may be off, in parts per million.
    pub uncertainty_ppm: f64,
    /// How far it may be off because it was read on two CPUs; absent where that is not known.
    pub apart: Option<Duration>,
    /// The smallest difference that it can show.
    pub granularity: Duration,
    /// The step of the kernel's clocks; absent where they stand still.
    pub step: Option<Duration>,
}

/// Evidence on the stopwatch and on every clock: how far the clock went ahead of the stopwatch,
/// and within what that is no disagreement.
pub fn decode(seen: &Against) -> Vec<Evidence> {
    let (least, most) = (seen.least.as_secs_f64(), seen.most.as_secs_f64());
    let middle = (least + most) / 2.0;
    let uncertain = (most - least) / 2.0
        + middle * seen.uncertainty_ppm / 1e6
        + seen.apart.unwrap_or_default().as_secs_f64()
        + seen.granularity.as_secs_f64()
        // The clock may have been about to step at either end.
        + seen.step.unwrap_or_default().as_secs_f64();
    let mut found = vec![
        evidence(
            "stopwatch.uncertainty",
            "run",
            Unit::new("ppm"),
            Ok(seen.uncertainty_ppm),
        ),
        evidence(
            "stopwatch.granularity",
            "run",
            Unit::SECONDS,
            Ok(seen.granularity.as_secs_f64()),
        ),
        evidence(
            "stopwatch.between_cpus",
            "run",
            Unit::SECONDS,
            seen.apart
                .map(|apart| apart.as_secs_f64())
                .ok_or_else(|| "the CPUs' counters could not be compared".to_owned()),
        ),
        evidence(
            "clock.step",
            "machine",
            Unit::SECONDS,
            seen.step
                .map(|step| step.as_secs_f64())
                .ok_or_else(|| "the clock stands still".to_owned()),
        ),
    ];
    for (scope, clock, slew) in [
        ("monotonic", seen.monotonic, SLEW),
        ("monotonic_raw", seen.monotonic_raw, 0.0),
        ("boottime", seen.boottime, SLEW),
    ] {
        let ahead = clock.as_secs_f64() - middle;
        let within = uncertain + slew * middle;
        found.push(evidence(
            "clock.ahead_of_stopwatch",
            scope,
            Unit::SECONDS,
            Ok(ahead),
        ));
        found.push(evidence(
            "clock.agrees_within",
            scope,
            Unit::SECONDS,
            Ok(within),
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen() -> Against {
        Against {
            least: Duration::from_micros(999_990),
            most: Duration::from_micros(1_000_010),
            monotonic: Duration::from_secs(1),
            monotonic_raw: Duration::from_secs(1),
            boottime: Duration::from_secs(1),
            uncertainty_ppm: 5.0,
            apart: Some(Duration::from_nanos(100)),
            granularity: Duration::from_nanos(20),
            step: Some(Duration::from_nanos(1)),
        }
    }

    fn value(decoded: &[Evidence], key: &str, scope: &str) -> f64 {
        let found = decoded
            .iter()
            .find(|one| one.key == key && one.scope == scope);
        found.unwrap().value.clone().unwrap()
    }

    #[test]
    fn what_is_uncertain_adds_up() {
        let decoded = decode(&seen());
        assert_eq!(
            value(&decoded, "clock.ahead_of_stopwatch", "monotonic_raw"),
            0.0
        );
        let within = value(&decoded, "clock.agrees_within", "monotonic_raw");
        // Half of 20 us, 5 ppm of a second, 100 ns, 20 ns and 1 ns.
        assert!((within - 15.121e-6).abs() < 1e-12, "{within}");
        let slewed = value(&decoded, "clock.agrees_within", "monotonic");
        assert!((slewed - within - 500e-6).abs() < 1e-12, "{slewed}");
        assert_eq!(value(&decoded, "stopwatch.uncertainty", "run"), 5.0);
    }

    #[test]
    fn a_clock_that_steps_by_the_tick_may_be_off_by_one() {
        let decoded = decode(&Against {
            monotonic_raw: Duration::from_millis(996),
            step: Some(Duration::from_millis(4)),
            ..seen()
        });
        let ahead = value(&decoded, "clock.ahead_of_stopwatch", "monotonic_raw");
        let within = value(&decoded, "clock.agrees_within", "monotonic_raw");
        assert!(
            (ahead + 0.004).abs() < 1e-12 && within > 0.004,
            "{ahead} {within}"
        );
    }

    #[test]
    fn a_clock_that_stands_still_has_no_step() {
        let decoded = decode(&Against {
            monotonic_raw: Duration::ZERO,
            step: None,
            ..seen()
        });
        assert_eq!(
            value(&decoded, "clock.ahead_of_stopwatch", "monotonic_raw"),
            -1.0
        );
        let step = decoded.iter().find(|one| one.key == "clock.step").unwrap();
        assert!(step.value.is_err());
    }
}
