//! Where datagrams leave: the methods of handing them to the kernel, behind one call.

use std::io;
use std::net::UdpSocket;

use knobstat_sys::net::{SendBatch, cut_datagrams_to};
use thiserror::Error;

use super::options::{Method, Options};
use super::wire::write_number;

/// Takes numbered datagrams, a batch at a time.
pub(super) trait Outlet {
    /// The most datagrams of one call.
    fn capacity(&self) -> usize;

    /// Sends `count` datagrams, numbered from `first`; all have gone when it returns.
    ///
    /// # Errors
    /// When one could not be sent.
    fn send(&mut self, first: u64, count: usize) -> Result<(), OutletError>;
}

/// Why datagrams could not be sent.
#[derive(Debug, Error)]
pub(super) enum OutletError {
    /// The kernel has no segmentation offload for UDP.
    #[error(
        "this kernel does not cut buffers into datagrams ({0}); method = \"gso\" needs Linux 4.18 \
         or later, \"sendmmsg\" does without"
    )]
    NoSegmentation(io::Error),
    /// The kernel refused a datagram.
    #[error("a datagram of {size} bytes could not be sent by {method}: {source}; {remedy}")]
    Refused {
        size: usize,
        method: &'static str,
        source: io::Error,
        remedy: &'static str,
    },
}

/// A connected socket with memory for what it sends.
pub(super) struct SocketOutlet {
    socket: UdpSocket,
    size: usize,
    memory: Memory,
    /// How often the kernel had no room for a datagram, which was then offered again.
    pub refusals: u64,
}

enum Memory {
    Single(Box<[u8]>),
    Batch(SendBatch),
    Segments { buffer: Box<[u8]>, count: usize },
}

impl SocketOutlet {
    /// An outlet on a connected socket.
    ///
    /// # Errors
    /// When the kernel lacks what the method needs.
    pub(super) fn new(socket: UdpSocket, options: &Options) -> Result<Self, OutletError> {
        let size = options.packet_size;
        let count = options.method.datagrams_per_call(size);
        let memory = match options.method {
            Method::Send => Memory::Single(vec![0; size].into_boxed_slice()),
            Method::Sendmmsg => Memory::Batch(SendBatch::new(count, size)),
            Method::Gso => {
                // The options hold sizes to what a datagram carries, well within 16 bits.
                let segment = u16::try_from(size).unwrap_or(u16::MAX);
                cut_datagrams_to(&socket, segment).map_err(OutletError::NoSegmentation)?;
                Memory::Segments {
                    buffer: vec![0; size * count].into_boxed_slice(),
                    count,
                }
            }
        };
        Ok(Self {
            socket,
            size,
            memory,
            refusals: 0,
        })
    }
}

impl Outlet for SocketOutlet {
    fn capacity(&self) -> usize {
        match &self.memory {
            Memory::Single(_) => 1,
            Memory::Batch(batch) => batch.capacity(),
            Memory::Segments { count, .. } => *count,
        }
    }

    fn send(&mut self, first: u64, count: usize) -> Result<(), OutletError> {
        let Self {
            socket,
            size,
            memory,
            refusals,
        } = self;
        match memory {
            Memory::Single(payload) => {
                for number in first..first + count as u64 {
                    write_number(payload, number);
                    persist(*size, "send", refusals, || socket.send(payload))?;
                }
            }
            Memory::Batch(batch) => {
                for index in 0..count {
                    write_number(batch.payload_mut(index), first + index as u64);
                }
                let mut gone = 0;
                while gone < count {
                    gone += persist(*size, "sendmmsg", refusals, || {
                        batch.send(socket, gone..count)
                    })?;
                }
            }
            Memory::Segments { buffer, .. } => {
                let buffer = &mut buffer[..count * *size];
                for (index, payload) in buffer.chunks_exact_mut(*size).enumerate() {
                    write_number(payload, first + index as u64);
                }
                persist(*size, "gso", refusals, || socket.send(buffer))?;
            }
        }
        Ok(())
    }
}

/// Offers a datagram until the kernel has room for it.
fn persist(
    size: usize,
    method: &'static str,
    refusals: &mut u64,
    mut offer: impl FnMut() -> io::Result<usize>,
) -> Result<usize, OutletError> {
    loop {
        let error = match offer() {
            Ok(taken) => return Ok(taken),
            Err(error) => error,
        };
        match error.kind() {
            io::ErrorKind::Interrupted => {}
            // No room in a queue on the way: the link is full.
            io::ErrorKind::WouldBlock => *refusals += 1,
            _ if is_out_of_buffers(&error) => *refusals += 1,
            kind => {
                return Err(OutletError::Refused {
                    size,
                    method,
                    remedy: match kind {
                        io::ErrorKind::ConnectionRefused => {
                            "nobody listens at the other end any more"
                        }
                        io::ErrorKind::PermissionDenied => {
                            "a packet filter forbids it: allow UDP on the loopback interface"
                        }
                        _ => "try a smaller packet_size or another method",
                    },
                    source: error,
                });
            }
        }
    }
}

fn is_out_of_buffers(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ENOBUFS)
}

/// "No buffer space available", the same number on every architecture that this program knows.
const ENOBUFS: i32 = 105;
