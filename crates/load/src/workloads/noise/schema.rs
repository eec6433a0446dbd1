//! The parameters and metrics of the workload `noise`.

use knobstat_data::vocabulary::{ParameterSchema, WorkloadSchema};
use knobstat_data::{Metric, Unit};

use super::super::survey::{CPUS, DURATION, PRIORITY, interval, less_is_better, schema};

/// The workload as the experiment file knows it.
pub(super) static SCHEMA: WorkloadSchema = schema(
    "noise",
    "Runs a busy loop on each CPU, and tells what interrupts it.",
    PARAMETERS,
    metrics,
);

static PARAMETERS: &[ParameterSchema] = &[
    DURATION,
    CPUS,
    interval("The length of the windows of which the worst is told."),
    PRIORITY,
];

/// The metric `noise`: the share of the time that was lost.
pub(super) const NOISE: &str = "noise";
/// The metric `interruptions`: how many a second and CPU.
pub(super) const INTERRUPTIONS: &str = "interruptions";
/// The metric `longest`: the longest interruption.
pub(super) const LONGEST: &str = "longest";
/// The metric `worst_window`: the share that was lost of the worst window.
pub(super) const WORST_WINDOW: &str = "worst_window";

fn metrics() -> Vec<Metric> {
    less_is_better([
        (NOISE, Unit::SHARE),
        (INTERRUPTIONS, Unit::new("1/s")),
        (LONGEST, Unit::NANOSECONDS),
        (WORST_WINDOW, Unit::SHARE),
    ])
}
