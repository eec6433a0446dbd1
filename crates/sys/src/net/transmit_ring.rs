//! PACKET_TX_RING of packet(7): frames laid into memory shared with the kernel, sent by one call.
//!
//! The kernel builds packets whose data stay in the ring, and calls a slot free again when the
//! packet reaches the receiving stack, before the receiver has read it. So that a number is not
//! overwritten under the reader, each slot begins with a virtio-net header (PACKET_VNET_HDR)
//! whose header length makes the kernel copy the beginning of the payload as well.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, Ordering};

use super::frame::{Addressing, FRAME_HEADERS};
use super::mapping::Mapping;
use super::raw_socket::RawSocket;

/// The bytes of a payload that are copied when a frame is sent; what is behind them has to stay
/// the same from frame to frame.
pub const COPIED_PAYLOAD: usize = 64;

/// Frames of one size that are sent again and again through a ring.
pub struct TransmitRing {
    socket: RawSocket,
    ring: Mapping,
    slot_size: usize,
    slots: usize,
    next: usize,
    payload: usize,
}

// Of linux/if_packet.h: struct tpacket2_hdr begins with status and length, and a slot's data
// follow its 32 bytes.
const STATUS: usize = 0;
const LENGTH: usize = 4;
const DATA: usize = 32;
const AVAILABLE: u32 = 0;
const SEND_REQUEST: u32 = 1;
const WRONG_FORMAT: u32 = 4;
/// struct virtio_net_hdr; its field hdr_len stands behind two bytes.
const VIRTIO_HEADER: usize = 10;
const VIRTIO_HEADER_LENGTH: usize = 2;
const PAGE: usize = 4096;

impl TransmitRing {
    /// A ring of `slots` frames (a power of two) with payloads of `payload` bytes on an interface
    /// of the network namespace of this thread.
    ///
    /// # Errors
    /// EPERM without CAP_NET_RAW; EINVAL for a payload that no frame carries; else what the
    /// kernel says.
    pub fn new(
        interface: u32,
        addressing: &Addressing,
        payload: usize,
        slots: usize,
    ) -> io::Result<Self> {
        let headers = addressing
            .headers(payload)
            .ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        let frame = FRAME_HEADERS + payload;
        let slot_size = (DATA + VIRTIO_HEADER + frame).next_power_of_two().max(128);
        let block_size = slot_size.max(PAGE);
        // Enough slots that they fill whole blocks.
        let slots = slots.next_power_of_two().max(block_size / slot_size);
        let socket = RawSocket::open(libc::AF_PACKET)?;
        let set = |option, value: u32| socket.set(libc::SOL_PACKET, option, &value);
        set(libc::PACKET_VERSION, 1)?; // TPACKET_V2
        set(libc::PACKET_VNET_HDR, 1)?;
        set(libc::PACKET_QDISC_BYPASS, 1)?;
        let request = libc::tpacket_req {
            tp_block_size: block_size as u32,
            tp_block_nr: (slots * slot_size / block_size) as u32,
            tp_frame_size: slot_size as u32,
            tp_frame_nr: slots as u32,
        };
        socket.set(libc::SOL_PACKET, libc::PACKET_TX_RING, &request)?;
        bind(&socket, interface)?;
        let mut ring = Mapping::shared(socket.as_fd(), slots * slot_size, 0)?;
        let copied = FRAME_HEADERS + payload.min(COPIED_PAYLOAD);
        for slot in 0..slots {
            let bytes = ring.bytes_mut(slot * slot_size, slot_size);
            bytes[LENGTH..LENGTH + 4]
                .copy_from_slice(&((VIRTIO_HEADER + frame) as u32).to_ne_bytes());
            let data = &mut bytes[DATA..];
            data[VIRTIO_HEADER_LENGTH..VIRTIO_HEADER_LENGTH + 2]
                .copy_from_slice(&(copied as u16).to_ne_bytes());
            data[VIRTIO_HEADER..][..FRAME_HEADERS].copy_from_slice(&headers);
        }
        Ok(Self {
            socket,
            ring,
            slot_size,
            slots,
            next: 0,
            payload,
        })
    }

    /// How many frames one call can send.
    pub fn capacity(&self) -> usize {
        self.slots / 2
    }

    /// Sends `count` frames, each payload's beginning (at most [`COPIED_PAYLOAD`] bytes) filled by
    /// `fill` from its place, 0 to `count - 1`. `waited` counts how often there was no room.
    ///
    /// # Errors
    /// What the kernel says of a frame that it refuses.
    ///
    /// # Panics
    /// When `count` is beyond the capacity.
    pub fn send(
        &mut self,
        count: usize,
        waited: &mut u64,
        mut fill: impl FnMut(usize, &mut [u8]),
    ) -> io::Result<()> {
        assert!(count <= self.capacity(), "beyond the capacity");
        let first = self.next;
        for place in 0..count {
            let slot = (first + place) % self.slots;
            self.wait_for(slot, waited)?;
            let start = slot * self.slot_size + DATA + VIRTIO_HEADER + FRAME_HEADERS;
            let visible = self.payload.min(COPIED_PAYLOAD);
            fill(place, self.ring.bytes_mut(start, visible));
            self.status(slot).store(SEND_REQUEST, Ordering::Release);
        }
        self.next = (first + count) % self.slots;
        if count > 0 {
            // The kernel sends in order: with the last gone, all are.
            let last = (first + count - 1) % self.slots;
            self.kick(waited)?;
            self.wait_for(last, waited)?;
        }
        Ok(())
    }

    fn wait_for(&self, slot: usize, waited: &mut u64) -> io::Result<()> {
        loop {
            match self.status(slot).load(Ordering::Acquire) {
                AVAILABLE => return Ok(()),
                status if status & WRONG_FORMAT != 0 => {
                    return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
                }
                _ => {
                    *waited += 1;
                    self.kick(waited)?;
                }
            }
        }
    }

    fn kick(&self, waited: &mut u64) -> io::Result<()> {
        let Err(error) = self.socket.kick() else {
            return Ok(());
        };
        match error.raw_os_error() {
            Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR) => {
                *waited += 1;
                Ok(())
            }
            _ => Err(error),
        }
    }

    fn status(&self, slot: usize) -> &AtomicU32 {
        let place = self.ring.at(slot * self.slot_size + STATUS, 4);
        // SAFETY: aligned (slots are), within the mapping, and read or written by this process
        // and the kernel as one word.
        unsafe { AtomicU32::from_ptr(place.as_ptr().cast()) }
    }
}

fn bind(socket: &RawSocket, interface: u32) -> io::Result<()> {
    // SAFETY: all zeros is a valid sockaddr_ll.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = 0;
    address.sll_ifindex = i32::try_from(interface).unwrap_or(i32::MAX);
    socket.bind(&address)
}
