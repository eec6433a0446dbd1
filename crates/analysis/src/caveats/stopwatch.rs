//! Whether the stopwatch was independent of what was under test, and whether its hands moved.

use std::time::Duration;

use super::Context;
use crate::analysis::Caveat;
use crate::observations::accepted;
use crate::{phrase, self_timed};

/// Stopwatches that no clock source changes: the counters of the processors, read directly.
const INDEPENDENT: [&str; 5] = ["tsc", "rdtsc", "rdtscp", "cntvct", "cntvct_el0"];

/// How far CLOCK_BOOTTIME and CLOCK_MONOTONIC may drift apart within a run before the machine
/// must have been suspended.
const SUSPENDED: Duration = Duration::from_millis(100);

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let record = context.record;
    let attempts = accepted(&record.plan, &record.attempts);
    let times = || {
        attempts
            .iter()
            .filter_map(|attempt| attempt.result.times.as_ref())
    };
    let mut caveats = Vec::new();

    if let Some(factor) = self_timed::timekeeping_factor(&record.experiment) {
        let dependent = times().find(|times| {
            let name = times.stopwatch.to_ascii_lowercase();
            !INDEPENDENT
                .iter()
                .any(|independent| name.split([' ', ',', '(']).any(|word| word == *independent))
        });
        if let Some(times) = dependent {
            let step = context
                .values
                .iter()
                .flatten()
                .filter_map(|observed| observed.granularity)
                .reduce(f64::max)
                .map_or_else(String::new, |step| {
                    format!(
                        " Its step is taken as {} {}, and nothing finer is claimed.",
                        phrase::significant(step, 2),
                        record.experiment.analysis.metric.unit
                    )
                });
            caveats.push(Caveat {
                kind: "stopwatch-under-test",
                sentence: format!(
                    "Runs were timed by {}, which depends on {factor}, the thing under test: \
                     this machine offers no clock that does not.{step}",
                    times.stopwatch
                ),
            });
        }
    }
    let suspended = times()
        .filter(|times| times.boottime.saturating_sub(times.monotonic) > SUSPENDED)
        .count();
    if suspended > 0 {
        caveats.push(Caveat {
            kind: "suspended",
            sentence: format!(
                "The machine was suspended during {}; the time of {} holds the sleep.",
                phrase::count(suspended as u64, "run"),
                if suspended == 1 {
                    "that run"
                } else {
                    "those runs"
                },
            ),
        });
    }
    caveats
}
