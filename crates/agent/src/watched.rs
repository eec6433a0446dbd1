//! What is watched around every run, whether it was asked for or not: the clock source, the CPUs
//! online, and whether the machine slept. A run during which one of them changed is tainted.

use std::time::Duration;

use knobstat_data::observation::{Taint, Times};
use knobstat_sys::root::Root;

/// Files whose value must be the same before and after a run.
const FILES: [(&str, &str, &str); 2] = [
    (
        "clocksource",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "the kernel's clock source watchdog, or somebody who wrote the setting",
    ),
    (
        "CPUs online",
        "/sys/devices/system/cpu/online",
        "CPU hotplug, which also resets every setting of that CPU",
    ),
];

/// By how much the clocks that stop in a suspend and those that do not may differ over a run.
const SUSPEND: Duration = Duration::from_millis(10);

/// The name of the stopwatch that is no counter.
const MONOTONIC_RAW: &str = "monotonic-raw";

/// The watched files at one moment.
pub struct Watched([Option<String>; FILES.len()]);

impl Watched {
    /// Reads them.
    pub fn read(root: &Root) -> Self {
        Self(FILES.map(|(_, path, _)| root.read(path).ok()))
    }

    /// What changed until a later moment; knobs that were turned for the run are judged by their
    /// own readings and named in `turned`.
    pub fn changes(&self, later: &Self, turned: &[String]) -> Vec<Taint> {
        let pairs = self.0.iter().zip(&later.0);
        FILES
            .iter()
            .zip(pairs)
            .filter(|((name, ..), (before, after))| {
                before != after && !turned.iter().any(|knob| knob == name)
            })
            .map(|((name, _, cause), (before, after))| Taint {
                knob: (*name).to_owned(),
                expected: before.clone().unwrap_or_else(|| "unreadable".to_owned()),
                found: after.clone().unwrap_or_else(|| "unreadable".to_owned()),
                cause: Some((*cause).to_owned()),
            })
            .collect()
    }
}

/// A suspend during the run: CLOCK_BOOTTIME counts it and CLOCK_MONOTONIC does not.
pub fn suspend(times: &Times) -> Option<Taint> {
    let slept = times.boottime.saturating_sub(times.monotonic);
    (slept > SUSPEND).then(|| Taint {
        knob: "suspend".to_owned(),
        expected: "awake throughout".to_owned(),
        found: format!("asleep for {slept:.1?}"),
        cause: Some("the machine was suspended in the middle of the run".to_owned()),
    })
}

/// A counter that stood still, or went back, while a process was started and ended: it timed
/// nothing. CLOCK_MONOTONIC_RAW may do so where it steps by the tick, and is only coarse.
pub fn stopped(times: &Times) -> Option<Taint> {
    let is_counter = times.stopwatch != MONOTONIC_RAW;
    (is_counter && times.wall.is_zero()).then(|| Taint {
        knob: "stopwatch".to_owned(),
        expected: "going on".to_owned(),
        found: "standing still or going back".to_owned(),
        cause: Some("the counter was written to, or differs between CPUs".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(source: &str, online: &str) -> (tempfile::TempDir, Watched) {
        let directory = tempfile::tempdir().unwrap();
        for ((_, path, _), text) in FILES.iter().zip([source, online]) {
            let path = directory.path().join(path.trim_start_matches('/'));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let watched = Watched::read(&Root::laid_out(directory.path()).unwrap());
        (directory, watched)
    }

    #[test]
    fn a_watchdog_that_gives_up_on_tsc_taints_a_run_that_did_not_ask_for_it() {
        let (_before, before) = machine("tsc\n", "0-3\n");
        let (_after, after) = machine("hpet\n", "0-3\n");
        let taints = before.changes(&after, &[]);
        assert_eq!(taints.len(), 1);
        assert_eq!(
            (taints[0].expected.as_str(), taints[0].found.as_str()),
            ("tsc", "hpet")
        );
        assert!(
            before
                .changes(&after, &["clocksource".to_owned()])
                .is_empty()
        );
        assert!(before.changes(&before, &[]).is_empty());
    }

    #[test]
    fn a_cpu_that_went_away_is_seen() {
        let (_before, before) = machine("tsc\n", "0-3\n");
        let (_after, after) = machine("tsc\n", "0-2\n");
        assert_eq!(before.changes(&after, &[])[0].found, "0-2");
    }

    #[test]
    fn f10_a_guest_that_slept_and_woke_with_another_clock_source_is_tainted_twice() {
        let (_before, before) = machine("tsc\n", "0-3\n");
        let (_after, after) = machine("hpet\n", "0-3\n");
        let times = Times {
            stopwatch: "tsc".to_owned(),
            wall: Duration::from_secs(3600),
            monotonic: Duration::from_secs(2),
            monotonic_raw: Duration::from_secs(2),
            boottime: Duration::from_secs(3600),
            cpu: Duration::from_secs(1),
        };
        let mut taints = before.changes(&after, &[]);
        taints.extend(suspend(&times));
        let knobs: Vec<&str> = taints.iter().map(|taint| taint.knob.as_str()).collect();
        assert_eq!(knobs, ["clocksource", "suspend"]);
    }

    #[test]
    fn a_suspend_is_told_from_the_two_clocks() {
        let times = |boottime: u64| Times {
            stopwatch: "tsc".to_owned(),
            wall: Duration::from_secs(1),
            monotonic: Duration::from_secs(1),
            monotonic_raw: Duration::from_secs(1),
            boottime: Duration::from_millis(boottime),
            cpu: Duration::ZERO,
        };
        assert_eq!(suspend(&times(1000)), None);
        assert_eq!(suspend(&times(1001)), None);
        assert!(suspend(&times(61_000)).is_some());
    }
    #[test]
    fn a_stopwatch_that_stood_still_timed_nothing() {
        let times = |stopwatch: &str, wall: u64| Times {
            stopwatch: stopwatch.to_owned(),
            wall: Duration::from_micros(wall),
            monotonic: Duration::from_millis(1),
            monotonic_raw: Duration::from_millis(1),
            boottime: Duration::from_millis(1),
            cpu: Duration::ZERO,
        };
        assert!(stopped(&times("tsc", 0)).is_some());
        assert_eq!(stopped(&times("tsc", 990)), None);
        assert_eq!(stopped(&times(MONOTONIC_RAW, 0)), None);
    }
}
