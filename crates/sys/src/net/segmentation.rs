//! UDP segmentation offload: one large buffer goes down the stack and is cut into datagrams late.
//! Linux 4.18; `UDP_SEGMENT` in udp(7).

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
    let size = libc::c_int::from(size);
    // SAFETY: the option's value is an int, which is what is passed and measured.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_UDP,
            libc::UDP_SEGMENT,
            (&raw const size).cast(),
            size_of_val(&size) as libc::socklen_t,
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

    #[test]
    fn one_buffer_arrives_as_many_datagrams() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        cut_datagrams_to(&sender, 100).unwrap();
        assert_eq!(sender.send(&[1; 250]).unwrap(), 250);
        let mut batch = ReceiveBatch::new(4, 100);
        let mut lengths = Vec::new();
        while lengths.len() < 3 {
            let count = batch.receive_blocking(&receiver).unwrap();
            lengths.extend((0..count).map(|index| batch.length(index)));
        }
        assert_eq!(lengths, [100, 100, 50]);
    }
}
