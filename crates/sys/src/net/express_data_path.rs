//! AF_XDP sending in copy mode: descriptors of frames in a ring, one system call for many.
//! The interface of linux/if_xdp.h, since Linux 5.4.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use super::frame::{Addressing, FRAME_HEADERS};
use super::mapping::Mapping;
use super::raw_socket::RawSocket;

/// The largest frame: a chunk of memory is at most a page.
pub const LARGEST_XDP_FRAME: usize = 4096;

/// Frames of one size that are sent again and again through an AF_XDP socket.
pub struct XdpSender {
    socket: RawSocket,
    // The kernel has this memory pinned as long as the socket lives.
    memory: Mapping,
    transmit: Ring,
    completed: Ring,
    /// The kernel wants one, though nothing is ever received.
    _fill: Ring,
    free: Vec<u32>,
    chunk: usize,
    frame: usize,
    slots: u32,
}

/// A ring shared with the kernel; `produced` and `consumed` are the two ends that each side moves.
struct Ring {
    mapping: Mapping,
    producer: usize,
    consumer: usize,
    entries: usize,
    mask: u32,
}

impl Ring {
    fn map(
        socket: &RawSocket,
        offsets: &libc::xdp_ring_offset,
        slots: u32,
        entry: usize,
        page_offset: i64,
    ) -> io::Result<Self> {
        let length = offsets.desc as usize + slots as usize * entry;
        Ok(Self {
            mapping: Mapping::shared(socket.as_fd(), length, page_offset)?,
            producer: offsets.producer as usize,
            consumer: offsets.consumer as usize,
            entries: offsets.desc as usize,
            mask: slots - 1,
        })
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: the kernel aligns its words; within the mapping; atomic on both sides.
        unsafe { AtomicU32::from_ptr(self.mapping.at(offset, 4).as_ptr().cast()) }
    }

    fn produced(&self) -> u32 {
        self.word(self.producer).load(Ordering::Acquire)
    }

    fn consumed(&self) -> u32 {
        self.word(self.consumer).load(Ordering::Acquire)
    }

    fn entry(&mut self, index: u32, size: usize) -> &mut [u8] {
        let offset = self.entries + (index & self.mask) as usize * size;
        self.mapping.bytes_mut(offset, size)
    }
}

const DESCRIPTOR: usize = size_of::<libc::xdp_desc>();
const ADDRESS: usize = size_of::<u64>();

impl XdpSender {
    /// Room for `slots` frames (a power of two) with payloads of `payload` bytes on the first
    /// queue of an interface of the network namespace of this thread.
    ///
    /// # Errors
    /// EPERM without CAP_NET_RAW; EAFNOSUPPORT where the kernel has no AF_XDP; EINVAL for a frame
    /// beyond [`LARGEST_XDP_FRAME`]; else what the kernel says.
    pub fn new(
        interface: u32,
        addressing: &Addressing,
        payload: usize,
        slots: u32,
    ) -> io::Result<Self> {
        let invalid = || io::Error::from_raw_os_error(libc::EINVAL);
        let headers = addressing.headers(payload).ok_or_else(invalid)?;
        let frame = FRAME_HEADERS + payload;
        if frame > LARGEST_XDP_FRAME || !slots.is_power_of_two() {
            return Err(invalid());
        }
        let chunk = if frame > 2048 { 4096 } else { 2048 };
        let socket = RawSocket::open(libc::AF_XDP)?;
        let mut memory = Mapping::anonymous(slots as usize * chunk)?;
        for slot in 0..slots as usize {
            memory
                .bytes_mut(slot * chunk, FRAME_HEADERS)
                .copy_from_slice(&headers);
        }
        // SAFETY: all zeros is a valid xdp_umem_reg.
        let mut region: libc::xdp_umem_reg = unsafe { std::mem::zeroed() };
        region.addr = memory.address();
        region.len = memory.length() as u64;
        region.chunk_size = chunk as u32;
        socket.set(libc::SOL_XDP, libc::XDP_UMEM_REG, &region)?;
        for ring in [
            libc::XDP_UMEM_FILL_RING,
            libc::XDP_UMEM_COMPLETION_RING,
            libc::XDP_TX_RING,
        ] {
            socket.set(libc::SOL_XDP, ring, &slots)?;
        }
        let offsets = ring_offsets(&socket)?;
        let fill = Ring::map(
            &socket,
            &offsets.fr,
            slots,
            ADDRESS,
            libc::XDP_UMEM_PGOFF_FILL_RING as i64,
        )?;
        let completed = Ring::map(
            &socket,
            &offsets.cr,
            slots,
            ADDRESS,
            libc::XDP_UMEM_PGOFF_COMPLETION_RING as i64,
        )?;
        let transmit = Ring::map(
            &socket,
            &offsets.tx,
            slots,
            DESCRIPTOR,
            libc::XDP_PGOFF_TX_RING,
        )?;
        bind(&socket, interface)?;
        Ok(Self {
            socket,
            memory,
            transmit,
            completed,
            _fill: fill,
            free: (0..slots).collect(),
            chunk,
            frame,
            slots,
        })
    }

