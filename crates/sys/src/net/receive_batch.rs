//! Many datagrams out of one system call: recvmmsg(2).

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use super::slots::Slots;

/// Room for datagrams that is made once and filled again and again.
pub struct ReceiveBatch {
    // Before the slots, which the headers point into.
    headers: Box<[libc::mmsghdr]>,
    slots: Slots,
    /// Room for the kernel's time of each arrival, where it is asked for.
    times: Option<Slots>,
    size: usize,
}

/// CMSG_SPACE of a timespec, on every architecture with 64-bit pointers.
const TIME: usize = 32;

impl ReceiveBatch {
    /// Room for `count` datagrams of up to `size` bytes; longer ones are cut short, and
    /// [`ReceiveBatch::length`] still says how long they were.
    pub fn new(count: usize, size: usize) -> Self {
        let slots = Slots::new(count, size);
        Self {
            headers: slots.headers(),
            slots,
            times: None,
            size,
        }
    }

    /// As [`ReceiveBatch::new`], and keeps the time of each arrival that the kernel attaches to
    /// datagrams of a socket that was told to: [`stamp_arrivals`](super::stamp_arrivals).
    pub fn with_times(count: usize, size: usize) -> Self {
        let mut batch = Self::new(count, size);
        let mut times = Slots::new(count, TIME);
        for (index, header) in batch.headers.iter_mut().enumerate() {
            header.msg_hdr.msg_control = times.slot_mut(index).as_mut_ptr().cast();
        }
        batch.times = Some(times);
        batch
    }

    /// How many datagrams one call can receive.
    pub fn capacity(&self) -> usize {
        self.slots.count()
    }

    /// Takes what has already arrived, and never waits. Zero when nothing has.
    ///
    /// # Errors
    /// What recvmmsg(2) says, an empty queue and an interruption apart.
    pub fn receive_arrived(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.receive(socket, libc::MSG_DONTWAIT)
    }

    /// Waits for one datagram, then takes what has arrived with it. Zero when the socket's read
    /// timeout passed or a signal came first.
    ///
    /// # Errors
    /// What recvmmsg(2) says otherwise.
    pub fn receive_blocking(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.receive(socket, libc::MSG_WAITFORONE)
    }

    fn receive(&mut self, socket: &UdpSocket, flags: libc::c_int) -> io::Result<usize> {
        if self.times.is_some() {
            for header in &mut self.headers {
                header.msg_hdr.msg_controllen = TIME;
            }
        }
        // SAFETY: the headers are initialised mmsghdr, whose iovecs and buffers live in `slots`
        // and `times` for as long as self; &mut self keeps every borrow of the buffers away while the kernel
        // writes them. MSG_TRUNC makes msg_len the datagram's own length. No timeout is given.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                self.headers.len() as libc::c_uint,
                (flags | libc::MSG_TRUNC) as _,
                std::ptr::null_mut(),
            )
        };
        usize::try_from(received).or_else(|_| {
            let error = io::Error::last_os_error();
            match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(0),
                _ => Err(error),
            }
        })
    }

    /// How long a datagram of the last call was, even where it was cut short.
    ///
    /// # Panics
    /// When `index` is not below the capacity.
    pub fn length(&self, index: usize) -> usize {
        self.headers[index].msg_len as usize
    }

    /// When a datagram of the last call arrived, in nanoseconds of CLOCK_REALTIME; absent where
    /// the kernel did not say.
    ///
    /// # Panics
    /// When `index` is not below the capacity.
    #[inline]
    pub fn time(&self, index: usize) -> Option<u64> {
        let times = self.times.as_ref()?;
        let filled = self.headers[index].msg_hdr.msg_controllen.min(TIME);
        arrival_time(times.slot(index, filled))
    }

    /// The bytes of a datagram of the last call, as far as there was room for them.
    ///
    /// # Panics
    /// When `index` is not below the capacity.
    pub fn datagram(&self, index: usize) -> &[u8] {
        self.slots.slot(index, self.length(index).min(self.size))
    }
}

/// The value of a control message of the kind SCM_TIMESTAMPNS: struct cmsghdr, then a timespec.
fn arrival_time(control: &[u8]) -> Option<u64> {
    let word = |at: usize| {
        Some(i32::from_ne_bytes(
            control.get(at..at + 4)?.try_into().ok()?,
        ))
    };
    let long = |at: usize| {
        Some(i64::from_ne_bytes(
            control.get(at..at + 8)?.try_into().ok()?,
        ))
    };
    if word(8)? != libc::SOL_SOCKET || word(12)? != libc::SCM_TIMESTAMPNS {
        return None;
    }
    let seconds = u64::try_from(long(16)?).ok()?;
    let nanoseconds = u64::try_from(long(24)?).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::patience::{Patience, receiver};

    #[test]
    fn a_stamped_arrival_tells_its_time() {
        let receiver = receiver();
        crate::net::stamp_arrivals(&receiver).unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut batch = ReceiveBatch::with_times(4, 8);
        let to = receiver.local_addr().unwrap();
        for _ in 0..2 {
            sender.send_to(&[7; 8], to).unwrap();
        }
        let mut times = Vec::new();
        let patience = Patience::new();
        while times.len() < 2 {
            patience.must_last();
            let count = batch.receive_blocking(&receiver).unwrap();
            times.extend((0..count).map(|index| batch.time(index).unwrap()));
        }
        assert!(times[0] <= times[1]);
        assert_eq!(arrival_time(&[0; TIME]), None);
        assert_eq!(arrival_time(&[]), None);
    }

    #[test]
    fn an_empty_queue_is_no_error_and_a_cut_datagram_tells_its_length() {
        let receiver = receiver();
        let mut batch = ReceiveBatch::new(4, 8);
        assert_eq!(batch.receive_arrived(&receiver).unwrap(), 0);
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender
            .send_to(&[7; 20], receiver.local_addr().unwrap())
            .unwrap();
        assert_eq!(batch.receive_blocking(&receiver).unwrap(), 1);
        assert_eq!(batch.length(0), 20);
        assert_eq!(batch.datagram(0), [7; 8]);
    }

    #[test]
    fn a_read_timeout_ends_a_wait_with_nothing() {
        let receiver = receiver();
        receiver
            .set_read_timeout(Some(std::time::Duration::from_millis(1)))
            .unwrap();
        let mut batch = ReceiveBatch::new(1, 8);
        assert_eq!(batch.receive_blocking(&receiver).unwrap(), 0);
    }
}
