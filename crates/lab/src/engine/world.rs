//! The time and the chance that the engine needs, so that its tests can give their own.

use std::io;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use knobstat_data::words::UnixTime;

/// Where time and chance come from.
pub trait World {
    /// The civil time, for the record.
    fn now(&self) -> UnixTime;

    /// The time since some moment, for telling how long is left. Nothing is measured by it.
    fn elapsed(&self) -> Duration;

    /// Bits that nobody else draws.
    ///
    /// # Errors
    /// When the system has none.
    fn random(&mut self) -> io::Result<[u8; 16]>;
}

/// The system's.
#[derive(Clone, Copy, Debug)]
pub struct RealWorld {
    began: Instant,
}

impl RealWorld {
    /// The system's, counting from now.
    pub fn new() -> Self {
        Self {
            began: Instant::now(),
        }
    }
}

impl Default for RealWorld {
    fn default() -> Self {
        Self::new()
    }
}

impl World for RealWorld {
    fn now(&self) -> UnixTime {
        let milliseconds = |duration: Duration| i64::try_from(duration.as_millis());
        UnixTime(match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => milliseconds(after).unwrap_or(i64::MAX),
            Err(before) => milliseconds(before.duration()).map_or(i64::MIN, |before| -before),
        })
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn random(&mut self) -> io::Result<[u8; 16]> {
        let mut bits = [0; 16];
        let mut filled = 0;
        while filled < bits.len() {
            match rustix::rand::getrandom(
                &mut bits[filled..],
                rustix::rand::GetRandomFlags::empty(),
            ) {
                Ok(length) => filled += length,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(bits)
    }
}
