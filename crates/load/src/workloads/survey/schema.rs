//! What the schemas of all surveys have in common: parameters, and metrics of which less is better.

use knobstat_data::vocabulary::{
    DefaultValue, ParameterKind, ParameterSchema, WorkloadSchema, parameter,
};
use knobstat_data::{Better, Metric, Unit};

/// A survey as the experiment file knows it.
pub const fn schema(
    kind: &'static str,
    summary: &'static str,
    parameters: &'static [ParameterSchema],
    metrics: fn() -> Vec<Metric>,
) -> WorkloadSchema {
    WorkloadSchema {
        kind,
        summary,
        parameters,
        metrics,
        warmup_runs: 0,
        placeholders: false,
    }
}

/// Metrics of which less is better, timed by the stopwatch.
pub fn less_is_better<const N: usize>(metrics: [(&str, Unit); N]) -> Vec<Metric> {
    metrics
        .map(|(name, unit)| Metric {
            name: name.to_owned(),
            unit,
            better: Better::Lower,
            self_timed: false,
        })
        .to_vec()
}

/// How long is looked.
pub const DURATION: ParameterSchema = parameter(
    "duration",
    ParameterKind::Duration,
    DefaultValue::Written("\"1s\""),
    "How long is looked.",
);

/// The CPUs that are looked at.
pub const CPUS: ParameterSchema = parameter(
    "cpus",
    ParameterKind::Cpus,
    DefaultValue::Absent,
    "The CPUs that are looked at, a thread on each. By default all.",
);

/// The priority of the threads.
pub const PRIORITY: ParameterSchema = parameter(
    "priority",
    ParameterKind::Priority,
    DefaultValue::Absent,
    "How the scheduler treats the threads that look. By default unchanged.",
);

/// What an interval means is each survey's own.
pub const fn interval(documentation: &'static str) -> ParameterSchema {
    parameter(
        "interval",
        ParameterKind::Duration,
        DefaultValue::Written("\"1ms\""),
        documentation,
    )
}
