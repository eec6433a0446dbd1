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
    size: usize,
}

impl ReceiveBatch {
    /// Room for `count` datagrams of up to `size` bytes; longer ones are cut short, and
    /// [`ReceiveBatch::length`] still says how long they were.
    pub fn new(count: usize, size: usize) -> Self {
        let slots = Slots::new(count, size);
        Self {
            headers: slots.headers(),
            slots,
            size,
        }
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
        // SAFETY: the headers are initialised mmsghdr, whose iovecs and buffers live in `slots`
        // for as long as self; &mut self keeps every borrow of the buffers away while the kernel
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

    /// The bytes of a datagram of the last call, as far as there was room for them.
    ///
    /// # Panics
    /// When `index` is not below the capacity.
    pub fn datagram(&self, index: usize) -> &[u8] {
        self.slots.slot(index, self.length(index).min(self.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_queue_is_no_error_and_a_cut_datagram_tells_its_length() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
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
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        receiver
            .set_read_timeout(Some(std::time::Duration::from_millis(1)))
            .unwrap();
        let mut batch = ReceiveBatch::new(1, 8);
        assert_eq!(batch.receive_blocking(&receiver).unwrap(), 0);
    }
}
