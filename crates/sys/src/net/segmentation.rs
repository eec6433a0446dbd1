//! UDP segmentation offload: one large buffer goes down the stack and is cut into datagrams late.
//! Linux 4.18 and, for receiving, 5.0; `UDP_SEGMENT` and `UDP_GRO` in udp(7).

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

/// The most datagrams that every kernel with this offload cuts from one buffer
/// (UDP_MAX_SEGMENTS; 128 since Linux 6.9).
pub const MOST_SEGMENTS: usize = 64;

/// The largest buffer that is cut: what an IPv4 packet carries behind its headers.
pub const LARGEST_BUFFER: usize = 65_507;

/// Makes every buffer sent on this socket be cut into datagrams of `size` bytes, the last one
/// shorter where it does not divide.
///
/// # Errors
/// ENOPROTOOPT where the kernel lacks the offload, EINVAL beyond its range.
pub fn cut_datagrams_to(socket: &UdpSocket, size: u16) -> io::Result<()> {
    set_option(socket, libc::UDP_SEGMENT, size.into())
}

/// Lets this socket receive a buffer that was not cut on its way as the one piece that it is.
///
/// # Errors
/// ENOPROTOOPT where the kernel has no such thing.
pub fn accept_uncut(socket: &UdpSocket) -> io::Result<()> {
    set_option(socket, libc::UDP_GRO, 1)
}

fn set_option(socket: &UdpSocket, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: the values of both options are ints, which is what is passed and measured.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_UDP,
            option,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::ReceiveBatch;
    use crate::net::patience::{Patience, receiver};

    #[test]
    fn one_buffer_arrives_as_many_datagrams() {
        let receiver = receiver();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        cut_datagrams_to(&sender, 100).unwrap();
        assert_eq!(sender.send(&[1; 250]).unwrap(), 250);
        let mut batch = ReceiveBatch::new(4, 100);
        let mut lengths = Vec::new();
        let patience = Patience::new();
        while lengths.len() < 3 {
            patience.must_last();
            let count = batch.receive_blocking(&receiver).unwrap();
            lengths.extend((0..count).map(|index| batch.length(index)));
        }
        assert_eq!(lengths, [100, 100, 50]);
    }
}
