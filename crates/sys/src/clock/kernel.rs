//! The kernel's clocks: readings, the resolution that is claimed, and the step that is seen.

use std::time::Duration;

use rustix::time::{ClockId, Timespec};

/// A clock of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// CLOCK_MONOTONIC: slewed by NTP, stands still while the machine is suspended.
    Monotonic,
    /// CLOCK_MONOTONIC_RAW: not slewed; still read through the clock source.
    MonotonicRaw,
    /// CLOCK_MONOTONIC_COARSE: the time of the last tick.
    MonotonicCoarse,
    /// CLOCK_BOOTTIME: as CLOCK_MONOTONIC, and goes on while the machine is suspended.
    Boottime,
}

impl Clock {
    fn id(self) -> ClockId {
        match self {
            Self::Monotonic => ClockId::Monotonic,
            Self::MonotonicRaw => ClockId::MonotonicRaw,
            Self::MonotonicCoarse => ClockId::MonotonicCoarse,
            Self::Boottime => ClockId::Boottime,
        }
    }
}

/// The time of a clock, since a moment of its own choosing.
#[inline]
pub fn now(clock: Clock) -> Duration {
    duration(rustix::time::clock_gettime(clock.id()))
}

/// The CPU time that the calling thread has used, to this moment: CLOCK_THREAD_CPUTIME_ID.
pub fn thread_cpu_time() -> Duration {
    duration(rustix::time::clock_gettime(ClockId::ThreadCPUTime))
}

/// The resolution that clock_getres(2) claims. It tells the timers' resolution and not the
/// clock's step: 1 ns even where the clock source ticks every 280 ns.
pub fn reported_resolution(clock: Clock) -> Duration {
    duration(rustix::time::clock_getres(clock.id()))
}

/// The smallest of the first steps that a clock is seen to make; `None` where it stood
/// still for so many readings.
pub fn observed_step(clock: Clock, readings: u32) -> Option<Duration> {
    let mut last = now(clock);
    let mut smallest: Option<Duration> = None;
    let (mut steps, mut still) = (0, 0);
    while steps < STEPS && still < readings {
        let next = now(clock);
        let step = next.saturating_sub(last);
        if step.is_zero() {
            still += 1;
        } else {
            smallest = Some(smallest.map_or(step, |smallest| smallest.min(step)));
            (steps, still) = (steps + 1, 0);
        }
        last = next;
    }
    smallest
}

/// Enough steps to see one that nothing interrupted, few enough for a clock of 4 ms.
const STEPS: u32 = 25;

/// Milliseconds since the start of 1970 (UTC), for records; never for a duration.
pub fn unix_time_milliseconds() -> i64 {
    let now = rustix::time::clock_gettime(ClockId::Realtime);
    now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

/// The kernel's clocks at one moment, recorded beside the stopwatch: a suspend, a step or a
/// clock that stood still shows as a disagreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReadings {
    /// CLOCK_MONOTONIC.
    pub monotonic: Duration,
    /// CLOCK_MONOTONIC_RAW.
    pub monotonic_raw: Duration,
    /// CLOCK_BOOTTIME.
    pub boottime: Duration,
}

impl ClockReadings {
    /// The clocks now.
    pub fn now() -> Self {
        Self {
            monotonic: now(Clock::Monotonic),
            monotonic_raw: now(Clock::MonotonicRaw),
            boottime: now(Clock::Boottime),
        }
    }

    /// What each clock says has passed since an earlier moment; a clock that went backwards says
    /// nothing has.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            monotonic: self.monotonic.saturating_sub(earlier.monotonic),
            monotonic_raw: self.monotonic_raw.saturating_sub(earlier.monotonic_raw),
            boottime: self.boottime.saturating_sub(earlier.boottime),
        }
    }
}

fn duration(time: Timespec) -> Duration {
    // These clocks count from boot and are never negative.
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_do_not_go_backwards_and_boot_time_is_not_behind() {
        let earlier = ClockReadings::now();
        let later = ClockReadings::now();
        assert!(later.monotonic >= earlier.monotonic);
        assert!(later.monotonic_raw >= earlier.monotonic_raw);
        assert!(later.boottime >= later.monotonic);
        assert_eq!(earlier.since(later).monotonic, Duration::ZERO);
    }

    #[test]
    fn a_step_is_never_shorter_than_a_nanosecond_nor_seen_in_no_readings() {
        assert_eq!(observed_step(Clock::Monotonic, 0), None);
        if let Some(step) = observed_step(Clock::Monotonic, 10_000) {
            assert!(step >= Duration::from_nanos(1));
        }
        assert!(reported_resolution(Clock::MonotonicCoarse) > Duration::from_micros(100));
    }

    #[test]
    fn cpu_time_grows_with_every_reading() {
        let before = thread_cpu_time();
        assert!(thread_cpu_time() > before);
    }

    #[test]
    fn civil_time_is_later_than_this_program() {
        // 2025-01-01T00:00:00Z.
        assert!(unix_time_milliseconds() > 1_735_689_600_000);
    }
}
