//! Both ends' view of a run as one.

use knobstat_data::Evidence;
use knobstat_data::observation::{Limit, MetricValue};

use super::super::figures::{Class, Figures, InterfaceFigures, Kernel, Packets, Route, Waiting};
use super::super::options::{Method, Options};
use super::super::route::fragments;
use super::message::{Buckets, Direction, Outcome, Sending};
use super::offset::Offset;

/// Both ends' view of a run in one direction.
#[derive(Clone, Debug)]
pub struct TwoEnds {
    /// Which way the datagrams went.
    pub direction: Direction,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams received, duplicates included.
    pub received: u64,
    /// Datagrams sent and not received.
    pub lost: u64,
    /// Reordered and duplicated; absent where datagrams carry no number.
    pub order: Option<(u64, u64)>,
    /// The class of the sending method, A to D.
    pub class: char,
    /// The most datagrams of one buffer.
    pub datagrams_per_buffer: u64,
    /// Who the limit was.
    pub limit: Limit,
    /// The workload's metrics.
    pub metrics: Vec<MetricValue>,
    /// What else was seen: pacer, buffers, drops, fragments.
    pub evidence: Vec<Evidence>,
    /// What a reader has to know.
    pub notes: Vec<String>,
    /// What the receiver's clock is ahead, where any question was answered.
    pub offset: Option<Offset>,
    /// Round trips of the questions before the run, in nanoseconds.
    pub round_trip: Buckets,
    /// One-way delays in nanoseconds, where they were asked for.
    pub one_way: Option<Buckets>,
    /// Gaps between arrivals in nanoseconds, where they were asked for.
    pub gaps: Option<Buckets>,
}

/// The figures of a run whose halves are at two hosts.
pub(super) fn joined(options: &Options, sending: Sending, outcome: Outcome) -> Figures {
    let sent = sending.by_flow.iter().sum();
    Figures {
        packet_size_bytes: options.packet_size as u64,
        packets: Packets {
            sent,
            received: outcome.received,
            received_bytes: outcome.received_bytes,
            lost: outcome.lost.min(sent),
            buffers: outcome.buffers,
            strays: outcome.strays,
            order: outcome.order,
        },
        route: route(options, &sending, &outcome),
        stopwatch: sending.stopwatch,
        stopwatch_caveat: sending.stopwatch_caveat,
        stopwatch_granularity_nanoseconds: sending.stopwatch_granularity_nanoseconds,
        sending_seconds: sending.seconds,
        // The receiver's clock counts from its first datagrams on: never less than was sent in.
        receiving_seconds: outcome
            .seconds
            .filter(|seconds| seconds.is_finite())
            .map(|seconds| seconds.max(sending.seconds)),
        sender: sending.end,
        receiver: outcome.receiver,
        ends_apart: true,
        waiting: Waiting {
            nap_nanoseconds: outcome.nap_nanoseconds,
            naps: outcome.naps,
            spinning: outcome.spinning,
            asked_buffer_bytes: options.receive_buffer as u64,
            granted_buffer_bytes: outcome.granted_buffer_bytes,
        },
        kernel: Kernel {
            socket_drops: outcome.socket_drops,
            receive_buffer_errors: outcome.receive_buffer_errors,
            send_buffer_errors: sending.send_buffer_errors,
            fragments: outcome.fragments,
            reassembly_failures: outcome.reassembly_failures,
            interface: outcome.interface.zip(sending.interface_drops).map(
                |(received, dropped_sending)| InterfaceFigures {
                    dropped: received.dropped.saturating_add(dropped_sending),
                    ..received
                },
            ),
            refusals: sending.refusals,
        },
        pacer: sending.pacer,
        pacing_clock: sending.pacing_clock,
        energy: sending.energy,
        receiver_energy: Some(outcome.energy),
    }
}

fn route(options: &Options, sending: &Sending, outcome: &Outcome) -> Route {
    let datagrams_per_buffer = match options.method {
        Method::Gso => options.method.datagrams_per_call(options.packet_size) as u64,
        _ => 1,
    };
    let class = match datagrams_per_buffer {
        1 => Class::A,
        _ if outcome.buffers < outcome.received => Class::D,
        _ => Class::B,
    };
    let size = options.packet_size as u64;
    Route {
        mtu_bytes: sending.mtu_bytes,
        fragments_per_packet: fragments(size, sending.mtu_bytes, sending.is_ipv4),
        datagrams_per_buffer,
        class,
    }
}
