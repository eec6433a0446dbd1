//! For tests: datagrams are waited for long, and not for ever.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Far longer than a datagram is under way on one machine.
const LONG: Duration = Duration::from_secs(60);

/// A socket of this machine whose blocking calls come back at last.
pub(crate) fn receiver() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    socket
}

/// How long a test has waited.
pub(crate) struct Patience(Instant);

impl Patience {
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }

    /// To be asked before each further wait.
    #[track_caller]
    pub(crate) fn must_last(&self) {
        assert!(self.0.elapsed() < LONG, "not everything came in {LONG:?}");
    }
}
