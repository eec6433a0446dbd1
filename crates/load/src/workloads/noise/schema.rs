//! The parameters and metrics of the workload `noise`.

use knobstat_data::vocabulary::{ParameterSchema, WorkloadSchema};
use knobstat_data::{Better, Metric, Unit};

use super::super::survey::{CPUS, DURATION, PRIORITY, interval};

/// The workload as the experiment file knows it.
pub(super) static SCHEMA: WorkloadSchema = WorkloadSchema {
    kind: "noise",
    summary: "Runs a busy loop on each CPU, and tells what interrupts it.",
    parameters: PARAMETERS,
    metrics,
    warmup_runs: 0,
    placeholders: false,
};

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
    [
        (NOISE, Unit::SHARE),
        (INTERRUPTIONS, Unit::new("1/s")),
        (LONGEST, Unit::NANOSECONDS),
        (WORST_WINDOW, Unit::SHARE),
    ]
    .map(|(name, unit)| Metric {
        name: name.to_owned(),
        unit,
        better: Better::Lower,
        self_timed: false,
    })
    .to_vec()
}
