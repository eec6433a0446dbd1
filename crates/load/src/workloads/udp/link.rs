//! Where the two ends of the flows are on this machine, their sockets, and what the kernel counts
//! between them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use knobstat_sys::net::counters::{InterfaceCounters, NamespaceCounters};
use knobstat_sys::net::netlink::{RouteSocket, interface_index};
use knobstat_sys::net::{self, Namespace, namespace};

use super::failure::{RunError, system};
use super::figures::{InterfaceFigures, Kernel};
use super::options::{Endpoints, Options, ReceiverMethod};
use super::receiver::BLOCK_LIMIT;

/// The addresses of the two ends of a pair: for documentation (RFC 5737, RFC 3849), and of the
/// link alone. Nobody else is there.
const PAIR: [(IpAddr, IpAddr); 3] = [
    (
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)),
    ),
    (
        IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
        IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2)),
    ),
    (
        IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1)),
        IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2)),
    ),
];

/// The sender's addresses on a pair: what `bind` may be there.
pub(super) fn pair_addresses() -> [IpAddr; 3] {
    PAIR.map(|(sender, _)| sender)
}

/// The names of a pair's interfaces, and their hardware addresses: locally administered.
const SENDERS: (&str, [u8; 6]) = ("sender", [2, 0, 0, 0, 0, 1]);
const RECEIVERS: (&str, [u8; 6]) = ("receiver", [2, 0, 0, 0, 0, 2]);
/// The MTU of Ethernet.
pub(super) const PAIR_MTU: u32 = 1500;

/// One end.
pub(super) struct Side {
    address: SocketAddr,
    namespace: Option<Namespace>,
}

impl Side {
    /// Does something where this end is.
    fn within<T: Send>(&self, what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        match &self.namespace {
            Some(namespace) => namespace.within(what),
            None => what(),
        }
    }

    /// Moves the calling thread to where this end is.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub(super) fn enter(&self) -> io::Result<()> {
        self.namespace.as_ref().map_or(Ok(()), Namespace::enter)
    }

    /// A socket of this end, on a port of the kernel's choice.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub(super) fn bind(&self) -> io::Result<UdpSocket> {
        self.within(|| UdpSocket::bind(self.address))
    }
}

/// An interface that frames can be laid on.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawLink {
    /// Its index in the sender's namespace.
    pub interface: u32,
    /// The hardware addresses of the sender and the receiver.
    pub hardware: ([u8; 6], [u8; 6]),
}

/// The way between the two ends.
pub(super) struct Link {
    /// The sender's end.
    pub sender: Side,
    /// The receiver's end.
    pub receiver: Side,
    /// Where frames can be laid on it.
    pub raw: Option<RawLink>,
    /// The interfaces that packets leave the sender by and come to the receiver by.
    interfaces: [&'static str; 2],
}

impl Link {
    /// The way to a receiver on another machine: nothing of it is made here.
    pub(super) fn elsewhere() -> Self {
        let side = || Side {
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
            namespace: None,
        };
        Self {
            sender: side(),
            receiver: side(),
            raw: None,
            interfaces: [""; 2],
        }
    }

