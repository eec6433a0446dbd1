//! UDP as the kernel offers it: batches of datagrams, segmentation offload, buffers with the
//! size that was really granted, and what a sender and a receiver need beside a socket: naps,
//! pacing clocks, pinning, and the counters of the network namespace.
//!
//! Sockets themselves are [`std::net::UdpSocket`]; the functions here reach what the standard
//! library does not. Memory for messages is made once, beforehand: nothing here allocates or
//! locks per packet. It knows nothing of measurements, packet formats or verdicts.

pub mod affinity;
pub mod counters;
pub mod nap;
pub mod pacing_clock;
mod receive_batch;
mod segmentation;
mod send_batch;
mod slots;
mod socket;

pub use pacing_clock::{ClockStep, PacingClock};
pub use receive_batch::ReceiveBatch;
pub use segmentation::{LARGEST_BUFFER, MOST_SEGMENTS, accept_uncut, cut_datagrams_to};
pub use send_batch::SendBatch;
pub use socket::{
    SocketMemory, memory, request_receive_buffer, route_mtu, set_differentiated_services,
};
