//! A survey of the noise: from what is asked to what was found out.

use knobstat_sys::clock::{Reading, Stopwatch};
use knobstat_sys::priority::involuntary_switches;

use super::super::survey::{
    Distribution, Seen, StopwatchFigures, Wanted, nanoseconds, on_each_cpu,
};
use super::counters::Counters;
use super::figures::{CpuFigures, Lost, NoiseFigures};
use super::looking::{self, Bounds, Looked, Watched};
use crate::histogram::Histogram;

/// From this length on a time between two readings is an interruption: ten turns of the loop,
/// and less than the shortest interrupt takes.
const THRESHOLD: u64 = 250;

/// At least so many steps of the stopwatch.
const STEPS: u64 = 4;

/// Makes the survey.
///
/// # Errors
/// When a CPU or a priority cannot be had.
pub(super) fn run(wanted: &Wanted) -> Result<NoiseFigures, String> {
    let cpus = wanted.cpus_here()?;
    let stopwatch = Stopwatch::calibrated();
    let threshold = THRESHOLD.max(STEPS * nanoseconds(stopwatch.granularity()));
    let window = nanoseconds(wanted.interval);
    let bounds = Bounds {
        duration: nanoseconds(wanted.duration),
        threshold,
    };
    let before = Counters::read();
    let work = |_, mut seen: Looked| {
        let mut thread = ThisThread {
            stopwatch: &stopwatch,
            start: stopwatch.read(),
        };
        looking::look(&mut thread, bounds, &mut seen);
        Ok(seen)
    };
    let threads = on_each_cpu(&cpus, wanted.priority, |_| Ok(Looked::new(window)), work)?;
    let after = Counters::read();
    let mut all = Histogram::new(Distribution::PRECISION);
    let mut figures = Vec::with_capacity(cpus.len());
    for (&cpu, seen) in cpus.iter().zip(&threads) {
        all.merge(&seen.lengths);
        figures.push(CpuFigures {
            cpu,
            looked_nanoseconds: seen.looked,
            asking_nanoseconds: seen.asking,
            readings: seen.readings,
            turn_nanoseconds: seen.turn,
            interruptions: sum(seen.other_threads, seen.interrupts),
            lengths: distribution(&seen.lengths),
            worst_window: seen.windows.worst(),
            causes: after.causes(&before, cpu, seen.other_threads, seen.interrupts),
        });
    }
    Ok(NoiseFigures {
        duration_seconds: wanted.duration.as_secs_f64(),
        interval_nanoseconds: window,
        threshold_nanoseconds: threshold,
        priority: wanted.priority.map(|priority| priority.to_string()),
        stopwatch: StopwatchFigures::of(&stopwatch),
        all: distribution(&all),
        cpus: figures,
    })
}

fn distribution(lengths: &Histogram) -> Seen<Distribution> {
    match Distribution::of(lengths, 1.0) {
        Some(distribution) => Seen::Value(distribution),
        None => Seen::unseen("nothing interrupted the loop"),
    }
}

fn sum(one: Lost, other: Lost) -> Lost {
    Lost {
        count: one.count + other.count,
        nanoseconds: one.nanoseconds + other.nanoseconds,
        longest_nanoseconds: one.longest_nanoseconds.max(other.longest_nanoseconds),
    }
}

/// The calling thread on this machine.
struct ThisThread<'a> {
    stopwatch: &'a Stopwatch,
    start: Reading,
}

impl Watched for ThisThread<'_> {
    #[inline]
    fn now(&mut self) -> u64 {
        nanoseconds(self.stopwatch.between(self.start, self.stopwatch.read()))
    }

    fn preemptions(&mut self) -> u64 {
        involuntary_switches()
    }
}
