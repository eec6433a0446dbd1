//! The interface that leads from one end to the other, and what it counts meanwhile, everybody's packets
//! included.

use std::net::SocketAddr;

use knobstat_sys::net::counters::InterfaceCounters;
use knobstat_sys::net::netlink::{RouteSocket, interface_name};

/// An interface that is watched.
pub(super) struct Watched {
    name: String,
    before: InterfaceCounters,
}

impl Watched {
    /// That towards an address; nothing where it cannot be told which it is or what it counts.
    pub(super) fn towards(peer: SocketAddr) -> Option<Self> {
        let index = match peer {
            // Such an address has its interface with it.
            SocketAddr::V6(peer) if peer.scope_id() != 0 => peer.scope_id(),
            _ => RouteSocket::open()
                .and_then(|route| route.interface_towards(peer.ip().to_canonical()))
                .ok()?,
        };
        let name = interface_name(index).ok()?;
        let before = InterfaceCounters::read(&name).ok()?;
        Some(Self { name, before })
    }

    /// What it has counted since.
    pub(super) fn counted(&self) -> Option<InterfaceCounters> {
        let now = InterfaceCounters::read(&self.name).ok()?;
        Some(now.since(&self.before))
    }
}
