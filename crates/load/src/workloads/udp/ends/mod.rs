//! A flow between two hosts: `knobstat udp recv` at one end, a sender at the other.
//!
//! Control goes over TCP, which proves that a peer is where it says it is; a token proves who it
//! is. Each flow's own socket at the receiver hears from nobody until the flow has introduced
//! itself with the cookie that only the peer was told, and from that flow alone afterwards. The
//! receiver sends a datagram only in answer to one with that cookie, and of the same length. Its
//! sockets have the address that it was asked at.

mod address;
mod agreement;
mod asking;
mod counting;
mod interface;
mod introduction;
mod message;
mod offset;
mod result;
mod sending;
mod serving;
mod session;
mod token;

use std::io;
use std::time::Duration;

use knobstat_data::Parameters;
use thiserror::Error;

pub use asking::{send, send_both_ways};
pub use message::{Buckets, Direction, MessageError};
pub use offset::Offset;
pub use result::TwoEnds;
pub use serving::{Event, Serving, serve};
pub use token::Token;

pub(super) use asking::figures;

use message::Nonce;

/// The port that is listened at and asked at where none is given.
pub const PORT: u16 = 5447;

/// How long the other end may take for an answer.
const ANSWER: Duration = Duration::from_secs(10);

/// What is asked of a receiver.
#[derive(Clone, Debug)]
pub struct Request {
    /// The parameters of the workload.
    pub parameters: Parameters,
    /// The receiver: `HOST`, `HOST:PORT`, `[ADDRESS]:PORT`, an IPv6 address with `%INTERFACE`.
    pub receiver: String,
    /// What the receiver wants to be known.
    pub token: Option<Token>,
    /// How often what has come so far is to be told; never where absent.
    pub interval: Option<Duration>,
    /// Whether gaps and one-way delays are measured. It costs a reading of the clock a datagram.
    pub delays: bool,
}

/// What had come by a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoFar {
    /// Which way it goes.
    pub direction: Direction,
    /// The end of the interval, in seconds from the beginning.
    pub seconds: f64,
    /// The length of the interval in seconds.
    pub length: f64,
    /// Datagrams received within it.
    pub received: u64,
    /// Payload received within it, in bytes.
    pub received_bytes: u64,
    /// The buffers that they were received in.
    pub buffers: u64,
}

impl SoFar {
    /// Datagrams received a second; absent where buffers of many were moved uncut, which is no
    /// packet rate.
    pub fn packets_per_second(&self) -> Option<f64> {
        let is_of_packets = self.buffers >= self.received && self.length > 0.0;
        is_of_packets.then(|| self.received as f64 / self.length)
    }

    /// Payload received a second, in megabits; absent for an interval without length.
    pub fn megabits_per_second(&self) -> Option<f64> {
        (self.length > 0.0).then(|| self.received_bytes as f64 * 8.0 / 1e6 / self.length)
    }
}

/// Why two ends did not come together, or fell apart.
#[derive(Debug, Error)]
pub enum EndsError {
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// What it was for.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The control connection.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The receiver refused.
    #[error("the receiver refused: {0}")]
    Refused(String),
    /// The receiver wants a token and there is none.
    #[error("the receiver wants a token: give the same --token-file on both sides")]
    TokenWanted,
    /// The other side said something out of turn.
    #[error("the other side said something out of turn; use the same knobstat on both sides")]
    OutOfTurn,
    /// No datagram came through.
    #[error("no datagram reached the receiver's port {0}: a packet filter may stop UDP")]
    Unreachable(u16),
    /// What is asked for.
    #[error("{0}")]
    Request(String),
    /// This end could not do its part.
    #[error("{0}")]
    Run(String),
}

fn system(what: &'static str) -> impl Fn(io::Error) -> EndsError {
    move |source| EndsError::System { what, source }
}

/// A number that nobody can guess.
fn nonce() -> Result<Nonce, EndsError> {
    use io::Read;
    let mut nonce = [0; 16];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut nonce))
        .map_err(system("no random number can be had"))?;
    Ok(nonce)
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests;
