//! A flow between two hosts: `knobstat udp recv` at one end, a sender at the other.
//!
//! Control goes over TCP, which proves that a peer is where it says it is; a token proves who it
//! is. Each flow's own socket at the receiver hears from nobody until the flow has introduced
//! itself with the cookie that only the peer was told, and from that flow alone afterwards. The
//! receiver sends a datagram only in answer to one with that cookie, and of the same length. Its
//! sockets have the address that it was asked at.

mod introduction;
mod message;
mod offset;
mod sending;
mod serving;
mod session;
mod token;

use std::io;

use thiserror::Error;

pub use message::{Buckets, MessageError};
pub use offset::Offset;
pub use sending::{Request, SoFar, TwoEnds, send};
pub use serving::{Event, Serving, serve};
pub use token::Token;

pub(super) use sending::figures;

use message::Nonce;

/// The port that is listened at and asked at where none is given.
pub const PORT: u16 = 5447;

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

#[cfg(test)]
mod tests;
