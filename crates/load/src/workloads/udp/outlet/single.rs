//! send(2): one datagram a call.

use std::net::UdpSocket;

use knobstat_sys::net::send;

use super::{Outlet, OutletError, persist};
use crate::workloads::udp::wire::Contents;

pub(super) struct Single {
    socket: UdpSocket,
    payload: Box<[u8]>,
    contents: Contents,
    refusals: u64,
}

impl Single {
    pub(super) fn new(socket: UdpSocket, size: usize, contents: Contents) -> Self {
        Self {
            socket,
            payload: vec![0; size].into_boxed_slice(),
            contents,
            refusals: 0,
        }
    }
}

impl Outlet for Single {
    fn capacity(&self) -> usize {
        1
    }

    fn send(&mut self, first: u64, count: usize) -> Result<(), OutletError> {
        for number in first..first + count as u64 {
            self.contents.write(&mut self.payload, number);
            persist(self.payload.len(), "send", &mut self.refusals, || {
                send(&self.socket, &self.payload)
            })?;
        }
        Ok(())
    }

    fn refusals(&self) -> u64 {
        self.refusals
    }
}
