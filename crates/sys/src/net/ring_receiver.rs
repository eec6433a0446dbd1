//! Receiving through io_uring(7) with one request that never ends: multishot receive into a ring
//! of buffers. Linux 6.1.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;
use io_uring::{IoUring, cqueue, opcode, types};

use super::mapping::Mapping;

/// A socket's datagrams as they arrive.
pub struct RingReceiver {
    // Before the memory that the kernel was given.
    ring: IoUring,
    entries: Mapping,
    buffers: Mapping,
    size: usize,
    count: u16,
    tail: u16,
    is_armed: bool,
}

const GROUP: u16 = 0;
/// IORING_ENTER_GETEVENTS.
const GET_EVENTS: u32 = 1;

impl RingReceiver {
    /// Room for `count` datagrams (a power of two) of up to `size` bytes. To be made by the
    /// thread that receives.
    ///
    /// # Errors
    /// EINVAL or ENOSYS before Linux 6.1; EPERM where io_uring is forbidden.
    pub fn new(count: u16, size: usize) -> io::Result<Self> {
        let ring: IoUring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_cqsize(2 * u32::from(count))
            .build(8)?;
        // A buffer of nothing would be none.
        let size = size.max(8).next_multiple_of(8);
        let entries = Mapping::anonymous(usize::from(count) * size_of::<BufRingEntry>())?;
        let buffers = Mapping::anonymous(usize::from(count) * size)?;
        // SAFETY: page-aligned memory for `count` entries that outlives the ring: it is dropped
        // after it.
        unsafe {
            ring.submitter()
                .register_buf_ring_with_flags(entries.address(), count, GROUP, 0)?;
        }
        let mut receiver = Self {
            ring,
            entries,
            buffers,
            size,
            count,
            tail: 0,
            is_armed: false,
        };
        for buffer in 0..count {
            receiver.give_back(buffer);
        }
        Ok(receiver)
    }

    /// How many datagrams there is room for.
    pub fn capacity(&self) -> usize {
        usize::from(self.count)
    }

    /// Hands out what has arrived: each datagram's beginning, as far as there was room for it,
    /// and its length. Never waits; says how many there were.
    ///
    /// # Errors
    /// What the kernel says of the socket.
    pub fn receive_arrived(
        &mut self,
        socket: &UdpSocket,
        mut each: impl FnMut(&[u8], usize),
    ) -> io::Result<usize> {
        if !self.is_armed {
            let entry = opcode::RecvMulti::new(types::Fd(socket.as_raw_fd()), GROUP)
                .flags(libc::MSG_TRUNC)
                .build();
            // SAFETY: the request points to no memory but the registered ring of buffers.
            unsafe { self.ring.submission().push(&entry) }
                .map_err(|_| io::Error::from_raw_os_error(libc::ENOBUFS))?;
            self.is_armed = true;
            self.ring.submit()?;
        }
        // SAFETY: no argument is passed with the call.
        let entered = unsafe {
            self.ring
                .submitter()
                .enter::<libc::sigset_t>(0, 0, GET_EVENTS, None)
        };
        match entered {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        let mut count = 0;
        loop {
            let Some(completion) = self.ring.completion().next() else {
                return Ok(count);
            };
            if !cqueue::more(completion.flags()) {
                self.is_armed = false;
            }
            let buffer = cqueue::buffer_select(completion.flags());
            match (completion.result(), buffer) {
                (length, Some(buffer)) if length >= 0 => {
                    let length = length as usize;
                    let start = usize::from(buffer) * self.size;
                    each(self.buffers.bytes_mut(start, length.min(self.size)), length);
                    count += 1;
                    self.give_back(buffer);
                }
                // All buffers were in use: the request ended and is made again.
                (error, _) if error == -libc::ENOBUFS || error == -libc::EINTR => {}
                (error, _) if error < 0 => return Err(io::Error::from_raw_os_error(-error)),
                // A datagram of nothing takes no buffer.
                (_, _) => {
                    each(&[], 0);
                    count += 1;
                }
            }
        }
    }

    fn give_back(&mut self, buffer: u16) {
        let slot = usize::from(self.tail & (self.count - 1));
        let place = self
            .entries
            .at(slot * size_of::<BufRingEntry>(), size_of::<BufRingEntry>());
        let address = self.buffers.address() + (usize::from(buffer) * self.size) as u64;
        // SAFETY: an entry within the mapping, aligned as the page is, which the kernel does not
        // look at before the tail has moved over it.
        unsafe {
            let entry = &mut *place.as_ptr().cast::<BufRingEntry>();
            entry.set_addr(address);
            entry.set_len(self.size as u32);
            entry.set_bid(buffer);
        }
        self.tail = self.tail.wrapping_add(1);
        let base = self.entries.at(0, size_of::<BufRingEntry>());
        // SAFETY: the tail lies in the ring's first entry; both sides access it as one word.
        unsafe {
            let tail = BufRingEntry::tail(base.as_ptr().cast::<BufRingEntry>().cast_const());
            AtomicU16::from_ptr(tail.cast_mut()).store(self.tail, Ordering::Release);
        }
    }
}

/// Whether the kernel has what a multishot receive needs.
///
/// # Errors
/// What it says where it has not.
pub fn try_multishot_receive() -> io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    RingReceiver::new(2, 8)?
        .receive_arrived(&socket, |_, _| {})
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::patience::{Patience, receiver};

    #[test]
    fn more_datagrams_than_buffers_arrive_in_order_and_long_ones_tell_their_length() {
        let Ok(mut ring) = RingReceiver::new(4, 8) else {
            eprintln!("skipped: this kernel has no multishot receive for us");
            return;
        };
        let receiver = receiver();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = receiver.local_addr().unwrap();
        let mut none = 0;
        none += ring.receive_arrived(&receiver, |_, _| {}).unwrap();
        assert_eq!(none, 0);
        for index in 0..20u8 {
            sender.send_to(&[index; 9], to).unwrap();
        }
        let mut seen = Vec::new();
        let patience = Patience::new();
        while seen.len() < 20 {
            patience.must_last();
            ring.receive_arrived(&receiver, |bytes, length| {
                assert_eq!((bytes.len(), length), (8, 9));
                seen.push(bytes[0]);
            })
            .unwrap();
        }
        assert_eq!(seen, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn datagrams_of_nothing_are_handed_out_too() {
        let Ok(mut ring) = RingReceiver::new(4, 0) else {
            eprintln!("skipped: this kernel has no multishot receive for us");
            return;
        };
        let receiver = receiver();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = receiver.local_addr().unwrap();
        for payload in [&[][..], &[1], &[]] {
            sender.send_to(payload, to).unwrap();
        }
        let mut lengths = Vec::new();
        let patience = Patience::new();
        while lengths.len() < 3 {
            patience.must_last();
            ring.receive_arrived(&receiver, |_, length| lengths.push(length))
                .unwrap();
        }
        assert_eq!(lengths, [0, 1, 0]);
    }
}
