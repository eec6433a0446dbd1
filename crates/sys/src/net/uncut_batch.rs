//! Buffers that were not cut on their way: recvmmsg(2) on a socket that accepts them (UDP_GRO).

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use super::slots::Slots;

/// Room for whole buffers, each of many datagrams of one size.
pub struct UncutBatch {
    // Before what the headers point into.
    headers: Box<[libc::mmsghdr]>,
    slots: Slots,
    controls: Slots,
}

/// The largest buffer that is received whole.
const BUFFER: usize = 65_535;

/// CMSG_SPACE of an int, on every architecture with 64-bit pointers.
const CONTROL: usize = 24;

impl UncutBatch {
    /// Room for `count` buffers.
    pub fn new(count: usize) -> Self {
        let slots = Slots::new(count, BUFFER);
        let mut controls = Slots::new(count, CONTROL);
        let mut headers = slots.headers();
        for (index, header) in headers.iter_mut().enumerate() {
            header.msg_hdr.msg_control = controls.slot_mut(index).as_mut_ptr().cast();
        }
        Self {
            headers,
            slots,
            controls,
        }
    }

    /// How many buffers one call can receive.
    pub fn capacity(&self) -> usize {
        self.slots.count()
    }

    /// Takes what has already arrived, and never waits. Zero when nothing has.
    ///
    /// # Errors
    /// What recvmmsg(2) says, an empty queue and an interruption apart.
    pub fn receive_arrived(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        for header in &mut self.headers {
            header.msg_hdr.msg_controllen = CONTROL;
        }
        // SAFETY: the headers are initialised mmsghdr, whose iovecs, buffers and control buffers
        // live in self; &mut self keeps every borrow of them away while the kernel writes.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                self.headers.len() as libc::c_uint,
                libc::MSG_DONTWAIT as _,
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

    /// The datagrams of a buffer of the last call: the whole buffer, and the length at which it
    /// is to be cut. A buffer of one datagram has that datagram's length.
    ///
    /// # Panics
    /// When `index` is not below the capacity.
    pub fn buffer(&self, index: usize) -> (&[u8], usize) {
        let header = &self.headers[index];
        let length = (header.msg_len as usize).min(BUFFER);
        let filled = header.msg_hdr.msg_controllen.min(CONTROL);
        let segment = segment_length(self.controls.slot(index, filled))
            .filter(|&segment| segment > 0 && segment < length)
            .unwrap_or(length);
        (self.slots.slot(index, length), segment)
    }
}

/// The value of a control message of the kind UDP_GRO: struct cmsghdr, then an int.
fn segment_length(control: &[u8]) -> Option<usize> {
    let word = |at: usize| {
        Some(i32::from_ne_bytes(
            control.get(at..at + 4)?.try_into().ok()?,
        ))
    };
    if word(8)? != libc::SOL_UDP || word(12)? != libc::UDP_GRO {
        return None;
    }
    usize::try_from(word(16)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::patience::{Patience, receiver};
    use crate::net::{accept_uncut, cut_datagrams_to};

    #[test]
    fn a_buffer_of_many_arrives_whole_and_says_where_to_cut() {
        let receiver = receiver();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        accept_uncut(&receiver).unwrap();
        cut_datagrams_to(&sender, 100).unwrap();
        sender.send(&[3; 250]).unwrap();
        let mut batch = UncutBatch::new(4);
        let patience = Patience::new();
        while batch.receive_arrived(&receiver).unwrap() == 0 {
            patience.must_last();
        }
        assert_eq!(batch.buffer(0), (&[3; 250][..], 100));
    }

    #[test]
    fn without_a_control_message_there_is_one_datagram() {
        let mut control = [0; CONTROL];
        assert_eq!(segment_length(&control), None);
        assert_eq!(segment_length(&control[..10]), None);
        control[8..12].copy_from_slice(&libc::SOL_UDP.to_ne_bytes());
        control[12..16].copy_from_slice(&libc::UDP_GRO.to_ne_bytes());
        control[16..20].copy_from_slice(&1280i32.to_ne_bytes());
        assert_eq!(segment_length(&control), Some(1280));
        control[16..20].copy_from_slice(&(-1i32).to_ne_bytes());
        assert_eq!(segment_length(&control), None);
    }
}
