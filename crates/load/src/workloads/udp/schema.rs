//! The parameters and metrics of the workload `udp`.

use knobstat_data::vocabulary::{
    DefaultValue, ParameterKind, ParameterSchema, WorkloadSchema, parameter,
};
use knobstat_data::{Better, Metric, Unit};

use super::options::{LARGEST_PACKET, MOST_FLOWS, RECEIVE_BUFFERS};

/// The workload as the experiment file knows it.
pub(super) static SCHEMA: WorkloadSchema = WorkloadSchema {
    kind: "udp",
    summary: "Sends UDP datagrams and counts what arrives, with a verdict on who was the limit.",
    parameters: PARAMETERS,
    metrics,
    warmup_runs: 0,
    placeholders: false,
};

/// The metric `throughput`: payload received.
pub(super) const THROUGHPUT: &str = "throughput";
/// The metric `received_rate`.
pub(super) const RECEIVED_RATE: &str = "received_rate";
/// The metric `sent_rate`.
pub(super) const SENT_RATE: &str = "sent_rate";
/// The metric `loss`.
pub(super) const LOSS: &str = "loss";
/// The metric `cpu_per_packet`: the sender's.
pub(super) const CPU_PER_PACKET: &str = "cpu_per_packet";
/// The metric `receiver_cpu_per_packet`.
pub(super) const RECEIVER_CPU_PER_PACKET: &str = "receiver_cpu_per_packet";
/// The metric `energy_per_packet`: of the sender's machine, where it has a counter.
pub(super) const ENERGY_PER_PACKET: &str = "energy_per_packet";

/// Every metric; the stopwatch is independent of the clock under test, and where it is not the
/// values of that run say so.
fn metrics() -> Vec<Metric> {
    let metric = |name: &str, unit, better| Metric {
        name: name.to_owned(),
        unit,
        better,
        self_timed: false,
    };
    vec![
        metric(THROUGHPUT, Unit::MEGABITS_PER_SECOND, Better::Higher),
        metric(RECEIVED_RATE, Unit::PACKETS_PER_SECOND, Better::Higher),
        metric(SENT_RATE, Unit::PACKETS_PER_SECOND, Better::Higher),
        metric(LOSS, Unit::SHARE, Better::Lower),
        metric(CPU_PER_PACKET, Unit::NANOSECONDS, Better::Lower),
        metric(RECEIVER_CPU_PER_PACKET, Unit::NANOSECONDS, Better::Lower),
        metric(ENERGY_PER_PACKET, Unit::MICROJOULES, Better::Lower),
    ]
}

use DefaultValue::{Absent, Written};
use ParameterKind::{Boolean, Choice, ChoiceOrNamed, Duration, Integer, Rate, Size, Text};

static PARAMETERS: &[ParameterSchema] = &[
    parameter(
        "packet_size",
        Size(0, LARGEST_PACKET),
        Written("64"),
        "The payload of a datagram in bytes, 0 to 65507 (IPv6: 65527). Below 8 bytes there is no room for a \
         number, and datagrams are only counted.",
    ),
    parameter(
        "method",
        Choice(&["send", "sendmmsg", "gso", "io_uring", "tx_ring", "af_xdp"]),
        Written("\"sendmmsg\""),
        "How datagrams are handed to the kernel: `send`, one a call; `sendmmsg`, up to 64 a call; \
         `gso`, one buffer of up to 64 that the kernel cuts late; `io_uring`, up to 64 a call; \
         `tx_ring` and `af_xdp`, whole frames from a ring past the kernel's own UDP, on `veth`.",
    ),
    parameter(
        "receiver_method",
        Choice(&["napping", "blocking", "gro", "io_uring"]),
        Written("\"napping\""),
        "How the receiver waits: `napping` drains what has come and naps for 200 µs, so that it \
         costs its sender no interrupt per datagram; `blocking` sleeps until a datagram comes; \
         `gro` takes buffers that were not cut on their way; `io_uring` has one request that never \
         ends.",
    ),
    parameter(
        "endpoints",
        ChoiceOrNamed(&["loopback", "veth"], "receiver"),
        Written("\"loopback\""),
        "Where the two ends are: both on the `loopback` interface, or on a pair of interfaces \
         between two network namespaces that last as long as the run (`veth`), or the receiver is a `knobstat udp recv`: \
         `{ receiver = \"HOST:PORT\" }`.",
    ),
    parameter(
        "rate",
        Rate,
        Absent,
        "The asked rate: datagrams a second as a number, or bits of payload a second as in \
         `\"50Mbit\"`. By default as fast as it goes.",
    ),
    parameter(
        "pacer",
        Choice(&["schedule", "iperf2-2007"]),
        Written("\"schedule\""),
        "How an asked rate is kept: by an absolute `schedule`, or as the `iperf2-2007` did, whose \
         rate depends on its clock's step. The latter needs a rate.",
    ),
    parameter(
        "catch_up",
        Boolean,
        Written("true"),
        "Whether a `schedule` that fell behind makes up for it: what is due goes at once, and the rate \
         holds. Otherwise the times that have passed are given up, and datagrams never come closer \
         than the schedule has them.",
    ),
    parameter(
        "pacing_clock",
        Choice(&["fine", "coarse"]),
        Written("\"fine\""),
        "The clock that the pacer and the additional readings go by: `fine` is CLOCK_MONOTONIC, \
         `coarse` CLOCK_MONOTONIC_COARSE, which stands still between ticks.",
    ),
    parameter(
        "clock_reads_per_packet",
        Integer(0, 1000),
        Written("0"),
        "How often the sender reads the pacing clock per datagram, beside the readings that the \
         pacer makes.",
    ),
    parameter(
        "duration",
        Duration,
        Written("\"1s\""),
        "How long is sent. On a schedule this makes an exact count.",
    ),
    parameter(
        "count",
        Integer(1, i64::MAX),
        Absent,
        "How many datagrams are sent, exactly, in place of a duration.",
    ),
    parameter(
        "flows",
        Integer(1, MOST_FLOWS),
        Written("1"),
        "How many flows there are side by side, each with sockets and numbers of its own.",
    ),
    parameter(
        "dscp",
        Integer(0, 63),
        Written("0"),
        "The differentiated services code point of what is sent.",
    ),
    parameter(
        "receive_buffer",
        Size(*RECEIVE_BUFFERS.start(), *RECEIVE_BUFFERS.end()),
        Written("\"4MiB\""),
        "The buffer that each flow's receiver asks for. The kernel doubles it, and grants an ordinary \
         user no more than `net.core.rmem_max`.",
    ),
    parameter(
        "first_number",
        Integer(0, 1 << 62),
        Written("0"),
        "The number of each flow's first datagram.",
    ),
    parameter(
        "bind",
        Text,
        Written("\"any\""),
        "The sender's address. `\"any\"` is 127.0.0.1 on the loopback interface, where `\"::1\"` makes \
         it IPv6, and 192.0.2.1 on `veth`, which also has 2001:db8::1 and fe80::1.",
    ),
    parameter(
        "sender_cpu",
        Integer(0, 4095),
        Absent,
        "The sender's CPU. By default 0, or the first that there is.",
    ),
    parameter(
        "receiver_cpu",
        Integer(0, 4095),
        Absent,
        "The receiver's CPU. By default 1, or the second that there is.",
    ),
];
