//! What the surveys `clock`, `timer` and `noise` share: how they are asked for and started,
//! their threads, one on each CPU, and how their figures are written down. It knows none of them.

mod figures;
mod schema;
mod threads;
mod wanted;
mod workload;

pub(super) use figures::nanoseconds;
pub use figures::{Distribution, HistogramBucket, Seen, StopwatchFigures};
pub(super) use schema::{CPUS, DURATION, PRIORITY, interval, less_is_better, schema};
pub(super) use threads::on_each_cpu;
pub(super) use wanted::Wanted;
pub(super) use workload::{Survey, make};
