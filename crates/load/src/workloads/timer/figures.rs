//! The result of the workload `timer`: plain figures, each with its unit in its name.

use serde::{Deserialize, Serialize};

use super::super::survey::{Distribution, Seen, StopwatchFigures};

/// Everything that the survey found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimerFigures {
    /// How long was looked.
    pub duration_seconds: f64,
    /// The time from one wake-up to the next.
    pub interval_nanoseconds: u64,
    /// How much later than asked the kernel was allowed to wake the threads.
    pub timer_slack_nanoseconds: Seen<u64>,
    /// The priority of the threads, where one was asked for.
    pub priority: Option<String>,
    /// What timed it.
    pub stopwatch: StopwatchFigures,
    /// The step of CLOCK_MONOTONIC, whose moments are slept for: no latency is known finer.
    pub clock_step_nanoseconds: Seen<u64>,
    /// The latency over all CPUs, in nanoseconds by the stopwatch.
    pub all: Distribution,
    /// Each CPU.
    pub cpus: Vec<CpuFigures>,
}

/// One CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuFigures {
    /// Which.
    pub cpu: u32,
    /// The latency, in nanoseconds by the stopwatch.
    pub latency: Distribution,
    /// The median by CLOCK_MONOTONIC, which is how cyclictest measures it.
    pub by_monotonic_p50_nanoseconds: f64,
    /// The largest by CLOCK_MONOTONIC.
    pub by_monotonic_largest_nanoseconds: f64,
    /// Moments that had passed already when the thread was awake again, and so were not slept
    /// for.
    pub missed: u64,
}
