//! Sleeping for a short while, until a moment, and finding out how long a short sleep really is.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use rustix::thread::{ClockId, NanosleepRelativeResult};
use rustix::time::Timespec;

fn timespec(nanoseconds: u64) -> Timespec {
    Timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as _,
        tv_nsec: (nanoseconds % 1_000_000_000) as _,
    }
}

/// Sleeps once for about this long; a signal may end it early.
pub fn nap(length: Duration) {
    let request = timespec(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX));
    match rustix::thread::clock_nanosleep_relative(ClockId::Monotonic, &request) {
        NanosleepRelativeResult::Ok
        | NanosleepRelativeResult::Interrupted(_)
        | NanosleepRelativeResult::Err(_) => {}
    }
}

/// Sleeps until CLOCK_MONOTONIC shows this many nanoseconds, or a signal comes.
pub fn nap_until(monotonic_nanoseconds: u64) {
    // The caller looks at its clock after a nap in any case: a failed one is a short one.
    let _ = rustix::thread::clock_nanosleep_absolute(
        ClockId::Monotonic,
        &timespec(monotonic_nanoseconds),
    );
}

/// How long naps of this thread really take, each timed by CLOCK_MONOTONIC: with a timer slack,
/// without high-resolution timers or on a loaded machine a nap is longer than asked.
///
/// `into` is filled, so that a caller decides how many are tried; each costs one nap.
pub fn measure(asked: Duration, into: &mut [Duration]) {
    for length in into {
        let began = Instant::now();
        nap(asked);
        *length = began.elapsed();
    }
}

/// Asks the kernel to end this thread's sleeps within a nanosecond of their time instead of the
/// usual 50 microseconds (PR_SET_TIMERSLACK).
///
/// # Errors
/// When the kernel refuses it.
pub fn shorten_timer_slack() -> std::io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(Some(
        NonZeroU64::MIN,
    ))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nap_is_never_shorter_than_asked() {
        shorten_timer_slack().unwrap();
        let mut naps = [Duration::ZERO; 4];
        measure(Duration::from_micros(200), &mut naps);
        for nap in naps {
            assert!(nap >= Duration::from_micros(200), "{nap:?}");
        }
    }

    #[test]
    fn a_nap_until_the_past_is_none() {
        nap_until(1);
    }
}
