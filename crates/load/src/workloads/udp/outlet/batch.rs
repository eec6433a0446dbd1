//! sendmmsg(2): many datagrams a call, each on its own way down the stack.

use std::net::UdpSocket;

use knobstat_sys::net::SendBatch;

use super::{Outlet, OutletError, persist};
use crate::workloads::udp::wire::Contents;

pub(super) struct Batch {
    socket: UdpSocket,
    size: usize,
    batch: SendBatch,
    contents: Contents,
    refusals: u64,
}

impl Batch {
    pub(super) fn new(socket: UdpSocket, size: usize, count: usize, contents: Contents) -> Self {
        Self {
            socket,
            size,
            batch: SendBatch::new(count, size),
            contents,
            refusals: 0,
        }
    }
}

impl Outlet for Batch {
    fn capacity(&self) -> usize {
        self.batch.capacity()
    }

    fn send(&mut self, first: u64, count: usize) -> Result<(), OutletError> {
        for index in 0..count {
            let payload = self.batch.payload_mut(index);
            self.contents.write(payload, first + index as u64);
        }
        let mut gone = 0;
        while gone < count {
            gone += persist(self.size, "sendmmsg", &mut self.refusals, || {
                self.batch.send(&self.socket, gone..count)
            })?;
        }
        Ok(())
    }

    fn refusals(&self) -> u64 {
        self.refusals
    }
}
