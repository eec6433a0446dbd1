//! The parameters and metrics of the workload `timer`.

use knobstat_data::vocabulary::{
    DefaultValue, ParameterKind, ParameterSchema, WorkloadSchema, parameter,
};
use knobstat_data::{Metric, Unit};

use super::super::survey::{CPUS, DURATION, PRIORITY, interval, less_is_better, schema};

/// The workload as the experiment file knows it.
pub(super) static SCHEMA: WorkloadSchema = schema(
    "timer",
    "Sleeps until a moment over and over, and tells how late it wakes.",
    PARAMETERS,
    metrics,
);

static PARAMETERS: &[ParameterSchema] = &[
    DURATION,
    CPUS,
    interval("The time from one wake-up to the next."),
    PRIORITY,
    parameter(
        "timer_slack",
        ParameterKind::Duration,
        DefaultValue::Absent,
        "How much later than asked the kernel may wake a thread that has no real-time priority, \
         so that it can wake several together. By default unchanged, which is 50 us.",
    ),
];

/// The metric `latency`: the median.
pub(super) const LATENCY: &str = "latency";
/// The metric `latency_p99`.
pub(super) const LATENCY_P99: &str = "latency_p99";
/// The metric `latency_max`.
pub(super) const LATENCY_MAX: &str = "latency_max";

fn metrics() -> Vec<Metric> {
    less_is_better([LATENCY, LATENCY_P99, LATENCY_MAX].map(|name| (name, Unit::NANOSECONDS)))
}
