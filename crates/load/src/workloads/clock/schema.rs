//! The parameters and metrics of the workload `clock`.

use knobstat_data::vocabulary::{ParameterSchema, WorkloadSchema};
use knobstat_data::{Metric, Unit};

use super::super::survey::{CPUS, DURATION, PRIORITY, interval, less_is_better, schema};

/// The workload as the experiment file knows it.
pub(super) static SCHEMA: WorkloadSchema = schema(
    "clock",
    "Reads every clock, and tells what a reading costs and what it is worth.",
    PARAMETERS,
    metrics,
);

static PARAMETERS: &[ParameterSchema] = &[
    DURATION,
    CPUS,
    interval("The time, asleep, from one sample of the cost to the next."),
    PRIORITY,
];

/// The metric `read_cost`: the median cost of reading CLOCK_MONOTONIC as programs do.
pub(super) const READ_COST: &str = "read_cost";
/// The metric `read_cost_p99`.
pub(super) const READ_COST_P99: &str = "read_cost_p99";
/// The metric `system_call_cost`: the median cost of reading CLOCK_MONOTONIC by system call.
pub(super) const SYSTEM_CALL_COST: &str = "system_call_cost";
/// The metric `step`: the smallest step of CLOCK_MONOTONIC.
pub(super) const STEP: &str = "step";

fn metrics() -> Vec<Metric> {
    less_is_better(
        [READ_COST, READ_COST_P99, SYSTEM_CALL_COST, STEP].map(|name| (name, Unit::NANOSECONDS)),
    )
}
