//! The two sockets of a flow, and what the kernel counts of it.

use std::net::{SocketAddr, UdpSocket};

use knobstat_sys::net;
use knobstat_sys::net::counters::{NamespaceCounters, interface_received};

use super::failure::{RunError, system};
use super::figures::Kernel;
use super::options::{Options, ReceiverMethod};
use super::receiver::BLOCK_LIMIT;

/// Both ends of a flow on the loopback interface, each deaf to everybody else.
pub(super) struct Sockets {
    /// The sender's.
    pub sender: UdpSocket,
    /// The receiver's.
    pub receiver: UdpSocket,
    /// The receive buffer that was granted, in bytes as the kernel accounts them.
    pub granted_buffer: usize,
}

impl Sockets {
    /// Opens both, the receiver's with a buffer of so many bytes if it can be had.
    ///
    /// # Errors
    /// When the kernel refuses one of the sockets or what is asked of it.
    pub(super) fn open(options: &Options, receive_buffer: usize) -> Result<Self, RunError> {
        let bind =
            |what| UdpSocket::bind(SocketAddr::new(options.address, 0)).map_err(system(what));
        let receiver = bind("the receiver's socket cannot be bound")?;
        let sender = bind("the sender's socket cannot be bound")?;
        // Before the route is looked up, which a change of it would void.
        net::set_differentiated_services(&sender, options.dscp)
            .map_err(system("the DSCP cannot be set"))?;
        let meet = |one: &UdpSocket, other: &UdpSocket| one.connect(other.local_addr()?);
        meet(&sender, &receiver)
            .and_then(|()| meet(&receiver, &sender))
            .map_err(system("the two sockets cannot be connected"))?;
        let granted_buffer = net::request_receive_buffer(&receiver, receive_buffer)
            .map_err(system("the receive buffer cannot be set"))?;
        if options.receiver_method == ReceiverMethod::Blocking {
            receiver
                .set_read_timeout(Some(BLOCK_LIMIT))
                .map_err(system("the receiver's time limit cannot be set"))?;
        }
        Ok(Self {
            sender,
            receiver,
            granted_buffer,
        })
    }
}

/// The kernel's counters at one moment, as far as they can be read.
pub(super) struct Counters {
    socket_drops: Option<u32>,
    namespace: Option<NamespaceCounters>,
    interface: Option<u64>,
}

impl Counters {
    /// The counters as they stand.
    pub(super) fn read(sockets: &Sockets) -> Self {
        Self {
            socket_drops: net::memory(&sockets.receiver)
                .ok()
                .map(|memory| memory.drops),
            namespace: NamespaceCounters::read().ok(),
            interface: interface_received("lo").ok(),
        }
    }

    /// What was counted since an earlier moment, beside what the sender itself counted.
    pub(super) fn since(&self, earlier: &Self, refusals: u64) -> Kernel {
        let namespace = self
            .namespace
            .zip(earlier.namespace)
            .map(|(now, then)| now.since(&then));
        Kernel {
            socket_drops: self
                .socket_drops
                .zip(earlier.socket_drops)
                .map(|(now, then)| u64::from(now.wrapping_sub(then))),
            receive_buffer_errors: namespace.map(|counts| counts.receive_buffer_errors),
            send_buffer_errors: namespace.map(|counts| counts.send_buffer_errors),
            reassembly_failures: namespace.map(|counts| counts.reassembly_failures),
            interface_packets: self
                .interface
                .zip(earlier.interface)
                .map(|(now, then)| now.saturating_sub(then)),
            refusals,
        }
    }
}
