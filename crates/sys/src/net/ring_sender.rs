//! Many datagrams in one system call through io_uring(7).

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types};

use super::slots::Slots;

/// Datagrams of one size, made once and sent again and again on a connected socket.
pub struct RingSender {
    // Before the slots, which what was submitted points into.
    ring: IoUring,
    slots: Slots,
    /// The datagrams of a call that are still to be sent, by their index.
    left: Vec<usize>,
}

impl RingSender {
    /// Room for `count` datagrams of `size` bytes, all zeros.
    ///
    /// # Errors
    /// ENOSYS or EPERM where the kernel has no io_uring or forbids it (kernel.io_uring_disabled).
    pub fn new(count: usize, size: usize) -> io::Result<Self> {
        let entries = u32::try_from(count).unwrap_or(u32::MAX);
        Ok(Self {
            ring: IoUring::builder().setup_submit_all().build(entries)?,
            slots: Slots::new(count, size),
            left: Vec::with_capacity(count),
        })
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

    /// Sends the first `count` datagrams; all have gone when it returns. `waited` counts how
    /// often there was no room for one.
    ///
    /// # Errors
    /// What the kernel says of a datagram that it refuses for another reason.
    ///
    /// # Panics
    /// When `count` is beyond the capacity.
    pub fn send(&mut self, socket: &UdpSocket, count: usize, waited: &mut u64) -> io::Result<()> {
        assert!(count <= self.capacity(), "beyond the capacity");
        self.left.clear();
        self.left.extend(0..count);
        let descriptor = types::Fd(socket.as_raw_fd());
        let mut refused = None;
        while !self.left.is_empty() && refused.is_none() {
            let submitted = self.left.len();
            for &index in &self.left {
                let payload = self.slots.slot_mut(index);
                let entry = opcode::Send::new(descriptor, payload.as_ptr(), payload.len() as u32)
                    .flags(libc::MSG_NOSIGNAL)
                    .build()
                    .user_data(index as u64);
                // SAFETY: the payload lives in `slots` as long as self, and is touched by nobody
                // until all that was submitted has completed, which is waited for below.
                unsafe { self.ring.submission().push(&entry) }
                    .map_err(|_| io::Error::from_raw_os_error(libc::ENOBUFS))?;
            }
            self.left.clear();
            let mut completed = 0;
            while completed < submitted {
                match self.ring.submit_and_wait(submitted - completed) {
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
                for completion in self.ring.completion() {
                    completed += 1;
                    match -completion.result() {
                        libc::EAGAIN | libc::ENOBUFS | libc::EINTR => {
                            *waited += 1;
                            self.left.push(completion.user_data() as usize);
                        }
                        errno if errno > 0 => {
                            refused.get_or_insert(io::Error::from_raw_os_error(errno));
                        }
                        _ => {}
                    }
                }
            }
        }
        refused.map_or(Ok(()), Err)
    }
}

/// Whether the kernel lets this process have an io_uring at all.
///
/// # Errors
/// What it says where it does not.
pub fn try_io_uring() -> io::Result<()> {
    IoUring::new(2).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::ReceiveBatch;
    use crate::net::patience::{Patience, receiver};

    #[test]
    fn what_was_filled_arrives() {
        let Ok(mut ring) = RingSender::new(4, 3) else {
            eprintln!("skipped: this kernel has no io_uring for us");
            return;
        };
        let receiver = receiver();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        for index in 0..4 {
            ring.payload_mut(index).copy_from_slice(&[index as u8; 3]);
        }
        ring.send(&sender, 4, &mut 0).unwrap();
        let mut received = ReceiveBatch::new(8, 16);
        let mut seen = Vec::new();
        let patience = Patience::new();
        while seen.len() < 4 {
            patience.must_last();
            let count = received.receive_blocking(&receiver).unwrap();
            seen.extend((0..count).map(|index| received.datagram(index)[0]));
        }
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3]);
    }

    #[test]
    fn a_datagram_that_is_refused_is_an_error_and_no_endless_loop() {
        let Ok(mut ring) = RingSender::new(2, 3) else {
            return;
        };
        let unconnected = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert!(ring.send(&unconnected, 2, &mut 0).is_err());
    }
}
