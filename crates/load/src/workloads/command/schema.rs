//! The parameters and metrics of a command.

use knobstat_data::vocabulary::{DefaultValue, ParameterKind, ParameterSchema, WorkloadSchema};
use knobstat_data::{Better, Metric, Unit};

/// A command as the experiment file knows it.
pub(super) static SCHEMA: WorkloadSchema = WorkloadSchema {
    kind: "command",
    summary: "Times a program from outside: wall time, CPU time, and what its output says.",
    parameters: PARAMETERS,
    metrics,
    warmup_runs: 1,
    placeholders: true,
};

/// The metrics that every command has.
fn metrics() -> Vec<Metric> {
    ["wall", "cpu"]
        .map(|name| Metric {
            name: name.to_owned(),
            unit: Unit::SECONDS,
            better: Better::Lower,
            self_timed: false,
        })
        .to_vec()
}

const fn parameter(
    name: &'static str,
    kind: ParameterKind,
    default: DefaultValue,
    factor: bool,
    documentation: &'static str,
) -> ParameterSchema {
    ParameterSchema {
        name,
        kind,
        default,
        factor,
        documentation,
    }
}

use DefaultValue::{Absent, Required, Written};
use ParameterKind::{
    Boolean, Command, Cpus, Duration, Environment, Integers, Metrics, Priority, Stream, Text,
};

static PARAMETERS: &[ParameterSchema] = &[
    parameter(
        "command",
        Command,
        Required,
        true,
        "What is run and timed: a text, split as a shell splits words and run without one, or a \
         list of words. `{factor}` is replaced by the factor's level.",
    ),
    parameter(
        "shell",
        Boolean,
        Written("false"),
        false,
        "Whether the command and the steps around it are run through `sh -c`. The shell's own \
         start is then part of what is timed.",
    ),
    parameter(
        "prepare",
        Command,
        Absent,
        false,
        "Run before every run, outside the timing. Where it fails, the run has failed.",
    ),
    parameter(
        "cleanup",
        Command,
        Absent,
        false,
        "Run after every run, outside the timing, also when the run failed. What it fails at is \
         noted with the run.",
    ),
    parameter(
        "setup",
        Command,
        Absent,
        false,
        "Run once before the first run of a treatment.",
    ),
    parameter(
        "teardown",
        Command,
        Absent,
        false,
        "Run once after the last run of a treatment.",
    ),
    parameter(
        "working_directory",
        Text,
        Absent,
        true,
        "Where the command starts. By default where `knobstat` was started.",
    ),
    parameter(
        "environment",
        Environment,
        Absent,
        false,
        "Variables that the command gets in addition to those of `knobstat` itself.",
    ),
    parameter(
        "cpus",
        Cpus,
        Absent,
        true,
        "The CPUs that the command may run on: `\"1\"` or `\"2-5\"`. By default any.",
    ),
    parameter(
        "priority",
        Priority,
        Absent,
        true,
        "`\"nice:N\"` (-20 to 19) or `\"fifo:N\"` (1 to 99). By default unchanged.",
    ),
    parameter(
        "user",
        Text,
        Absent,
        true,
        "Whose rights the command has. By default those of the user who called, under `sudo` of \
         the one who called `sudo`.",
    ),
    parameter(
        "timeout",
        Duration,
        Absent,
        false,
        "After this long the command's whole process group is ended and the run has failed.",
    ),
    parameter(
        "allowed_exit",
        Integers(0, 255),
        Written("[0]"),
        false,
        "The exit codes that are success.",
    ),
    parameter(
        "input",
        Stream,
        Written("\"null\""),
        true,
        "Standard input: `\"null\"`, `\"file:PATH\"`, read from its beginning in every run, or \
         `\"inherit\"`.",
    ),
    parameter(
        "output",
        Stream,
        Written("\"null\""),
        true,
        "Where standard output and standard error go: `\"null\"`, `\"file:PATH\"`, written anew \
         in every run, or `\"inherit\"`. Where a metric is read from the output, `\"null\"` \
         means a file in memory.",
    ),
    parameter(
        "metrics",
        Metrics,
        Absent,
        false,
        "Figures read from the output: `{ regex = \"…(…)…\" }`, whose first group is a number \
         (the last match counts), or `{ json = \"/a/b\" }`, a JSON pointer into the whole of \
         standard output; with `unit` and `better`.",
    ),
];
