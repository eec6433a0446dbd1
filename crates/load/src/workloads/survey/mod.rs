//! What the surveys `clock`, `timer` and `noise` share: how they are asked for, their threads,
//! one on each CPU, and how their figures are written down. It knows none of them.

mod figures;
mod parameters;
mod threads;
mod wanted;

pub use figures::{Distribution, HistogramBucket, Seen, StopwatchFigures};
pub(super) use figures::{figures_of, nanoseconds};
pub(super) use parameters::{CPUS, DURATION, PRIORITY, interval, parameter};
pub(super) use threads::on_each_cpu;
pub(super) use wanted::Wanted;