    /// Makes the way, or finds the one that there is. A `veth` pair and its namespaces last as
    /// long as the link and its sockets do.
    ///
    /// Where it takes a user namespace, this process moves into one: it must have one thread.
    ///
    /// # Errors
    /// When the kernel refuses the namespaces or the pair.
    pub(super) fn open(options: &Options) -> Result<Self, RunError> {
        match &options.endpoints {
            Endpoints::Veth => pair(options.bind),
            Endpoints::Loopback | Endpoints::Receiver(_) => {
                let address = options.bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
                let side = || Side {
                    address: SocketAddr::new(address, 0),
                    namespace: None,
                };
                Ok(Self {
                    sender: side(),
                    receiver: side(),
                    raw: None,
                    interfaces: ["lo"; 2],
                })
            }
        }
    }
}

impl Link {
    /// Waits until a datagram passes: IPv6 takes up to a second to believe in a new interface,
    /// and the neighbours get to know each other.
    fn await_passage(&self) -> io::Result<()> {
        let receiver = self.receiver.bind()?;
        let sender = self.sender.bind()?;
        meet(&sender, &receiver)?;
        receiver.set_read_timeout(Some(Duration::from_millis(20)))?;
        let mut passed = Err(io::Error::from(io::ErrorKind::TimedOut));
        for _ in 0..ATTEMPTS {
            passed = sender.send(&[0]).and_then(|_| receiver.recv(&mut [0; 1]));
            if passed.is_ok() {
                break;
            }
        }
        passed.map(drop)
    }
}

/// At 20 ms each: three seconds.
const ATTEMPTS: u32 = 150;

fn pair(bind: Option<IpAddr>) -> Result<Link, RunError> {
    if !namespace::may_create() {
        namespace::enter_user_namespace().map_err(system(
            "endpoints = \"veth\" needs root, or user namespaces, which this machine does not \
             allow",
        ))?;
    }
    let namespaces = Namespace::create().and_then(|one| Ok((one, Namespace::create()?)));
    let (sender, receiver) =
        namespaces.map_err(system("the network namespaces of the pair cannot be made"))?;
    let wanted = bind.unwrap_or(PAIR[0].0);
    let (from, to) = PAIR
        .into_iter()
        .find(|(sender, _)| *sender == wanted)
        .unwrap_or(PAIR[0]);
    let bring_up = |interface: &str, address: IpAddr| {
        let route = RouteSocket::open()?;
        route.bring_up("lo")?;
        route.add_address(interface, address, if address.is_ipv4() { 24 } else { 64 })?;
        route.bring_up(interface)?;
        interface_index(interface)
    };
    let made = sender
        .within(|| {
            RouteSocket::open()?.add_pair(SENDERS, RECEIVERS, receiver.as_fd(), PAIR_MTU)?;
            bring_up(SENDERS.0, from)
        })
        .and_then(|index| Ok((index, receiver.within(|| bring_up(RECEIVERS.0, to))?)));
    let (sender_index, receiver_index) =
        made.map_err(system("the pair of interfaces cannot be made"))?;
    let link = Link {
        sender: Side {
            address: scoped(from, sender_index),
            namespace: Some(sender),
        },
        receiver: Side {
            address: scoped(to, receiver_index),
            namespace: Some(receiver),
        },
        raw: Some(RawLink {
            interface: sender_index,
            hardware: (SENDERS.1, RECEIVERS.1),
        }),
        interfaces: [SENDERS.0, RECEIVERS.0],
    };
    link.await_passage()
        .map_err(system("no datagram passes the pair of interfaces"))?;
    Ok(link)
}

/// An address of the link alone says nothing without its interface (RFC 4007).
fn scoped(address: IpAddr, interface: u32) -> SocketAddr {
    match address {
        IpAddr::V6(address) if address.is_unicast_link_local() => {
            SocketAddr::V6(SocketAddrV6::new(address, 0, 0, interface))
        }
        other => SocketAddr::new(other, 0),
    }
}

/// The sockets of every flow, each deaf to everybody but its other end.
pub(super) struct Sockets {
    /// The sender's.
    pub senders: Vec<UdpSocket>,
    /// The receiver's, in the same order.
    pub receivers: Vec<UdpSocket>,
    /// The receive buffer that was granted to each, in bytes as the kernel accounts them.
    pub granted_buffer: usize,
}

impl Sockets {
    /// Opens all, the receiver's with the buffer that is asked for if it can be had.
    ///
    /// # Errors
    /// When the kernel refuses one of the sockets or what is asked of it.
    pub(super) fn open(options: &Options, link: &Link) -> Result<Self, RunError> {
        let mut sockets = Self {
            senders: Vec::with_capacity(options.flows),
            receivers: Vec::with_capacity(options.flows),
            granted_buffer: 0,
        };
        for _ in 0..options.flows {
            let receiver = link
                .receiver
                .bind()
                .map_err(system("the receiver's socket cannot be bound"))?;
            let sender = link
                .sender
                .bind()
                .map_err(system("the sender's socket cannot be bound"))?;
            // Before the route is looked up, which a change of it would void.
            net::set_differentiated_services(&sender, options.dscp)
                .map_err(system("the DSCP cannot be set"))?;
            meet(&sender, &receiver)
                .and_then(|()| meet(&receiver, &sender))
                .map_err(system("the two sockets cannot be connected"))?;
            sockets.granted_buffer =
                prepare_receiver(&receiver, options.receiver_method, options.receive_buffer)?;
            sockets.senders.push(sender);
            sockets.receivers.push(receiver);
        }
        Ok(sockets)
    }
}

/// Makes a socket ready for a way of receiving, and says what buffer it was granted.
///
/// # Errors
/// When the kernel refuses what is asked of it.
pub(super) fn prepare_receiver(
    socket: &UdpSocket,
    method: ReceiverMethod,
    receive_buffer: usize,
) -> Result<usize, RunError> {
    let granted = net::request_receive_buffer(socket, receive_buffer)
        .map_err(system("the receive buffer cannot be set"))?;
    match method {
        ReceiverMethod::Blocking => socket
            .set_read_timeout(Some(BLOCK_LIMIT))
            .map_err(system("the receiver's time limit cannot be set"))?,
        ReceiverMethod::Gro => net::accept_uncut(socket)
            .map_err(system("receiver_method = \"gro\" needs Linux 5.0 or later"))?,
        ReceiverMethod::Napping | ReceiverMethod::IoUring => {}
    }
    Ok(granted)
}

/// Connects one socket to another; the scope of an address is that of the one who connects.
pub(super) fn meet(one: &UdpSocket, other: &UdpSocket) -> io::Result<()> {
    let mut to = other.local_addr()?;
    if let (SocketAddr::V6(to), SocketAddr::V6(own)) = (&mut to, one.local_addr()?) {
        to.set_scope_id(own.scope_id());
    }
    one.connect(to)
}

/// The kernel's counters at one moment, as far as they can be read.
pub(super) struct Counters {
    socket_drops: Option<u64>,
    namespace: Option<NamespaceCounters>,
    /// Of the sender's interface and the receiver's.
    interfaces: Option<[InterfaceCounters; 2]>,
}

impl Counters {
    /// The counters as they stand at the receiver's end.
    pub(super) fn read(link: &Link, sockets: &Sockets) -> Self {
        let [of_sender, of_receiver] = link.interfaces;
        let of_place = link.receiver.within(|| {
            let interface = InterfaceCounters::read(of_receiver).ok();
            Ok((NamespaceCounters::read().ok(), interface))
        });
        let (namespace, received) = of_place.unwrap_or_default();
        let sent = link.sender.within(|| InterfaceCounters::read(of_sender));
        Self {
            socket_drops: total_drops(&sockets.receivers),
            namespace,
            interfaces: sent
                .ok()
                .zip(received)
                .map(|(sent, received)| [sent, received]),
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
                .map(|(now, then)| now.saturating_sub(then)),
            receive_buffer_errors: namespace.map(|counts| counts.receive_buffer_errors),
            send_buffer_errors: namespace.map(|counts| counts.send_buffer_errors),
            fragments: namespace.map(|counts| counts.fragments),
            reassembly_failures: namespace.map(|counts| counts.reassembly_failures),
            interface: self.interfaces.zip(earlier.interfaces).map(
                |([sender, receiver], [sender_then, receiver_then])| {
                    let received = receiver.since(&receiver_then);
                    let sent = sender.since(&sender_then);
                    InterfaceFigures {
                        packets: received.received,
                        dropped: sent.dropped_sending + received.dropped_receiving,
                    }
                },
            ),
            refusals,
        }
    }
}

/// What the sockets have dropped together; absent before Linux 4.12.
pub(super) fn total_drops(sockets: &[UdpSocket]) -> Option<u64> {
    sockets
        .iter()
        .map(|socket| Some(u64::from(net::memory(socket).ok()?.drops)))
        .sum()
}
