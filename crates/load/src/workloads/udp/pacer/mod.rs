//! When the next datagram may go: pure rules, told what the clock shows.

pub(super) mod iperf2_2007;
pub(super) mod schedule;

/// A clock to pace by, or a simulated one.
pub(super) trait Clock {
    /// Its reading, in nanoseconds.
    fn now(&mut self) -> u64;
}

impl Clock for knobstat_sys::net::PacingClock {
    #[inline]
    fn now(&mut self) -> u64 {
        knobstat_sys::net::PacingClock::now(*self)
    }
}
