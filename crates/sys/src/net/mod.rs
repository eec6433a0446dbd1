//! UDP as the kernel offers it: batches of datagrams, segmentation offload, buffers with the
//! size that was really granted, and what a sender and a receiver need beside a socket: naps,
//! pacing clocks, pinning, and the counters of the network namespace.
//!
//! Sockets themselves are [`std::net::UdpSocket`]; the functions here reach what the standard
//! library does not. Memory for messages is made once, beforehand: nothing here allocates or
//! locks per packet. It knows nothing of measurements, packet formats or verdicts.

pub mod affinity;
pub mod counters;
mod express_data_path;
mod frame;
mod mapping;
pub mod namespace;
pub mod nap;
pub mod netlink;
pub mod pacing_clock;
#[cfg(test)]
mod patience;
mod raw_socket;
mod receive_batch;
mod ring_receiver;
mod ring_sender;
mod segmentation;
mod send_batch;
mod slots;
mod socket;
mod transmit_ring;
mod uncut_batch;

pub use express_data_path::{LARGEST_XDP_FRAME, XdpSender};
pub use frame::{Addressing, FRAME_HEADERS};
pub use namespace::Namespace;
pub use pacing_clock::{ClockStep, PacingClock};
pub use receive_batch::ReceiveBatch;
pub use ring_receiver::{RingReceiver, try_multishot_receive};
pub use ring_sender::{RingSender, try_io_uring};
pub use segmentation::{LARGEST_BUFFER, MOST_SEGMENTS, accept_uncut, cut_datagrams_to};
pub use send_batch::SendBatch;
pub use socket::{
    SocketMemory, memory, request_receive_buffer, route_mtu, send, set_differentiated_services,
    stamp_arrivals,
};
pub use transmit_ring::{COPIED_PAYLOAD, TransmitRing};
pub use uncut_batch::UncutBatch;
