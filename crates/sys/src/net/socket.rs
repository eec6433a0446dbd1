//! Options of a UDP socket that the standard library does not reach.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use rustix::net::{SendFlags, sockopt};

/// Asks for a receive buffer and says what was granted, in bytes as the kernel accounts them:
/// it doubles what is asked, and charges each datagram for the memory around it as well.
///
/// The limit of the machine (net.core.rmem_max) is exceeded where the process may
/// (CAP_NET_ADMIN), and is the most to be had otherwise.
///
/// # Errors
/// When the socket takes no such option.
pub fn request_receive_buffer(socket: &UdpSocket, bytes: usize) -> io::Result<usize> {
    if sockopt::set_socket_recv_buffer_size_force(socket, bytes).is_err() {
        sockopt::set_socket_recv_buffer_size(socket, bytes)?;
    }
    Ok(sockopt::socket_recv_buffer_size(socket)?)
}

/// Sends one datagram, or one buffer to be cut, on a connected socket; the system call and nothing
/// else. The C library makes every send(2) of a process with threads a cancellation point, at a cost
/// of some dozens of nanoseconds each.
///
/// # Errors
/// What send(2) says.
#[inline]
pub fn send(socket: &UdpSocket, payload: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(socket, payload, SendFlags::NOSIGNAL)?)
}

/// Marks what is sent with a differentiated services code point, 0 to 63.
///
/// # Errors
/// When the socket refuses it.
pub fn set_differentiated_services(socket: &UdpSocket, code_point: u8) -> io::Result<()> {
    // The code point is the upper six bits; the lower two are congestion notification's.
    let octet = code_point << 2;
    if socket.local_addr()?.is_ipv4() {
        sockopt::set_ip_tos(socket, octet)?;
    } else {
        sockopt::set_ipv6_tclass(socket, u32::from(octet))?;
    }
    Ok(())
}

/// The largest packet, headers included, that the route of a connected socket takes whole.
///
/// # Errors
/// When the socket is not connected.
pub fn route_mtu(socket: &UdpSocket) -> io::Result<u32> {
    Ok(if socket.local_addr()?.is_ipv4() {
        sockopt::ip_mtu(socket)?
    } else {
        sockopt::ipv6_mtu(socket)?
    })
}

/// Makes the kernel attach the time of its arrival to each datagram (SO_TIMESTAMPNS).
///
/// # Errors
/// When the socket takes no such option.
pub fn stamp_arrivals(socket: &UdpSocket) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option's value is an int, which is what is passed and measured.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// What the kernel holds and has dropped for a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketMemory {
    /// The bytes that its receive queue takes of the buffer, as the kernel accounts them; up to a
    /// quarter of the buffer may be of datagrams that were read already.
    pub receive_queue: u32,
    /// How many datagrams it has dropped since it was made, a full receive buffer being the usual
    /// cause.
    pub drops: u32,
}

/// Reads a socket's memory by SO_MEMINFO.
///
/// The drops are the counter that SO_RXQ_OVFL attaches to datagrams that arrive later. Read this
/// way it costs nothing per packet and counts drops after the last arrival too.
///
/// # Errors
/// Where the kernel has no SO_MEMINFO (before Linux 4.12).
pub fn memory(socket: &UdpSocket) -> io::Result<SocketMemory> {
    // SK_MEMINFO_RMEM_ALLOC, SK_MEMINFO_DROPS and SK_MEMINFO_VARS of linux/sock_diag.h.
    const RECEIVE_QUEUE: usize = 0;
    const DROPS: usize = 8;
    let mut values = [0u32; 9];
    let mut length = size_of_val(&values) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to an array of that many.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            values.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    if (length as usize) < size_of_val(&values) {
        return Err(io::Error::from(io::ErrorKind::Unsupported));
    }
    Ok(SocketMemory {
        receive_queue: values[RECEIVE_QUEUE],
        drops: values[DROPS],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::patience::receiver;

    fn pair() -> (UdpSocket, UdpSocket) {
        let receiver = receiver();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        (sender, receiver)
    }

    #[test]
    fn what_overflows_a_small_buffer_is_counted_as_dropped() {
        let (sender, receiver) = pair();
        let granted = request_receive_buffer(&receiver, 4096).unwrap();
        assert!(granted >= 4096, "{granted}");
        let packets = 2 * granted / 1000;
        for _ in 0..packets {
            sender.send(&[0; 1000]).unwrap();
        }
        let memory = memory(&receiver).unwrap();
        let dropped = memory.drops as usize;
        assert!(dropped > 0 && dropped < packets, "{dropped} of {packets}");
        assert!(memory.receive_queue as usize > granted / 2, "{memory:?}");
    }

    #[test]
    fn what_is_sent_arrives_and_what_nobody_takes_is_an_error() {
        let (sender, receiver) = pair();
        assert_eq!(send(&sender, b"four").unwrap(), 4);
        assert_eq!(receiver.recv(&mut [0; 8]).unwrap(), 4);
        let unconnected = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert!(send(&unconnected, b"four").is_err());
    }

    #[test]
    fn the_route_of_a_connected_socket_has_an_mtu() {
        let (sender, receiver) = pair();
        assert!(route_mtu(&sender).unwrap() >= 576);
        assert!(route_mtu(&receiver).is_err());
    }

    #[test]
    fn a_code_point_lands_in_the_upper_six_bits() {
        let (sender, _receiver) = pair();
        set_differentiated_services(&sender, 46).unwrap();
        assert_eq!(sockopt::ip_tos(&sender).unwrap(), 46 << 2);
    }
}
