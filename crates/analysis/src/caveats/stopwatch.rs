//! Whether the stopwatch was independent of what was under test, and whether its hands and those
//! of the kernel's clocks moved as they should.

use std::collections::BTreeMap;
use std::time::Duration;

use knobstat_data::Attempt;
use knobstat_data::words::Setting;

use super::Context;
use crate::analysis::Caveat;
use crate::observations::accepted;
use crate::{phrase, self_timed};

/// Stopwatches that no clock source changes: the counters of the processors, read directly, and
/// the time of a simulation.
const INDEPENDENT: [&str; 6] = [
    "tsc",
    "rdtsc",
    "rdtscp",
    "cntvct",
    "cntvct_el0",
    "simulated",
];

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
    caveats.extend(clock_steps(context, &attempts));
    caveats.extend(clocks_that_disagree(context, &attempts));
    caveats
}

/// A piece of evidence of an attempt, where it has a finite value.
fn seen(attempt: &Attempt, key: &str, scope: &str) -> Option<f64> {
    attempt
        .result
        .evidence
        .iter()
        .find(|evidence| evidence.key == key && evidence.scope == scope)
        .and_then(|evidence| evidence.value.as_ref().ok().copied())
        .filter(|value| value.is_finite())
}

/// Where the time-keeping itself varied: the stopwatch, and the step of the kernel's clock under
/// its levels, below which nothing is known that a workload timed itself.
fn clock_steps(context: &Context, attempts: &[&Attempt]) -> Option<Caveat> {
    let factors: Vec<&str> = self_timed::timekeeping_factors(&context.record.experiment).collect();
    let mut steps: BTreeMap<Vec<Setting>, Option<f64>> = BTreeMap::new();
    let mut stopwatch = None;
    for attempt in attempts {
        let planned = context.record.plan.treatments.get(attempt.treatment)?;
        let settings = planned.treatment.settings.iter();
        let levels: Vec<Setting> = settings
            .filter(|setting| factors.contains(&setting.factor.as_str()))
            .cloned()
            .collect();
        let evidence = &attempt.result.evidence;
        if levels.is_empty() || !evidence.iter().any(|one| one.key == "clock.step") {
            continue;
        }
        let step = seen(attempt, "clock.step", "machine");
        let known = steps.entry(levels).or_insert(step);
        // The coarsest that was seen is what holds for all runs with these levels.
        *known = coarsest(*known, step);
        stopwatch = attempt.result.times.as_ref().map(|times| &times.stopwatch);
    }
    let stopwatch = stopwatch?;
    let steps: Vec<String> = by_level(steps)
        .into_iter()
        .map(|(levels, step)| {
            let levels = phrase::list(&levels, "and");
            match step {
                Some(step) => format!("{} with {levels}", phrase::nanoseconds(step * 1e9)),
                None => format!("none, because it stood still, with {levels}"),
            }
        })
        .collect();
    Some(Caveat {
        kind: "clock-steps",
        sentence: format!(
            "Runs were timed by {stopwatch}; what a workload times by itself is no finer than the \
             step of the kernel's clock: {}.",
            phrase::list(&steps, "and")
        ),
    })
}

/// Of two steps the coarser; a clock that stood still has none.
fn coarsest(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    Some(one?.max(other?))
}

/// Steps of a clock that differ by less than this are one.
const SAME_STEP: f64 = 1.5;

/// The steps by single levels, where a level has one step whatever the other factors are.
fn by_level(steps: BTreeMap<Vec<Setting>, Option<f64>>) -> Vec<(Vec<Setting>, Option<f64>)> {
    let mut settings: Vec<&Setting> = steps.keys().flatten().collect();
    settings.sort();
    settings.dedup();
    let mut found = Vec::new();
    let mut left = steps.clone();
    for setting in settings {
        let having = || steps.iter().filter(|(levels, _)| levels.contains(setting));
        let coarse = having().map(|(_, step)| *step).reduce(coarsest).flatten();
        let is_one = having().all(|(_, step)| match (*step, coarse) {
            (Some(step), Some(coarse)) => coarse <= SAME_STEP * step,
            (None, None) => true,
            _ => false,
        });
        let is_new = left.keys().any(|levels| levels.contains(setting));
        if is_one && is_new {
            left.retain(|levels, _| !levels.contains(setting));
            found.push((vec![setting.clone()], coarse));
        }
    }
    found.extend(left);
    found
}

/// The clocks that are compared with the stopwatch, by the scope of the evidence.
const CLOCKS: [(&str, &str); 2] = [
    ("monotonic_raw", "CLOCK_MONOTONIC_RAW"),
    ("monotonic", "CLOCK_MONOTONIC"),
];

/// A clock of which less than this share of the time passed stood still.
const STILL: f64 = 0.5;

/// A clock that went away from the stopwatch farther than both may.
fn clocks_that_disagree(context: &Context, attempts: &[&Attempt]) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    for (scope, clock) in CLOCKS {
        let (mut still, mut off): (Vec<&Attempt>, Vec<(&Attempt, f64)>) = (Vec::new(), Vec::new());
        for attempt in attempts {
            let (Some(ahead), Some(within), Some(times)) = (
                seen(attempt, "clock.ahead_of_stopwatch", scope),
                seen(attempt, "clock.agrees_within", scope),
                &attempt.result.times,
            ) else {
                continue;
            };
            if ahead.abs() <= within {
                continue;
            }
            let wall = times.wall.as_secs_f64();
            if ahead < -(1.0 - STILL) * wall {
                still.push(attempt);
            } else {
                off.push((attempt, ahead / wall * 1e6));
            }
        }
        if !still.is_empty() {
            caveats.push(Caveat {
                kind: "clock-stood-still",
                sentence: format!(
                    "{clock} stood still for most of {}{}; whatever the workload timed by it is \
                     wrong, and the stopwatch is not touched.",
                    phrase::count(still.len() as u64, "run"),
                    among(context, still.iter().copied()),
                ),
            });
        }
        let farthest = off.iter().map(|(_, ppm)| *ppm);
        if let Some(farthest) = farthest.reduce(|a, b| if b.abs() > a.abs() { b } else { a }) {
            caveats.push(Caveat {
                kind: "clocks-disagree",
                sentence: format!(
                    "{clock} and the stopwatch disagree in {}{} beyond what both may be off, by \
                     {} ppm at most ({clock} went {}): one of the two goes wrong by that much, \
                     and differences as small are not to be trusted.",
                    phrase::count(off.len() as u64, "run"),
                    among(context, off.iter().map(|(attempt, _)| *attempt)),
                    phrase::significant(farthest.abs(), 2),
                    if farthest > 0.0 { "faster" } else { "slower" },
                ),
            });
        }
    }
    caveats
}

/// The treatments of some attempts, where those are not all treatments: " (clocksource=hpet)".
fn among<'a>(context: &Context, attempts: impl Iterator<Item = &'a Attempt>) -> String {
    let treatments = &context.record.plan.treatments;
    let mut found: Vec<usize> = attempts.map(|attempt| attempt.treatment).collect();
    found.sort_unstable();
    found.dedup();
    let taking_part = treatments
        .iter()
        .filter(|planned| planned.omitted.is_none());
    if found.len() == taking_part.count() {
        return String::new();
    }
    let names: Vec<String> = found
        .iter()
        .filter_map(|index| treatments.get(*index))
        .map(|planned| phrase::levels(&planned.treatment))
        .collect();
    format!(" ({})", phrase::list(&names, "and"))
}
