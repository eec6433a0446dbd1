//! Many datagrams in one system call: sendmmsg(2).

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use super::slots::Slots;

/// Datagrams of one size, made once and sent again and again on a connected socket.
pub struct SendBatch {
    // Before the slots, which the headers point into.
    headers: Box<[libc::mmsghdr]>,
    slots: Slots,
}

impl SendBatch {
    /// Room for `count` datagrams of `size` bytes, all zeros.
    pub fn new(count: usize, size: usize) -> Self {
        let slots = Slots::new(count, size);
        Self {
            headers: slots.headers(),
            slots,
        }
    }

    /// How many datagrams one call can send.
    pub fn capacity(&self) -> usize {
        self.slots.count()
    }

    /// The payload of a datagram, to be filled before it is sent.
    ///
    /// # Panics
    /// When `index` is not below the capacity.
    pub fn payload_mut(&mut self, index: usize) -> &mut [u8] {
        self.slots.slot_mut(index)
    }

    /// Sends the datagrams of a range, in order, and says how many the kernel took: fewer than
    /// asked when a later one met an error, which the next call will then report.
    ///
    /// # Errors
    /// What sendmmsg(2) says of the first datagram of the range.
    ///
    /// # Panics
    /// When the range does not lie within the batch.
    pub fn send(&mut self, socket: &UdpSocket, range: std::ops::Range<usize>) -> io::Result<usize> {
        let headers = &mut self.headers[range];
        // SAFETY: the headers are `headers.len()` initialised mmsghdr, whose iovecs and payloads
        // live in `slots` for as long as self; the kernel reads the payloads and writes only
        // msg_len.
        let sent = unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                headers.len() as libc::c_uint,
                libc::MSG_NOSIGNAL as _,
            )
        };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::ReceiveBatch;
    use crate::net::patience::{Patience, receiver};

    #[test]
    fn a_batch_arrives_as_it_was_filled_and_can_be_sent_in_parts() {
        let receiver = receiver();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        let mut batch = SendBatch::new(5, 3);
        for index in 0..5 {
            batch.payload_mut(index).copy_from_slice(&[index as u8; 3]);
        }
        assert_eq!(batch.send(&sender, 0..3).unwrap(), 3);
        assert_eq!(batch.send(&sender, 3..5).unwrap(), 2);
        let mut received = ReceiveBatch::new(8, 16);
        let mut seen = Vec::new();
        let patience = Patience::new();
        while seen.len() < 5 {
            patience.must_last();
            let count = received.receive_blocking(&receiver).unwrap();
            seen.extend((0..count).map(|index| received.datagram(index).to_vec()));
        }
        assert_eq!(seen, (0..5).map(|n| vec![n; 3]).collect::<Vec<_>>());
    }

    #[test]
    fn datagrams_of_nothing_are_datagrams_too() {
        let receiver = receiver();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        assert_eq!(SendBatch::new(2, 0).send(&sender, 0..2).unwrap(), 2);
        let mut received = ReceiveBatch::new(2, 0);
        let mut count = 0;
        let patience = Patience::new();
        while count < 2 {
            patience.must_last();
            count += received.receive_blocking(&receiver).unwrap();
            assert!(received.datagram(0).is_empty());
        }
    }
}
