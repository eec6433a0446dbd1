//! io_uring(7): many sends a call, each on its own way down the stack.

use std::net::UdpSocket;

use knobstat_sys::net::RingSender;

use super::{Outlet, OutletError, refused};
use crate::workloads::udp::wire::Contents;

pub(super) struct Ring {
    socket: UdpSocket,
    size: usize,
    ring: RingSender,
    contents: Contents,
    refusals: u64,
}

impl Ring {
    /// # Errors
    /// When the kernel has no io_uring for us.
    pub(super) fn new(
        socket: UdpSocket,
        size: usize,
        count: usize,
        contents: Contents,
    ) -> Result<Self, OutletError> {
        let ring = RingSender::new(count, size).map_err(|source| OutletError::Unavailable {
            method: "io_uring",
            source,
            remedy: "set kernel.io_uring_disabled to 0, or choose \"sendmmsg\"",
        })?;
        Ok(Self {
            socket,
            size,
            ring,
            contents,
            refusals: 0,
        })
    }
}

impl Outlet for Ring {
    fn capacity(&self) -> usize {
        self.ring.capacity()
    }

    fn send(&mut self, first: u64, count: usize) -> Result<(), OutletError> {
        for index in 0..count {
            let payload = self.ring.payload_mut(index);
            self.contents.write(payload, first + index as u64);
        }
        self.ring
            .send(&self.socket, count, &mut self.refusals)
            .map_err(|error| refused(self.size, "io_uring", error))
    }

    fn refusals(&self) -> u64 {
        self.refusals
    }
}
