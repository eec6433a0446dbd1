//! Where datagrams leave: the methods of handing them to the kernel, one file each, behind one
//! call.

mod batch;
mod flows;
mod frames;
mod ring;
mod segments;
mod single;

use std::io;
use std::net::UdpSocket;

use thiserror::Error;

use super::link::RawLink;
use super::options::{Method, Options};
use super::wire::Contents;

pub(super) use flows::Flows;

/// Takes numbered datagrams, a batch at a time.
pub(super) trait Outlet {
    /// The most datagrams of one call.
    fn capacity(&self) -> usize;

    /// Sends `count` datagrams, numbered from `first`; all have gone when it returns.
    ///
    /// # Errors
    /// When one could not be sent.
    fn send(&mut self, first: u64, count: usize) -> Result<(), OutletError>;

    /// How often the kernel had no room for a datagram, which was then offered again.
    fn refusals(&self) -> u64;
}

/// Why datagrams could not be sent.
#[derive(Debug, Error)]
pub(super) enum OutletError {
    /// The kernel has no segmentation offload for UDP.
    #[error(
        "this kernel does not cut buffers into datagrams ({0}); method = \"gso\" needs Linux 4.18 \
         or later, \"sendmmsg\" does without"
    )]
    NoSegmentation(io::Error),
    /// A way out that cannot be opened.
    #[error("method = \"{method}\" cannot be had here: {source}; {remedy}")]
    Unavailable {
        method: &'static str,
        source: io::Error,
        remedy: &'static str,
    },
    /// There is no interface of our own to lay frames on.
    #[error(
        "method = \"{0}\" lays whole frames on an interface, and only endpoints = \"veth\" has one \
         of its own"
    )]
    NoInterface(&'static str),
    /// The kernel refused a datagram.
    #[error("a datagram of {size} bytes could not be sent by {method}: {source}; {remedy}")]
    Refused {
        size: usize,
        method: &'static str,
        source: io::Error,
        remedy: &'static str,
    },
}

/// The way out for one connected socket's datagrams.
///
/// # Errors
/// When the kernel lacks what the method needs.
fn open(
    socket: UdpSocket,
    options: &Options,
    contents: Contents,
    link: Option<&RawLink>,
) -> Result<Box<dyn Outlet>, OutletError> {
    let size = options.packet_size;
    let count = options.method.datagrams_per_call(size);
    Ok(match options.method {
        Method::Send => Box::new(single::Single::new(socket, size, contents)),
        Method::Sendmmsg => Box::new(batch::Batch::new(socket, size, count, contents)),
        Method::Gso => Box::new(segments::Segments::new(socket, size, count, contents)?),
        Method::IoUring => Box::new(ring::Ring::new(socket, size, count, contents)?),
        Method::TxRing | Method::AfXdp => {
            let link = link.ok_or(OutletError::NoInterface(options.method.word()))?;
            Box::new(frames::Frames::new(&socket, options, contents, link)?)
        }
    })
}

/// Offers a datagram until the kernel has room for it.
fn persist(
    size: usize,
    method: &'static str,
    refusals: &mut u64,
    mut offer: impl FnMut() -> io::Result<usize>,
) -> Result<usize, OutletError> {
    loop {
        let error = match offer() {
            Ok(taken) => return Ok(taken),
            Err(error) => error,
        };
        match error.kind() {
            io::ErrorKind::Interrupted => {}
            // No room in a queue on the way: the link is full.
            io::ErrorKind::WouldBlock => *refusals += 1,
            _ if error.raw_os_error() == Some(ENOBUFS) => *refusals += 1,
            _ => return Err(refused(size, method, error)),
        }
    }
}

fn refused(size: usize, method: &'static str, source: io::Error) -> OutletError {
    OutletError::Refused {
        size,
        method,
        remedy: match source.kind() {
            io::ErrorKind::ConnectionRefused => "nobody listens at the other end any more",
            io::ErrorKind::PermissionDenied => {
                "a packet filter forbids it: allow UDP between the two ends"
            }
            _ => "try a smaller packet_size or another method",
        },
        source,
    }
}

/// "No buffer space available", the same number on every architecture that this program knows.
const ENOBUFS: i32 = 105;
