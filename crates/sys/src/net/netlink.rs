//! The few requests to the kernel's routing tables that a pair of interfaces needs, and which
//! interface leads to an address: rtnetlink(7).

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// A conversation with the kernel about the network namespace of the thread that opened it.
pub struct RouteSocket(OwnedFd);

/// A request under construction: the header, then what it is about, then attributes.
struct Message(Vec<u8>);

// Of linux/veth.h.
const VETH_INFO_PEER: u16 = 1;
/// struct nlmsghdr.
const HEADER: usize = 16;
/// struct rtmsg.
const ROUTE_MESSAGE: usize = 12;
/// Room for a reply.
const REPLY: usize = 4096;

impl Message {
    fn new(kind: u16, flags: i32, about: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(256);
        bytes.extend(0u32.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(((libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16).to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(about);
        Self(bytes)
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.0.extend((value.len() as u16 + 4).to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    fn nested(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) {
        let start = self.0.len();
        self.0.extend([0; 2]);
        self.0.extend(kind.to_ne_bytes());
        fill(self);
        let length = (self.0.len() - start) as u16;
        self.0[start..start + 2].copy_from_slice(&length.to_ne_bytes());
    }
}

/// struct ifinfomsg.
fn interface_message(index: u32, flags: u32) -> [u8; 16] {
    let mut message = [0; 16];
    message[4..8].copy_from_slice(&index.to_ne_bytes());
    message[8..12].copy_from_slice(&flags.to_ne_bytes());
    message[12..16].copy_from_slice(&flags.to_ne_bytes());
    message
}

fn name(text: &str) -> Vec<u8> {
    let mut name = text.as_bytes().to_vec();
    name.push(0);
    name
}

impl RouteSocket {
    /// Opens one.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub fn open() -> io::Result<Self> {
        // SAFETY: makes a descriptor, which is owned from here on.
        let socket = unsafe {
            libc::socket(
                libc::AF_NETLINK,
                libc::SOCK_RAW | libc::SOCK_CLOEXEC,
                libc::NETLINK_ROUTE,
            )
        };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just made, and nobody else's.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(socket) }))
    }

    /// Makes a pair of virtual Ethernet interfaces: one end in this namespace, the other in
    /// another. Each is a name and a hardware address.
    ///
    /// # Errors
    /// EPERM without CAP_NET_ADMIN; EEXIST where a name is taken; EOPNOTSUPP without the driver.
    pub fn add_pair(
        &self,
        here: (&str, [u8; 6]),
        there: (&str, [u8; 6]),
        other: BorrowedFd<'_>,
        mtu: u32,
    ) -> io::Result<()> {
        let about = interface_message(0, 0);
        let flags = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
        let mut message = Message::new(libc::RTM_NEWLINK, flags, &about);
        message.attribute(libc::IFLA_IFNAME, &name(here.0));
        message.attribute(libc::IFLA_ADDRESS, &here.1);
        message.attribute(libc::IFLA_MTU, &mtu.to_ne_bytes());
        message.nested(libc::IFLA_LINKINFO, |message| {
            message.attribute(libc::IFLA_INFO_KIND, b"veth");
            message.nested(libc::IFLA_INFO_DATA, |message| {
                message.nested(VETH_INFO_PEER, |message| {
                    message.0.extend(interface_message(0, 0));
                    message.attribute(libc::IFLA_IFNAME, &name(there.0));
                    message.attribute(libc::IFLA_ADDRESS, &there.1);
                    message.attribute(libc::IFLA_MTU, &mtu.to_ne_bytes());
                    let descriptor = other.as_raw_fd().to_ne_bytes();
                    message.attribute(libc::IFLA_NET_NS_FD, &descriptor);
                });
            });
        });
        self.ask(message)
    }

    /// Brings an interface up.
    ///
    /// # Errors
    /// ENODEV where there is none of this name; EPERM without CAP_NET_ADMIN.
    pub fn bring_up(&self, interface: &str) -> io::Result<()> {
        let index = interface_index(interface)?;
        let about = interface_message(index, libc::IFF_UP as u32);
        self.ask(Message::new(libc::RTM_NEWLINK, 0, &about))
    }

    /// Gives an interface an address, usable at once.
    ///
    /// # Errors
    /// ENODEV where there is no interface of this name; EPERM without CAP_NET_ADMIN.
    pub fn add_address(&self, interface: &str, address: IpAddr, prefix: u8) -> io::Result<()> {
        let index = interface_index(interface)?;
        let (family, octets) = family_and_octets(address);
        // struct ifaddrmsg. Nobody else is there whose address it could be.
        let mut about = [family, prefix, libc::IFA_F_NODAD as u8, 0, 0, 0, 0, 0];
        about[4..8].copy_from_slice(&index.to_ne_bytes());
        let flags = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
        let mut message = Message::new(libc::RTM_NEWADDR, flags, &about);
        message.attribute(libc::IFA_LOCAL, &octets);
        message.attribute(libc::IFA_ADDRESS, &octets);
        self.ask(message)
    }

    /// The index of the interface by which packets go to an address.
    ///
    /// # Errors
    /// ENETUNREACH where none leads there.
    pub fn interface_towards(&self, address: IpAddr) -> io::Result<u32> {
        let (family, octets) = family_and_octets(address);
        let mut about = [0; ROUTE_MESSAGE];
        about[..2].copy_from_slice(&[family, 8 * octets.len() as u8]);
        let mut message = Message::new(libc::RTM_GETROUTE, 0, &about);
        message.attribute(libc::RTA_DST, &octets);
        self.send(message)?;
        let mut reply = [0; REPLY];
        let length = self.hear(&mut reply)?;
        let interface = outgoing_interface(&reply[..length]);
        if interface.is_some() {
            // The acknowledgement that follows.
            self.acknowledged()?;
        }
        match (interface, acknowledgement(&reply[..length])) {
            (Some(index), _) => Ok(index),
            (None, Some(error)) if error != 0 => Err(io::Error::from_raw_os_error(-error)),
            (None, _) => Err(io::Error::from(io::ErrorKind::InvalidData)),
        }
    }

    fn ask(&self, message: Message) -> io::Result<()> {
        self.send(message)?;
        self.acknowledged()
    }

    fn send(&self, mut message: Message) -> io::Result<()> {
        let length = message.0.len() as u32;
        message.0[..4].copy_from_slice(&length.to_ne_bytes());
        rustix::net::send(self.0.as_fd(), &message.0, rustix::net::SendFlags::empty())?;
        Ok(())
    }

    fn hear(&self, reply: &mut [u8; REPLY]) -> io::Result<usize> {
        let (length, _) = rustix::net::recv(
            self.0.as_fd(),
            &mut reply[..],
            rustix::net::RecvFlags::empty(),
        )?;
        Ok(length)
    }

    fn acknowledged(&self) -> io::Result<()> {
        let mut reply = [0; REPLY];
        let length = self.hear(&mut reply)?;
        match acknowledgement(&reply[..length]) {
            Some(0) => Ok(()),
            Some(error) => Err(io::Error::from_raw_os_error(-error)),
            None => Err(io::Error::from(io::ErrorKind::InvalidData)),
        }
    }
}

fn family_and_octets(address: IpAddr) -> (u8, Vec<u8>) {
    match address {
        IpAddr::V4(address) => (libc::AF_INET as u8, address.octets().to_vec()),
        IpAddr::V6(address) => (libc::AF_INET6 as u8, address.octets().to_vec()),
    }
}

/// The interface in a reply that is a route (RTM_NEWROUTE, RTA_OIF).
fn outgoing_interface(reply: &[u8]) -> Option<u32> {
    let half = |at: usize| Some(u16::from_ne_bytes(reply.get(at..at + 2)?.try_into().ok()?));
    if half(4)? != libc::RTM_NEWROUTE {
        return None;
    }
    let mut at = HEADER + ROUTE_MESSAGE;
    loop {
        let (length, kind) = (usize::from(half(at)?), half(at + 2)?);
        if kind == libc::RTA_OIF {
            let value = reply.get(at + 4..at + 8)?;
            return Some(u32::from_ne_bytes(value.try_into().ok()?));
        }
        // Less than its own header is no attribute, and would be looked at for ever.
        at += length.max(4).next_multiple_of(4);
    }
}

/// The error in a reply of the kernel's, negative, or zero; `None` where it is none.
fn acknowledgement(reply: &[u8]) -> Option<i32> {
    let kind = u16::from_ne_bytes(reply.get(4..6)?.try_into().ok()?);
    if i32::from(kind) != libc::NLMSG_ERROR {
        return None;
    }
    Some(i32::from_ne_bytes(
        reply.get(HEADER..HEADER + 4)?.try_into().ok()?,
    ))
}

/// The index of an interface of this thread's network namespace.
///
/// # Errors
/// ENODEV where there is none of this name.
pub fn interface_index(interface: &str) -> io::Result<u32> {
    Ok(rustix::net::netdevice::name_to_index(
        any_socket()?,
        interface,
    )?)
}

/// The name of an interface of this thread's network namespace.
///
/// # Errors
/// ENODEV where there is none of this index.
pub fn interface_name(index: u32) -> io::Result<String> {
    Ok(rustix::net::netdevice::index_to_name(any_socket()?, index)?)
}

/// A socket to ask about interfaces with.
fn any_socket() -> io::Result<std::net::UdpSocket> {
    std::net::UdpSocket::bind("127.0.0.1:0").or_else(|_| std::net::UdpSocket::bind("0.0.0.0:0"))
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;
    use crate::net::Namespace;

    #[test]
    fn a_pair_between_two_namespaces_carries_datagrams() {
        let (Ok(one), Ok(other)) = (Namespace::create(), Namespace::create()) else {
            eprintln!("skipped: no network namespace can be made here without a user namespace");
            return;
        };
        let addresses: [IpAddr; 2] = ["192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap()];
        let up = |interface: &str, address| {
            let route = RouteSocket::open()?;
            route.add_address(interface, address, 24)?;
            route.bring_up(interface)
        };
        one.within(|| {
            let ends = (("a", [2, 0, 0, 0, 0, 1]), ("b", [2, 0, 0, 0, 0, 2]));
            RouteSocket::open()?.add_pair(ends.0, ends.1, other.as_fd(), 1500)?;
            up("a", addresses[0])
        })
        .unwrap();
        other.within(|| up("b", addresses[1])).unwrap();
        one.within(|| {
            let route = RouteSocket::open()?;
            // Refused, and the next question is answered.
            assert!(
                route
                    .interface_towards("198.51.100.1".parse().unwrap())
                    .is_err()
            );
            let index = route.interface_towards(addresses[1])?;
            assert_eq!(interface_name(index)?, "a");
            Ok(())
        })
        .unwrap();
        let receiver = other.within(|| UdpSocket::bind((addresses[1], 7))).unwrap();
        let long = std::time::Duration::from_secs(60);
        receiver.set_read_timeout(Some(long)).unwrap();
        let sender = one.within(|| UdpSocket::bind((addresses[0], 0))).unwrap();
        sender.send_to(b"across", (addresses[1], 7)).unwrap();
        let mut bytes = [0; 16];
        assert_eq!(receiver.recv(&mut bytes).unwrap(), 6);
    }

    #[test]
    fn a_reply_that_is_cut_short_is_none() {
        for length in 0..HEADER + 4 {
            assert_eq!(acknowledgement(&vec![2; length]), None);
        }
        let mut route = vec![0; HEADER + ROUTE_MESSAGE];
        route[4..6].copy_from_slice(&libc::RTM_NEWROUTE.to_ne_bytes());
        route.extend([8, 0, libc::RTA_DST as u8, 0, 127, 0, 0, 1]);
        route.extend([8, 0, libc::RTA_OIF as u8, 0]);
        route.extend(7u32.to_ne_bytes());
        assert_eq!(outgoing_interface(&route), Some(7));
        for length in 0..route.len() {
            assert_eq!(outgoing_interface(&route[..length]), None, "{length}");
        }
    }

    #[test]
    fn the_way_to_this_machine_is_the_loopback_interface() {
        let route = RouteSocket::open().unwrap();
        // Asked again: nothing of the first answer is left over.
        for _ in 0..2 {
            let index = route.interface_towards("127.0.0.1".parse().unwrap());
            assert_eq!(interface_name(index.unwrap()).unwrap(), "lo");
        }
    }

    #[test]
    fn an_interface_that_is_not_there_has_no_index() {
        assert!(interface_index("no-such-link").is_err());
        assert!(interface_index("lo").is_ok());
    }
}
