//! The result of a run as it crosses from the workload's process to the harness: plain figures,
//! each with its unit in its name.

use serde::{Deserialize, Serialize};

/// Everything that a run of the workload found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Figures {
    /// The payload of every datagram.
    pub packet_size_bytes: u64,
    /// Datagrams that went, and what became of them.
    pub packets: Packets,
    /// The stopwatch's name.
    pub stopwatch: String,
    /// What a reader of its times must know, where there is anything.
    pub stopwatch_caveat: Option<String>,
    /// The smallest time that the stopwatch can show.
    pub stopwatch_granularity_nanoseconds: f64,
    /// From before the first send to after the last.
    pub sending_seconds: f64,
    /// From before the first send to the last receipt, or to the end of sending where that was
    /// later; absent where nothing came.
    pub receiving_seconds: Option<f64>,
    /// The sender's CPU.
    pub sender: End,
    /// The receiver's CPU.
    pub receiver: End,
    /// Whether the two ends are on two machines.
    pub ends_apart: bool,
    /// How the receiver waited.
    pub waiting: Waiting,
    /// What the kernel counted.
    pub kernel: Kernel,
    /// The route.
    pub route: Route,
    /// The pacer, where there was one.
    pub pacer: Option<Pacer>,
    /// The step of the pacing clock, where it was read at all.
    pub pacing_clock: Option<ClockFigures>,
    /// What the sender's machine used.
    pub energy: EnergyFigures,
    /// What the receiver's machine used, where it is another one.
    pub receiver_energy: Option<EnergyFigures>,
}

/// The energy of a machine during a run in joules, or why it cannot be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct EnergyFigures(pub Result<f64, String>);

/// Datagrams, all counts over the same ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Packets {
    /// Sent.
    pub sent: u64,
    /// Received, duplicates included.
    pub received: u64,
    /// Payload received.
    pub received_bytes: u64,
    /// Sent and not received. Never below zero: duplicates do not make up for losses.
    pub lost: u64,
    /// Buffers that they were received in.
    pub buffers: u64,
    /// Datagrams of another size, which were none of the run's.
    pub strays: u64,
    /// Their order; absent where datagrams were too small to carry a number.
    pub order: Option<OrderFigures>,
}

/// The order of arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OrderFigures {
    /// Arrived after one that was sent later.
    pub reordered: u64,
    /// Arrived again.
    pub duplicated: u64,
    /// Arrived so late that it cannot be told whether again; counted as lost.
    pub too_late: u64,
    /// Arrived without having been sent by this run.
    pub foreign: u64,
}

/// One end's CPU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct End {
    /// Which CPU; absent where it was kept on none.
    pub cpu: Option<u32>,
    /// The CPU time of its thread.
    pub cpu_nanoseconds: f64,
    /// The time that it ran.
    pub wall_nanoseconds: f64,
}

impl End {
    /// The share of its time that it was busy; absent where no time passed.
    pub(super) fn busy(&self) -> Option<f64> {
        (self.wall_nanoseconds > 0.0).then(|| self.cpu_nanoseconds / self.wall_nanoseconds)
    }
}

/// How the receiver waited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Waiting {
    /// The median length of a nap, measured beforehand; absent where it does not nap.
    pub nap_nanoseconds: Option<f64>,
    /// How often it napped.
    pub naps: u64,
    /// Whether it spun in the end.
    pub spinning: bool,
    /// The receive buffer that was asked for.
    pub asked_buffer_bytes: u64,
    /// The receive buffer that was granted, as the kernel accounts it.
    pub granted_buffer_bytes: u64,
}

/// What the kernel counted during the run; the namespace's counts include everybody's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kernel {
    /// Dropped by the receiver's socket; absent before Linux 4.12.
    pub socket_drops: Option<u64>,
    /// `Udp: RcvbufErrors` of the namespace.
    pub receive_buffer_errors: Option<u64>,
    /// `Udp: SndbufErrors` of the namespace.
    pub send_buffer_errors: Option<u64>,
    /// `Ip: ReasmReqds` of the namespace: fragments that came.
    pub fragments: Option<u64>,
    /// `Ip: ReasmFails` of the namespace.
    pub reassembly_failures: Option<u64>,
    /// What the interfaces between the two ends counted; absent where they are not ours to read.
    pub interface: Option<InterfaceFigures>,
    /// How often there was no room for a datagram on the way out.
    pub refusals: u64,
}

/// What the interfaces between the two ends counted, everybody's packets included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InterfaceFigures {
    /// Packets that the receiver's took, each buffer that was not cut counting once.
    pub packets: u64,
    /// Packets that the sender's or the receiver's dropped.
    pub dropped: u64,
}

/// The way from one end to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Route {
    /// The largest packet that it takes whole, headers included.
    pub mtu_bytes: u64,
    /// The packets that each datagram becomes; 1 where it fits.
    pub fragments_per_packet: u64,
    /// The most datagrams in one buffer on its way down the stack.
    pub datagrams_per_buffer: u64,
    /// What a datagram went through.
    pub class: Class,
}

/// What a datagram goes through on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Class {
    /// Each datagram walks down the stack alone.
    A,
    /// Many go as one buffer that is cut before the link.
    B,
    /// Many go as one buffer that is cut at the receiving socket.
    C,
    /// Many go as one buffer that is never cut: not datagrams but buffers are moved.
    D,
}

impl Class {
    /// Its letter.
    pub(super) fn letter(self) -> char {
        match self {
            Self::A => 'A',
            Self::B => 'B',
            Self::C => 'C',
            Self::D => 'D',
        }
    }
}

/// What the pacer did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pacer {
    /// The asked rate.
    pub asked_packets_per_second: f64,
    /// What is particular to its kind.
    pub kind: PacerKind,
}

/// What is particular to a kind of pacer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum PacerKind {
    /// The absolute schedule.
    Schedule {
        /// Whether datagrams whose time had passed were made up for.
        catch_up: bool,
        /// Sent when the next one was due already.
        late: u64,
        /// Times of the schedule that were given up.
        skipped: u64,
        /// Quantiles of the time between two sends (1 %, 50 %, 99 %); absent where there was no
        /// second one.
        gap_nanoseconds: Option<[u64; 3]>,
        /// The share of the gaps within a tenth of the asked one, 0 to 1.
        gaps_within_a_tenth: Option<f64>,
    },
    /// The loop of 2007.
    Iperf2 {
        /// The whole microseconds per datagram.
        microseconds_per_packet: u64,
        /// How often it waited.
        waits: u64,
        /// The median of the datagrams from one wait to the next.
        packets_per_wait: Option<u64>,
        /// The median of those that were taken into the running delay; each other one found that
        /// the clock had moved on without being waited for.
        credited_per_wait: Option<u64>,
        /// What the clock's step predicts for those taken into the running delay.
        packets_per_wait_predicted: Option<u64>,
        /// The median of the pacing clock's time from one wait's end to the next.
        nanoseconds_per_wait: Option<u64>,
        /// The share of the waits that were as the formula has them, 0 to 1; absent where it says
        /// nothing of this clock, or nothing was waited for twice.
        waits_as_predicted: Option<f64>,
    },
}

/// How the pacing clock moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClockFigures {
    /// Its smallest step: whoever reads it may miss steps; absent where it was not seen to move.
    pub step_nanoseconds: Option<u64>,
    /// Whether at least half of its steps were that one.
    pub regular: bool,
}
