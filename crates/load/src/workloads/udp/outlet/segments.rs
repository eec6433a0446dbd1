//! UDP segmentation offload: one buffer of many datagrams that the kernel cuts late.

use std::net::UdpSocket;

use knobstat_sys::net::{cut_datagrams_to, send};

use super::{Outlet, OutletError, persist};
use crate::workloads::udp::wire::Contents;

pub(super) struct Segments {
    socket: UdpSocket,
    size: usize,
    buffer: Box<[u8]>,
    count: usize,
    contents: Contents,
    refusals: u64,
}

impl Segments {
    /// # Errors
    /// When the kernel has no such offload.
    pub(super) fn new(
        socket: UdpSocket,
        size: usize,
        count: usize,
        contents: Contents,
    ) -> Result<Self, OutletError> {
        // The options hold sizes to what a datagram carries, well within 16 bits.
        let segment = u16::try_from(size).unwrap_or(u16::MAX);
        cut_datagrams_to(&socket, segment).map_err(OutletError::NoSegmentation)?;
        Ok(Self {
            socket,
            size,
            buffer: vec![0; size * count].into_boxed_slice(),
            count,
            contents,
            refusals: 0,
        })
    }
}

impl Outlet for Segments {
    fn capacity(&self) -> usize {
        self.count
    }

    fn send(&mut self, first: u64, count: usize) -> Result<(), OutletError> {
        let buffer = &mut self.buffer[..count * self.size];
        for (index, payload) in buffer.chunks_exact_mut(self.size).enumerate() {
            self.contents.write(payload, first + index as u64);
        }
        persist(self.size, "gso", &mut self.refusals, || {
            send(&self.socket, buffer)
        })?;
        Ok(())
    }

    fn refusals(&self) -> u64 {
        self.refusals
    }
}
