//! A survey of the timers: from what is asked to what was found out.

use std::time::Duration;

use knobstat_sys::clock::{self, Clock, Reading, Stopwatch};
use knobstat_sys::net::nap::nap_until;
use knobstat_sys::timer_slack::{set_timer_slack, timer_slack};

use super::super::survey::{Distribution, Seen, StopwatchFigures, nanoseconds, on_each_cpu};
use super::figures::{CpuFigures, TimerFigures};
use super::options::Options;
use super::sleeper::{self, Clocks, Schedule, Slept};
use crate::histogram::Histogram;

/// Readings of a clock after which it is taken to stand still: more than a tick of 100 Hz.
const READINGS_FOR_A_STEP: u32 = 2_000_000;

/// Makes the survey.
///
/// # Errors
/// When a CPU, a priority or the slack cannot be had.
pub(super) fn run(options: &Options) -> Result<TimerFigures, String> {
    let wanted = &options.wanted;
    let cpus = wanted.cpus_here()?;
    let stopwatch = Stopwatch::calibrated();
    let step = clock::observed_step(Clock::Monotonic, READINGS_FOR_A_STEP);
    let interval = nanoseconds(wanted.interval);
    let prepare = |cpu: u32| {
        if let Some(slack) = options.timer_slack {
            set_timer_slack(slack)
                .map_err(|error| format!("the timer slack cannot be set ({error})"))?;
        }
        let slack = timer_slack().map_err(|error| error.to_string());
        let place = cpus.iter().position(|other| *other == cpu).unwrap_or(0);
        Ok((slack, Slept::new(), place as u64))
    };
    let work = |_, (slack, mut slept, place): (Result<Duration, String>, Slept, u64)| {
        let mut clocks = MachineClocks {
            stopwatch: &stopwatch,
            start: stopwatch.read(),
        };
        let schedule = Schedule {
            // The CPUs take turns within an interval, so that they do not wake one another.
            first: interval * place / cpus.len() as u64 + 1,
            interval,
            duration: nanoseconds(wanted.duration),
        };
        sleeper::sleep(&mut clocks, schedule, &mut slept);
        Ok((slack, slept))
    };
    let threads = on_each_cpu(&cpus, wanted.priority, prepare, work)?;
    let slack = threads.first().map_or_else(
        || Seen::unseen("no CPU was looked at"),
        |(slack, _)| Seen::from(slack.clone().map(nanoseconds)),
    );
    let mut all = Histogram::new(Distribution::PRECISION);
    let mut figures = Vec::with_capacity(cpus.len());
    for (&cpu, (_, slept)) in cpus.iter().zip(&threads) {
        all.merge(&slept.latency);
        figures.push(figures_of(cpu, slept).ok_or_else(nothing_slept)?);
    }
    Ok(TimerFigures {
        duration_seconds: wanted.duration.as_secs_f64(),
        interval_nanoseconds: interval,
        timer_slack_nanoseconds: slack,
        priority: wanted.priority.map(|priority| priority.to_string()),
        stopwatch: StopwatchFigures::of(&stopwatch),
        clock_step_nanoseconds: match step {
            Some(step) => Seen::Value(nanoseconds(step)),
            None => Seen::unseen("CLOCK_MONOTONIC was not seen to move"),
        },
        all: Distribution::of(&all, 1.0).ok_or_else(nothing_slept)?,
        cpus: figures,
    })
}

fn nothing_slept() -> String {
    "no wake-up fell into the duration: make it longer".to_owned()
}

fn figures_of(cpu: u32, slept: &Slept) -> Option<CpuFigures> {
    let by_monotonic = Distribution::of(&slept.by_monotonic, 1.0)?;
    Some(CpuFigures {
        cpu,
        latency: Distribution::of(&slept.latency, 1.0)?,
        by_monotonic_p50_nanoseconds: by_monotonic.p50,
        by_monotonic_largest_nanoseconds: by_monotonic.largest,
        missed: slept.missed,
    })
}

/// The clocks of this machine.
struct MachineClocks<'a> {
    stopwatch: &'a Stopwatch,
    start: Reading,
}

impl Clocks for MachineClocks<'_> {
    #[inline]
    fn stopwatch(&mut self) -> u64 {
        nanoseconds(self.stopwatch.between(self.start, self.stopwatch.read()))
    }

    #[inline]
    fn monotonic(&mut self) -> u64 {
        nanoseconds(clock::now(Clock::Monotonic))
    }

    #[inline]
    fn sleep_until(&mut self, monotonic: u64) {
        nap_until(monotonic);
    }
}
