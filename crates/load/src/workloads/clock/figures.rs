//! The result of the workload `clock`: plain figures, each with its unit in its name.

use serde::{Deserialize, Serialize};

use super::super::survey::{Distribution, Seen, StopwatchFigures};

/// Everything that the survey found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockFigures {
    /// How long was looked.
    pub duration_seconds: f64,
    /// The time from one sample of the cost to the next.
    pub interval_nanoseconds: u64,
    /// The CPU that read the clocks for their cost.
    pub cpu: u32,
    /// The CPUs that read them in turn for their order.
    pub cpus: Vec<u32>,
    /// The reference.
    pub stopwatch: StopwatchFigures,
    /// Every clock id.
    pub clocks: Vec<OneClock>,
}

/// One clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneClock {
    /// Its name in clock_gettime(2).
    pub clock: String,
    /// What a reading costs as programs read it, in nanoseconds.
    pub cost: Seen<Distribution>,
    /// What a reading costs by system call, in nanoseconds.
    pub system_call_cost: Seen<Distribution>,
    /// Which way a program's reading goes.
    pub path: Seen<Path>,
    /// The smallest difference between one reading and the next, where they differ: the step of
    /// a coarse clock, and at most the cost of a reading for a clock that is finer than that.
    pub step_nanoseconds: Seen<u64>,
    /// What clock_getres(2) claims, which is the resolution of the timers.
    pub claimed_resolution_nanoseconds: Seen<u64>,
    /// Whether it ever went back.
    pub order: Seen<Order>,
    /// How fast it goes.
    pub drift: Seen<Drift>,
}

/// Which way a program's reading goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// Whether the readings go through the vDSO.
    pub through_vdso: bool,
    /// How that is known.
    pub criterion: Criterion,
}

/// How it is known which way a reading goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "by")]
pub enum Criterion {
    /// The system calls were counted: none for the vDSO.
    Count {
        /// How often the clock was read.
        readings: u32,
        /// How many of the readings needed a system call.
        system_calls: u32,
    },
    /// They could not be counted, and the costs were compared: less than seven tenths of a
    /// system call for the vDSO.
    Cost {
        /// The median cost of a reading as a share of one by system call.
        ratio: f64,
        /// Why they could not be counted.
        why: String,
    },
}

/// Whether a clock ever went back, as CPUs read it in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// How often it was read.
    pub readings: u64,
    /// How often by another CPU than before.
    pub handovers: u64,
    /// How often it showed less than before.
    pub backward: u64,
    /// The largest step back.
    pub worst_nanoseconds: u64,
}

/// How fast a clock goes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Against the reference, in parts per million; above 0 it is fast.
    pub ppm: f64,
    /// How far that may be off: what the reference's rate may be off, and what the comparisons
    /// at both ends may.
    pub uncertainty_ppm: f64,
}
