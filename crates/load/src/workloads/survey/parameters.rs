//! The parameters that every survey has.

use knobstat_data::vocabulary::{DefaultValue, ParameterKind, ParameterSchema};

/// A parameter that may be a factor.
pub const fn parameter(
    name: &'static str,
    kind: ParameterKind,
    default: DefaultValue,
    documentation: &'static str,
) -> ParameterSchema {
    ParameterSchema {
        name,
        kind,
        default,
        factor: true,
        documentation,
    }
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
