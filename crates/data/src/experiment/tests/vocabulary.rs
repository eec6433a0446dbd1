//! A vocabulary for tests: a few knobs, and workloads shaped like a command and a sender.

use crate::vocabulary::{
    DefaultValue, KnobWord, ParameterKind, ParameterSchema, Scope, Vocabulary, WorkloadSchema,
};
use crate::words::{Better, Metric, Unit};

const fn parameter(
    name: &'static str,
    kind: ParameterKind,
    default: DefaultValue,
    factor: bool,
) -> ParameterSchema {
    ParameterSchema {
        name,
        kind,
        default,
        factor,
        documentation: "what it is for",
    }
}

use DefaultValue::{Absent, Required, Written};
use ParameterKind as Kind;

const COMMAND: &[ParameterSchema] = &[
    parameter("command", Kind::Command, Required, true),
    parameter("shell", Kind::Boolean, Written("false"), false),
    parameter("prepare", Kind::Command, Absent, false),
    parameter("cleanup", Kind::Command, Absent, false),
    parameter("setup", Kind::Command, Absent, false),
    parameter("teardown", Kind::Command, Absent, false),
    parameter("working_directory", Kind::Text, Absent, true),
    parameter("environment", Kind::Environment, Absent, false),
    parameter("cpus", Kind::Cpus, Absent, true),
    parameter("priority", Kind::Priority, Absent, true),
    parameter("user", Kind::Text, Absent, false),
    parameter("timeout", Kind::Duration, Absent, false),
    parameter(
        "allowed_exit",
        Kind::Integers(0, 255),
        Written("[0]"),
        false,
    ),
    parameter("input", Kind::Stream, Written("\"null\""), false),
    parameter("output", Kind::Stream, Written("\"null\""), false),
    parameter("metrics", Kind::Metrics, Absent, false),
];

const UDP: &[ParameterSchema] = &[
    parameter("packet_size", Kind::Size(1, 65_507), Written("64"), true),
    parameter(
        "method",
        Kind::ChoiceNotYet(
            &["send", "sendmmsg", "gso"],
            &["io_uring", "tx_ring", "af_xdp"],
        ),
        Written("\"sendmmsg\""),
        true,
    ),
    parameter(
        "receiver_method",
        Kind::ChoiceNotYet(&["napping", "blocking"], &["gro", "io_uring"]),
        Written("\"napping\""),
        true,
    ),
    parameter(
        "endpoints",
        Kind::ChoiceNotYet(&["loopback"], &["veth"]),
        Written("\"loopback\""),
        false,
    ),
    parameter("rate", Kind::Rate, Absent, true),
    parameter(
        "pacer",
        Kind::Choice(&["schedule", "iperf2-2007"]),
        Written("\"schedule\""),
        true,
    ),
    parameter(
        "pacing_clock",
        Kind::Choice(&["fine", "coarse"]),
        Written("\"fine\""),
        true,
    ),
    parameter(
        "clock_reads_per_packet",
        Kind::Integer(0, 1_000_000),
        Written("0"),
        true,
    ),
    parameter("duration", Kind::Duration, Written("\"1s\""), true),
    parameter("count", Kind::Integer(1, i64::MAX), Absent, true),
    parameter(
        "flows",
        Kind::IntegerNotYet(1, 1, 1024),
        Written("1"),
        false,
    ),
    parameter("dscp", Kind::Integer(0, 63), Written("0"), true),
    parameter("sender_cpu", Kind::Cpus, Written("0"), true),
    parameter("receiver_cpu", Kind::Cpus, Written("1"), true),
];

fn metric(name: &str, unit: Unit, better: Better, self_timed: bool) -> Metric {
    Metric {
        name: name.to_owned(),
        unit,
        better,
        self_timed,
    }
}

fn command_metrics() -> Vec<Metric> {
    vec![
        metric("wall", Unit::SECONDS, Better::Lower, false),
        metric("cpu", Unit::SECONDS, Better::Lower, false),
        metric("energy", Unit::new("J"), Better::Lower, false),
    ]
}

fn udp_metrics() -> Vec<Metric> {
    let mbits = Unit::MEGABITS_PER_SECOND;
    vec![
        metric("throughput", mbits, Better::Higher, false),
        metric(
            "received_rate",
            Unit::PACKETS_PER_SECOND,
            Better::Higher,
            false,
        ),
        metric("cpu_per_packet", Unit::NANOSECONDS, Better::Lower, false),
    ]
}

fn knob(name: &str, scope: Scope, levels: Option<&[&str]>) -> KnobWord {
    KnobWord {
        name: name.to_owned(),
        scope,
        levels: levels.map(|levels| levels.iter().map(|level| (*level).to_owned()).collect()),
    }
}

/// The vocabulary.
pub fn vocabulary() -> Vocabulary {
    Vocabulary {
        knobs: vec![
            knob("clocksource", Scope::Runtime, None),
            knob("turbo", Scope::Runtime, Some(&["on", "off"])),
            knob("governor", Scope::Runtime, None),
            knob("cstate", Scope::Runtime, None),
            knob("aslr", Scope::Process, Some(&["on", "off"])),
            knob("idletick", Scope::Boot, Some(&["on", "off"])),
            knob("hz", Scope::Build, None),
            knob("kernel", Scope::Boot, None),
        ],
        workloads: vec![
            WorkloadSchema {
                kind: "command",
                summary: "runs a command",
                parameters: COMMAND,
                metrics: command_metrics,
                warmup_runs: 1,
                placeholders: true,
            },
            WorkloadSchema {
                kind: "udp",
                summary: "sends datagrams",
                parameters: UDP,
                metrics: udp_metrics,
                warmup_runs: 0,
                placeholders: false,
            },
        ],
    }
}
