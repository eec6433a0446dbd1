//! The clocks that a sender paces itself by: the kernel's fine and coarse monotonic clocks.
//!
//! These are meant to be the thing under test, never the stopwatch. The coarse clock stands still
//! between ticks, as every clock did when the kernel's clock source was `jiffies`.

use rustix::time::{ClockId, clock_gettime};

/// A clock to pace by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacingClock {
    /// CLOCK_MONOTONIC, read through the kernel's clock source.
    Fine,
    /// CLOCK_MONOTONIC_COARSE, which moves at each tick.
    Coarse,
}

/// How a clock moves, found by reading it over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockStep {
    /// The smallest difference between one value and the next, in nanoseconds: the step, as far
    /// as a reader that may be kept from reading can tell. Of a clock finer than its own reading
    /// this is the cost of a reading: the step is at most this.
    pub smallest: u64,
    /// The median of the differences, in nanoseconds.
    pub median: u64,
}

impl ClockStep {
    /// Whether most of the steps seen were of one length, to one part in a hundred.
    pub fn is_regular(&self) -> bool {
        self.median - self.smallest <= self.smallest / 100
    }
}

/// The steps that are looked at: a coarse clock of 250 Hz takes 36 ms for these.
const STEPS: usize = 9;

/// The readings after which a clock that stands still is given up on.
const MOST_READINGS: u64 = 20_000_000;

impl PacingClock {
    /// The present reading in nanoseconds. Both clocks are on one time line: the coarse one lags.
    pub fn now(self) -> u64 {
        let now = clock_gettime(match self {
            Self::Fine => ClockId::Monotonic,
            Self::Coarse => ClockId::MonotonicCoarse,
        });
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }

    /// How the clock moves; `None` when it was not seen to move.
    pub fn measure_step(self) -> Option<ClockStep> {
        measure_step(|| self.now())
    }
}

/// How a clock moves, given its readings; `None` when it does not move in 20 million of them.
pub fn measure_step(mut now: impl FnMut() -> u64) -> Option<ClockStep> {
    let mut steps = [0u64; STEPS];
    let mut readings = 0;
    let mut next_value = |previous: u64| {
        while readings < MOST_READINGS {
            readings += 1;
            let value = now();
            if value != previous {
                return Some(value);
            }
        }
        None
    };
    let start = next_value(u64::MAX)?;
    // The first change comes at any time within a step: it only begins the first whole one.
    let mut previous = next_value(start)?;
    for step in &mut steps {
        let value = next_value(previous)?;
        *step = value.saturating_sub(previous);
        previous = value;
    }
    steps.sort_unstable();
    Some(ClockStep {
        smallest: steps[0],
        median: steps[STEPS / 2],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_of_a_clock_is_found_from_its_readings() {
        let mut time = 12_345;
        let step = measure_step(|| {
            time += 30;
            time / 4_000_000 * 4_000_000
        })
        .unwrap();
        assert_eq!(step.smallest, 4_000_000);
        assert!(step.is_regular());
    }

    #[test]
    fn a_missed_tick_leaves_a_clock_regular_and_many_do_not() {
        let missing = |ticks: u64| {
            let mut reading = 0;
            measure_step(|| {
                reading += 1;
                (reading + (reading.max(4) - 4).min(ticks)) * 1000
            })
            .unwrap()
        };
        assert_eq!(missing(1).smallest, 1000);
        assert!(missing(1).is_regular());
        assert_eq!(missing(6).smallest, 1000);
        assert!(!missing(6).is_regular());
    }

    #[test]
    fn a_clock_that_stands_still_is_given_up_on() {
        assert_eq!(measure_step(|| 5), None);
    }

    #[test]
    fn the_coarse_clock_lags_the_fine_one() {
        let coarse = PacingClock::Coarse.now();
        assert!(coarse <= PacingClock::Fine.now());
    }
}
