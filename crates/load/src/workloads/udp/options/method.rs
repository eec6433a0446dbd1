//! The ways of handing datagrams to the kernel and of taking them from it, by their words.

use knobstat_sys::net::{LARGEST_BUFFER, MOST_SEGMENTS};

/// How datagrams are handed to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Method {
    /// send(2): one a call.
    Send,
    /// sendmmsg(2): up to 64 a call, each on its own way down the stack.
    Sendmmsg,
    /// UDP segmentation offload: one buffer that is cut late.
    Gso,
    /// io_uring: up to 64 a call, each on its own way down the stack.
    IoUring,
    /// A ring of whole frames that a packet socket sends.
    TxRing,
    /// A ring of whole frames that an AF_XDP socket sends, in copy mode.
    AfXdp,
}

impl Method {
    /// The most datagrams of a size that go with one call.
    pub(in super::super) fn datagrams_per_call(self, packet_size: usize) -> usize {
        match self {
            Self::Send => 1,
            Self::Sendmmsg | Self::IoUring | Self::TxRing | Self::AfXdp => BATCH,
            Self::Gso => MOST_SEGMENTS.min(LARGEST_BUFFER / packet_size.max(1)),
        }
    }

    /// More datagrams a second than this method was ever seen to send; for deciding what a
    /// receiver must be ready for.
    pub(in super::super) fn ceiling(self) -> f64 {
        match self {
            Self::Send | Self::Sendmmsg | Self::IoUring => 500_000.0,
            Self::TxRing | Self::AfXdp => 700_000.0,
            Self::Gso => 2_000_000.0,
        }
    }

    /// The word that a file asks for it by.
    pub(in super::super) fn word(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Sendmmsg => "sendmmsg",
            Self::Gso => "gso",
            Self::IoUring => "io_uring",
            Self::TxRing => "tx_ring",
            Self::AfXdp => "af_xdp",
        }
    }

    /// Whether what it sends is never cut into fragments.
    pub(in super::super) fn goes_whole(self) -> bool {
        matches!(self, Self::Gso | Self::TxRing | Self::AfXdp)
    }

    /// Every way there is.
    pub(in super::super) const ALL: [Self; 6] = [
        Self::Send,
        Self::Sendmmsg,
        Self::Gso,
        Self::IoUring,
        Self::TxRing,
        Self::AfXdp,
    ];
}

/// How many datagrams a call of sendmmsg(2) or recvmmsg(2) takes at most.
pub(in super::super) const BATCH: usize = 64;

/// How the receiver waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum ReceiverMethod {
    /// Drains without blocking, naps when the queue is empty.
    Napping,
    /// Blocks until a datagram comes.
    Blocking,
    /// As napping, and takes buffers that were not cut on their way.
    Gro,
    /// As napping, by a multishot receive of io_uring.
    IoUring,
}

impl ReceiverMethod {
    /// The word that a file asks for it by.
    pub(in super::super) fn word(self) -> &'static str {
        match self {
            Self::Napping => "napping",
            Self::Blocking => "blocking",
            Self::Gro => "gro",
            Self::IoUring => "io_uring",
        }
    }

    /// Every way there is.
    pub(in super::super) const ALL: [Self; 4] =
        [Self::Napping, Self::Blocking, Self::Gro, Self::IoUring];
}