    /// How many frames one call can send.
    pub fn capacity(&self) -> usize {
        self.slots as usize / 2
    }

    /// Sends `count` frames, each payload filled by `fill` from its place, 0 to `count - 1`.
    /// `waited` counts how often there was no room.
    ///
    /// # Errors
    /// What the kernel says.
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
        let mut produced = self.transmit.produced();
        for place in 0..count {
            let slot = self.free_slot(waited)?;
            let start = slot as usize * self.chunk;
            let payload = self
                .memory
                .bytes_mut(start + FRAME_HEADERS, self.frame - FRAME_HEADERS);
            fill(place, payload);
            // struct xdp_desc: address, length, options.
            let entry = self.transmit.entry(produced, DESCRIPTOR);
            entry[..8].copy_from_slice(&(start as u64).to_ne_bytes());
            entry[8..12].copy_from_slice(&(self.frame as u32).to_ne_bytes());
            entry[12..16].copy_from_slice(&0u32.to_ne_bytes());
            produced = produced.wrapping_add(1);
        }
        let producer = self.transmit.word(self.transmit.producer);
        producer.store(produced, Ordering::Release);
        while self.transmit.consumed() != produced {
            self.kick(waited)?;
        }
        Ok(())
    }

    fn free_slot(&mut self, waited: &mut u64) -> io::Result<u32> {
        loop {
            self.reclaim();
            if let Some(slot) = self.free.pop() {
                return Ok(slot);
            }
            *waited += 1;
            self.kick(waited)?;
        }
    }

    /// Takes back the slots whose frames have gone.
    fn reclaim(&mut self) {
        let produced = self.completed.produced();
        let mut consumed = self.completed.consumed();
        while consumed != produced {
            let entry = self.completed.entry(consumed, ADDRESS);
            let address = u64::from_ne_bytes(std::array::from_fn(|index| entry[index]));
            let slot = (address / self.chunk as u64) as u32;
            // As many were made room for in the beginning: no allocation.
            if slot < self.slots && self.free.len() < self.slots as usize {
                self.free.push(slot);
            }
            consumed = consumed.wrapping_add(1);
        }
        let consumer = self.completed.word(self.completed.consumer);
        consumer.store(consumed, Ordering::Release);
    }

    fn kick(&self, waited: &mut u64) -> io::Result<()> {
        let Err(error) = self.socket.kick() else {
            return Ok(());
        };
        match error.raw_os_error() {
            // A call sends no more than a budget: EAGAIN asks for another one.
            Some(libc::EAGAIN | libc::EINTR) => Ok(()),
            Some(libc::EBUSY | libc::ENOBUFS) => {
                *waited += 1;
                Ok(())
            }
            _ => Err(error),
        }
    }
}

fn bind(socket: &RawSocket, interface: u32) -> io::Result<()> {
    // SAFETY: all zeros is a valid sockaddr_xdp.
    let mut address: libc::sockaddr_xdp = unsafe { std::mem::zeroed() };
    address.sxdp_family = libc::AF_XDP as u16;
    address.sxdp_flags = libc::XDP_COPY;
    address.sxdp_ifindex = interface;
    socket.bind(&address)
}

fn ring_offsets(socket: &RawSocket) -> io::Result<libc::xdp_mmap_offsets> {
    // SAFETY: all zeros is a valid xdp_mmap_offsets.
    let mut offsets: libc::xdp_mmap_offsets = unsafe { std::mem::zeroed() };
    let mut length = size_of_val(&offsets) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to a struct of that many.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_XDP,
            libc::XDP_MMAP_OFFSETS,
            (&raw mut offsets).cast(),
            &raw mut length,
        )
    };
    if result == 0 && length as usize == size_of_val(&offsets) {
        Ok(offsets)
    } else if result == 0 {
        // Before Linux 5.4.
        Err(io::Error::from(io::ErrorKind::Unsupported))
    } else {
        Err(io::Error::last_os_error())
    }
}
