//! The wait before a run: asleep, for as long as asked and until the package is cool enough.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use knobstat_data::messages::RunSpec;
use knobstat_data::observation::Settling;
use knobstat_sys::clock::{Clock, now};
use knobstat_sys::poll;

use crate::evidence::Thermometer;

/// A package that has not cooled down after this long will not.
pub const COOLING_LIMIT: Duration = Duration::from_secs(120);

/// How long it sleeps between two looks at the thermometer.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// How the wait went.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settled {
    pub(super) settling: Settling,
    pub(super) interrupted: bool,
    pub(super) note: Option<String>,
}

/// Waits as the cell asks.
pub(super) fn settle(
    spec: &RunSpec,
    thermometer: &Thermometer,
    limit: Duration,
    interrupts: &[BorrowedFd<'_>],
) -> Settled {
    let start = now(Clock::Monotonic);
    let mut interrupted = !spec.settle.is_zero() && sleep(spec.settle, interrupts);
    let mut temperature = thermometer.read();
    let mut still_hot = false;
    let mut note = None;
    if let Some(wanted) = spec.cool_below {
        let is_hot = |now: &Result<_, String>| now.as_ref().is_ok_and(|now| *now >= wanted);
        let cooling = now(Clock::Monotonic);
        while is_hot(&temperature) && !interrupted {
            let left = limit.saturating_sub(now(Clock::Monotonic).saturating_sub(cooling));
            if left.is_zero() {
                still_hot = true;
                break;
            }
            interrupted = sleep(BETWEEN_LOOKS.min(left), interrupts);
            temperature = thermometer.read();
        }
        if let Err(reason) = &temperature {
            note = Some(format!("it was not waited for {wanted}: {reason}"));
        }
    }
    Settled {
        settling: Settling {
            knobs_changed: spec.knobs_changed,
            waited: now(Clock::Monotonic).saturating_sub(start),
            temperature: temperature.ok(),
            still_hot,
        },
        interrupted,
        note,
    }
}

/// Sleeps in one system call; tells whether it was interrupted.
fn sleep(duration: Duration, interrupts: &[BorrowedFd<'_>]) -> bool {
    // A poll that fails has nothing to say about interruptions; the next one will.
    poll::wait(interrupts, Some(duration)).is_ok_and(|ready| !ready.timed_out())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsFd;

    use knobstat_data::{Celsius, Parameters};
    use knobstat_sys::root::Root;

    use super::*;

    fn spec(settle: Duration, cool_below: Option<Celsius>) -> RunSpec {
        RunSpec {
            run: "0a".parse().unwrap(),
            workload: "command".to_owned(),
            parameters: Parameters::new(),
            metrics: Vec::new(),
            knobs: Vec::new(),
            settle,
            knobs_changed: true,
            cool_below,
        }
    }

    fn thermometer(millidegrees: &str) -> (tempfile::TempDir, Thermometer) {
        let directory = tempfile::tempdir().unwrap();
        let zone = directory.path().join("sys/class/thermal/thermal_zone0");
        fs::create_dir_all(&zone).unwrap();
        fs::write(zone.join("type"), "x86_pkg_temp\n").unwrap();
        fs::write(zone.join("temp"), millidegrees).unwrap();
        let root = Root::laid_out(directory.path()).unwrap();
        let thermometer = Thermometer::find(&root);
        (directory, thermometer)
    }

    #[test]
    fn the_wait_and_the_temperature_are_recorded() {
        let (_directory, thermometer) = thermometer("41500\n");
        let wait = Duration::from_millis(2);
        let settled = settle(
            &spec(wait, Some(Celsius(60.0))),
            &thermometer,
            COOLING_LIMIT,
            &[],
        );
        assert!(settled.settling.waited >= wait);
        assert!(settled.settling.knobs_changed);
        assert_eq!(settled.settling.temperature, Some(Celsius(41.5)));
        assert!(!settled.settling.still_hot && !settled.interrupted);
        assert_eq!(settled.note, None);
    }

    #[test]
    fn a_package_that_stays_hot_is_waited_for_within_a_limit() {
        let (_directory, thermometer) = thermometer("90000\n");
        let limit = Duration::from_millis(1);
        let settled = settle(
            &spec(Duration::ZERO, Some(Celsius(60.0))),
            &thermometer,
            limit,
            &[],
        );
        assert!(settled.settling.still_hot);
        assert_eq!(settled.settling.temperature, Some(Celsius(90.0)));
    }

    #[test]
    fn an_interruption_ends_the_wait() {
        let (_directory, thermometer) = thermometer("90000\n");
        let (end, writer) = std::io::pipe().unwrap();
        drop(writer);
        let day = Duration::from_secs(86_400);
        for spec in [spec(day, None), spec(Duration::ZERO, Some(Celsius(60.0)))] {
            let settled = settle(&spec, &thermometer, day, &[end.as_fd()]);
            assert!(settled.interrupted);
            assert!(!settled.settling.still_hot);
        }
    }

    #[test]
    fn without_a_thermometer_it_is_said_that_nothing_was_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::laid_out(directory.path()).unwrap();
        let cool = spec(Duration::ZERO, Some(Celsius(60.0)));
        let settled = settle(&cool, &Thermometer::find(&root), COOLING_LIMIT, &[]);
        assert_eq!(settled.settling.temperature, None);
        assert!(settled.note.unwrap().contains("60 C"));
    }
}
