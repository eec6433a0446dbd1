//! What a run is to do.

mod method;
mod read;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::time::Duration;

use knobstat_sys::net::PacingClock;

pub(super) use method::{BATCH, Method, ReceiverMethod};
pub(super) use read::MOST_FLOWS;

/// The largest payload of an IPv6 datagram.
pub(super) const LARGEST_PACKET: u64 = 65_527;

/// The largest payload of an IPv4 datagram.
pub(super) const LARGEST_PACKET_IPV4: u64 = 65_507;

/// The receive buffer that a receiver should have: the kernel doubles what is asked for.
pub(super) const RECEIVE_BUFFER: u64 = 4 << 20;

/// The receive buffers that may be asked for: the kernel has no smaller one, and counts in 31 bits.
pub(super) const RECEIVE_BUFFERS: std::ops::RangeInclusive<u64> = 1 << 10..=1 << 29;

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    /// The payload in bytes.
    pub packet_size: usize,
    /// How it is sent.
    pub method: Method,
    /// How it is received.
    pub receiver_method: ReceiverMethod,
    /// When the next datagram goes.
    pub pacing: Pacing,
    /// The clock that the pacer and the additional readings go by.
    pub pacing_clock: PacingClock,
    /// Readings of that clock per datagram beside the pacer's.
    pub clock_reads_per_packet: u32,
    /// When it ends.
    pub length: Length,
    /// The differentiated services code point.
    pub dscp: u8,
    /// Where the two ends are.
    pub endpoints: Endpoints,
    /// The sender's address, where one is asked for.
    pub bind: Option<IpAddr>,
    /// The receive buffer that each flow's receiver asks for, in bytes.
    pub receive_buffer: usize,
    /// How many flows there are side by side.
    pub flows: usize,
    /// The number of each flow's first datagram.
    pub first_number: u64,
    /// The sender's CPU, where one is asked for.
    pub sender_cpu: Option<u32>,
    /// The receiver's CPU, where one is asked for.
    pub receiver_cpu: Option<u32>,
}

/// Where the two ends are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Endpoints {
    /// Both on the loopback interface.
    Loopback,
    /// In two network namespaces of this run, a pair of interfaces between them.
    Veth,
    /// The receiver is `knobstat udp recv` at this host and port.
    Receiver(String),
}

/// When the next datagram goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pacing {
    /// As soon as the last one is gone.
    Unpaced,
    /// By an absolute schedule.
    Schedule {
        /// So many a second.
        rate: f64,
        /// Whether datagrams whose time has passed are made up for at once; else their times are
        /// given up.
        catch_up: bool,
    },
    /// By the loop of the iperf of 2007, at so many a second.
    Iperf2(f64),
}

impl Pacing {
    /// The asked rate in datagrams a second; absent where none is.
    pub(super) fn rate(self) -> Option<f64> {
        match self {
            Self::Unpaced => None,
            Self::Schedule { rate, .. } | Self::Iperf2(rate) => Some(rate),
        }
    }
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// After this long.
    Duration(Duration),
    /// After exactly this many datagrams.
    Count(u64),
}
