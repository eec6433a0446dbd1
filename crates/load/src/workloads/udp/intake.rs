//! Where datagrams come in: the methods of taking them from the kernel, behind one call.

use std::io;
use std::net::UdpSocket;

use knobstat_sys::net::{ReceiveBatch, RingReceiver, UncutBatch};

use super::options::{BATCH, ReceiverMethod};
use super::seen::FlowSeen;

/// Memory for receiving, made before the run.
pub(super) enum Intake {
    /// recvmmsg(2), never waiting.
    Arrived(ReceiveBatch),
    /// recvmmsg(2), waiting for the first.
    Blocking(ReceiveBatch),
    /// Buffers that were not cut on their way.
    Uncut(UncutBatch),
    /// io_uring, one a flow.
    Rings(Vec<RingReceiver>),
}

/// How many whole buffers one call takes: a megabyte.
const UNCUT_BUFFERS: usize = 16;

/// How many datagrams an io_uring has room for, at most and at least, and the memory that they are
/// to take: a peer may ask for dozens of flows of the largest datagrams.
const RING_BUFFERS: (u16, u16) = (512, 32);
const RING_MEMORY: usize = 4 << 20;

impl Intake {
    /// Memory for datagrams of a size; `is_timed` keeps the kernel's times of arrival.
    ///
    /// # Errors
    /// When the kernel lacks what the method needs.
    pub(super) fn new(
        method: ReceiverMethod,
        packet_size: usize,
        flows: usize,
        is_timed: bool,
    ) -> io::Result<Self> {
        let batch = || {
            if is_timed {
                ReceiveBatch::with_times(BATCH, packet_size)
            } else {
                ReceiveBatch::new(BATCH, packet_size)
            }
        };
        Ok(match method {
            ReceiverMethod::Napping => Self::Arrived(batch()),
            ReceiverMethod::Blocking => Self::Blocking(batch()),
            ReceiverMethod::Gro => Self::Uncut(UncutBatch::new(UNCUT_BUFFERS)),
            ReceiverMethod::IoUring => Self::Rings(
                (0..flows)
                    .map(|_| RingReceiver::new(ring_buffers(packet_size), packet_size))
                    .collect::<io::Result<_>>()?,
            ),
        })
    }

    /// Takes what has come for a flow into account. Says how much came, in units of a call's
    /// room.
    ///
    /// # Errors
    /// What the kernel says of the socket.
    #[inline]
    pub(super) fn take(
        &mut self,
        flow: usize,
        socket: &UdpSocket,
        seen: &mut FlowSeen,
    ) -> io::Result<Taken> {
        match self {
            Self::Arrived(batch) => {
                let count = batch.receive_arrived(socket)?;
                Ok(taken(batch, count, seen))
            }
            Self::Blocking(batch) => {
                let count = batch.receive_blocking(socket)?;
                Ok(taken(batch, count, seen))
            }
            Self::Uncut(batch) => {
                let count = batch.receive_arrived(socket)?;
                for index in 0..count {
                    let (buffer, segment) = batch.buffer(index);
                    if buffer.is_empty() {
                        seen.datagram(buffer, 0, None);
                    } else {
                        for datagram in buffer.chunks(segment) {
                            seen.datagram(datagram, datagram.len(), None);
                        }
                    }
                }
                seen.buffers += count as u64;
                Ok(Taken::of(count, batch.capacity()))
            }
            Self::Rings(rings) => {
                let count = rings[flow].receive_arrived(socket, |bytes, length| {
                    seen.datagram(bytes, length, None);
                })?;
                seen.buffers += count as u64;
                Ok(Taken::of(count, rings[flow].capacity()))
            }
        }
    }
}

/// How many datagrams of a size an io_uring has room for: a power of two.
fn ring_buffers(packet_size: usize) -> u16 {
    let (most, least) = RING_BUFFERS;
    let fitting = RING_MEMORY / packet_size.max(1);
    let fitting = u16::try_from(fitting).unwrap_or(most).clamp(least, most);
    // Rounded down: the highest bit alone.
    1 << fitting.ilog2()
}

fn taken(batch: &ReceiveBatch, count: usize, seen: &mut FlowSeen) -> Taken {
    for index in 0..count {
        let time = batch.time(index);
        seen.datagram(batch.datagram(index), batch.length(index), time);
    }
    seen.buffers += count as u64;
    Taken::of(count, batch.capacity())
}

/// How much a call brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Taken {
    /// Nothing.
    Nothing,
    /// Something, and nothing more is there.
    Some,
    /// As much as there was room for: there may be more.
    Full,
}

impl Taken {
    fn of(count: usize, capacity: usize) -> Self {
        match count {
            0 => Self::Nothing,
            count if count < capacity => Self::Some,
            _ => Self::Full,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::udp::options::{LARGEST_PACKET, MOST_FLOWS};

    #[test]
    fn the_buffers_of_all_flows_of_a_peer_stay_within_bounds() {
        for size in [0, 1, 64, 1472, 9000, LARGEST_PACKET as usize] {
            let buffers = ring_buffers(size);
            assert!(buffers.is_power_of_two() && buffers >= 32, "{size}");
            let memory = usize::from(buffers) * size * MOST_FLOWS as usize;
            assert!(memory <= 256 << 20, "{size} B: {memory}");
        }
        assert_eq!(ring_buffers(64), 512);
        assert_eq!(ring_buffers(LARGEST_PACKET as usize), 64);
    }
}
