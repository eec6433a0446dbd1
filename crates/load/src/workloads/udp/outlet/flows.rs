//! Several flows side by side: each batch goes to the next one, which numbers its own datagrams.

use std::net::UdpSocket;

use super::{Outlet, OutletError, open};
use crate::workloads::udp::link::RawLink;
use crate::workloads::udp::options::Options;
use crate::workloads::udp::wire::Contents;

/// The ways out of all flows.
pub(in super::super) struct Flows {
    flows: Vec<Flow>,
    next: usize,
    capacity: usize,
}

struct Flow {
    outlet: Box<dyn Outlet>,
    first: u64,
    sent: u64,
}

impl Flows {
    /// One flow for each connected socket.
    ///
    /// # Errors
    /// When the kernel lacks what the method needs.
    pub(in super::super) fn open(
        sockets: Vec<UdpSocket>,
        options: &Options,
        contents: Contents,
        link: Option<&RawLink>,
    ) -> Result<Self, OutletError> {
        let mut flows = Vec::with_capacity(sockets.len());
        for socket in sockets {
            flows.push(Flow {
                outlet: open(socket, options, contents, link)?,
                first: options.first_number,
                sent: 0,
            });
        }
        let capacity = flows.iter().map(|flow| flow.outlet.capacity()).min();
        Ok(Self {
            flows,
            next: 0,
            capacity: capacity.unwrap_or(0),
        })
    }

    /// How many datagrams each flow has sent.
    pub(in super::super) fn sent(&self) -> Vec<u64> {
        self.flows.iter().map(|flow| flow.sent).collect()
    }
}

impl Outlet for Flows {
    fn capacity(&self) -> usize {
        self.capacity
    }

    #[inline]
    fn send(&mut self, _first: u64, count: usize) -> Result<(), OutletError> {
        let flow = &mut self.flows[self.next];
        // The options keep numbers far from the end of 64 bits.
        flow.outlet.send(flow.first + flow.sent, count)?;
        flow.sent += count as u64;
        self.next += 1;
        if self.next == self.flows.len() {
            self.next = 0;
        }
        Ok(())
    }

    fn refusals(&self) -> u64 {
        self.flows.iter().map(|flow| flow.outlet.refusals()).sum()
    }
}
