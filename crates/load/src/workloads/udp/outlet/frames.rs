//! Whole frames past the kernel's own UDP: a packet socket's ring, or AF_XDP. IPv4 only, as only
//! there a checksum may be left out.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use knobstat_sys::net::{Addressing, TransmitRing, XdpSender};

use super::{Outlet, OutletError, refused};
use crate::workloads::udp::link::RawLink;
use crate::workloads::udp::options::{BATCH, Method, Options};
use crate::workloads::udp::wire::Contents;

pub(super) struct Frames {
    way: Way,
    method: Method,
    size: usize,
    contents: Contents,
    refusals: u64,
}

enum Way {
    Ring(TransmitRing),
    Xdp(XdpSender),
}

impl Frames {
    /// Frames that look as if a connected socket had sent them. To be made within the network
    /// namespace of the link.
    ///
    /// # Errors
    /// When the kernel refuses such a socket.
    pub(super) fn new(
        socket: &UdpSocket,
        options: &Options,
        contents: Contents,
        link: &RawLink,
    ) -> Result<Self, OutletError> {
        let method = options.method;
        let unavailable = |source| OutletError::Unavailable {
            method: method.word(),
            source,
            remedy: "it needs CAP_NET_RAW, which root and user namespaces have, and a kernel with \
                     this kind of socket",
        };
        let addresses = socket
            .local_addr()
            .and_then(|from| Ok((from, socket.peer_addr()?)));
        let (SocketAddr::V4(from), SocketAddr::V4(to)) = addresses.map_err(unavailable)? else {
            return Err(unavailable(io::Error::other("its frames are of IPv4")));
        };
        let addressing = Addressing {
            link: link.hardware,
            from,
            to,
            code_point: options.dscp,
        };
        let (interface, size) = (link.interface, options.packet_size);
        let slots = 2 * BATCH;
        let way = if method == Method::AfXdp {
            XdpSender::new(interface, &addressing, size, slots as u32).map(Way::Xdp)
        } else {
            TransmitRing::new(interface, &addressing, size, slots).map(Way::Ring)
        };
        Ok(Self {
            way: way.map_err(unavailable)?,
            method,
            size,
            contents,
            refusals: 0,
        })
    }
}

impl Outlet for Frames {
    fn capacity(&self) -> usize {
        BATCH
    }

    fn send(&mut self, first: u64, count: usize) -> Result<(), OutletError> {
        let contents = self.contents;
        let fill = |place: usize, payload: &mut [u8]| {
            contents.write(payload, first + place as u64);
        };
        match &mut self.way {
            Way::Ring(ring) => ring.send(count, &mut self.refusals, fill),
            Way::Xdp(xdp) => xdp.send(count, &mut self.refusals, fill),
        }
        .map_err(|error| refused(self.size, self.method.word(), error))
    }

    fn refusals(&self) -> u64 {
        self.refusals
    }
}
