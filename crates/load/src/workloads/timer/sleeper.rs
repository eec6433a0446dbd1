//! The loop of one thread: sleep until a moment, see how late it is, go on to the next.
//!
//! The moment is one of CLOCK_MONOTONIC and the stopwatch is another clock. The two are read
//! together just before each sleep, so that they can drift apart for one interval only: the
//! latency is the time that passed by the stopwatch, less the time that there was to sleep.

use super::super::survey::Distribution;
use crate::histogram::Histogram;

/// The clocks of a sleeper and its bed.
pub(super) trait Clocks {
    /// The stopwatch, in nanoseconds from a moment of its own.
    fn stopwatch(&mut self) -> u64;
    /// CLOCK_MONOTONIC in nanoseconds.
    fn monotonic(&mut self) -> u64;
    /// Sleeps until CLOCK_MONOTONIC shows this, or a little less long.
    fn sleep_until(&mut self, monotonic: u64);
}

/// What one thread has seen.
pub(super) struct Slept {
    /// Latencies by the stopwatch, in nanoseconds.
    pub latency: Histogram,
    /// Latencies by CLOCK_MONOTONIC, in nanoseconds.
    pub by_monotonic: Histogram,
    /// Moments that had passed already.
    pub missed: u64,
}

impl Slept {
    /// Nothing yet. Counting into it allocates nothing.
    pub(super) fn new() -> Self {
        Self {
            latency: Histogram::new(Distribution::PRECISION),
            by_monotonic: Histogram::new(Distribution::PRECISION),
            missed: 0,
        }
    }
}

/// When a sleeper wakes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// From the beginning to the first moment.
    pub first: u64,
    /// From one moment to the next.
    pub interval: u64,
    /// From the beginning to the last moment, at most.
    pub duration: u64,
}

/// Both clocks at one moment.
#[derive(Clone, Copy)]
struct Pair {
    stopwatch: u64,
    monotonic: u64,
}

/// The two are read anew when more than this lies between them: something came in between.
const APART: u64 = 2_000;

/// So often; on a machine whose clock takes longer to read the last pair has to do.
const TRIES: u32 = 4;

fn pair(clocks: &mut impl Clocks) -> Pair {
    let mut tries = 1;
    loop {
        let stopwatch = clocks.stopwatch();
        let monotonic = clocks.monotonic();
        let after = clocks.stopwatch();
        if after.saturating_sub(stopwatch) <= APART || tries == TRIES {
            return Pair {
                stopwatch,
                monotonic,
            };
        }
        tries += 1;
    }
}

/// Sleeps by the schedule and counts into `slept`.
pub(super) fn sleep(clocks: &mut impl Clocks, schedule: Schedule, slept: &mut Slept) {
    let mut before = pair(clocks);
    let end = before.monotonic.saturating_add(schedule.duration);
    let mut moment = before.monotonic.saturating_add(schedule.first);
    while moment <= end {
        let (woke, awake) = loop {
            clocks.sleep_until(moment);
            let woke = clocks.stopwatch();
            let awake = clocks.monotonic();
            // A signal ends a sleep early.
            if awake >= moment {
                break (woke, awake);
            }
        };
        let asleep = woke.saturating_sub(before.stopwatch);
        let asked = moment.saturating_sub(before.monotonic);
        slept.latency.record(asleep.saturating_sub(asked));
        slept.by_monotonic.record(awake - moment);
        before = pair(clocks);
        let late = before.monotonic.saturating_sub(moment);
        slept.missed += late / schedule.interval;
        moment += (late / schedule.interval + 1) * schedule.interval;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A machine that wakes a sleeper so late as it is told, in turn.
    struct Machine {
        time: u64,
        latencies: Vec<u64>,
        sleeps: usize,
        /// CLOCK_MONOTONIC shows the time in whole steps.
        step: u64,
        /// The sleeps of these numbers end early.
        early: Vec<usize>,
    }

    impl Machine {
        fn new(latencies: &[u64]) -> Self {
            Self {
                time: 1_000_000,
                latencies: latencies.to_vec(),
                sleeps: 0,
                step: 1,
                early: Vec::new(),
            }
        }
    }

    impl Clocks for Machine {
        fn stopwatch(&mut self) -> u64 {
            // A stopwatch counts from elsewhere.
            self.time + 77_000_000
        }

        fn monotonic(&mut self) -> u64 {
            self.time / self.step * self.step
        }

        fn sleep_until(&mut self, monotonic: u64) {
            let turn = self.sleeps;
            self.sleeps += 1;
            if self.early.contains(&turn) {
                self.time += 1;
                return;
            }
            let latency = self.latencies[turn % self.latencies.len()];
            self.time = self.time.max(monotonic + latency);
        }
    }

    const MILLISECOND: u64 = 1_000_000;

    fn schedule(wake_ups: u64) -> Schedule {
        Schedule {
            first: MILLISECOND,
            interval: MILLISECOND,
            duration: wake_ups * MILLISECOND,
        }
    }

    fn slept(machine: &mut Machine, wake_ups: u64) -> Slept {
        let mut slept = Slept::new();
        sleep(machine, schedule(wake_ups), &mut slept);
        slept
    }

    #[test]
    fn a_latency_is_what_the_machine_was_late() {
        let slept = slept(&mut Machine::new(&[60_000, 50_000, 70_000]), 30);
        assert_eq!(slept.latency.total(), 30);
        assert_eq!(slept.latency.smallest(), Some(50_000));
        assert_eq!(slept.latency.largest(), Some(70_000));
        assert_eq!(slept.latency.mean(), Some(60_000.0));
        assert_eq!(slept.by_monotonic.mean(), Some(60_000.0));
        assert_eq!(slept.missed, 0);
    }

    #[test]
    fn a_sleep_that_ends_early_is_gone_on_with() {
        let mut machine = Machine::new(&[5_000]);
        machine.early = vec![1, 4];
        let slept = slept(&mut machine, 10);
        assert_eq!(slept.latency.total(), 10);
        assert_eq!(slept.latency.mean(), Some(5_000.0));
    }

    #[test]
    fn moments_that_passed_are_counted_and_not_slept_for() {
        let mut machine = Machine::new(&[0, 3 * MILLISECOND + 10]);
        let slept = slept(&mut machine, 10);
        // Moments 1, 2 (late until after 5), 6, 7 (late until after 10): 3 missed each time.
        assert_eq!((slept.latency.total(), slept.missed), (4, 6));
        assert_eq!(slept.latency.largest(), Some(3 * MILLISECOND + 10));
    }

    proptest! {
        #[test]
        fn every_moment_is_slept_for_or_missed(
            latencies in proptest::collection::vec(0u64..5_000_000, 1..20),
            wake_ups in 1u64..100,
        ) {
            let mut machine = Machine::new(&latencies);
            let slept = slept(&mut machine, wake_ups);
            let last_late = slept.latency.largest().unwrap_or(0) / MILLISECOND;
            let all = slept.latency.total() + slept.missed;
            prop_assert!(all >= wake_ups && all <= wake_ups + last_late, "{all} of {wake_ups}");
        }

        #[test]
        fn a_coarse_clock_makes_a_latency_wrong_by_less_than_its_step(latency in 0u64..900_000) {
            let mut machine = Machine::new(&[latency]);
            machine.step = 4 * MILLISECOND;
            // Sleeps end where the clock shows them to: at the tick.
            let mut slept = Slept::new();
            let tick = Schedule { first: 4 * MILLISECOND, interval: 4 * MILLISECOND, duration: 40 * MILLISECOND };
            sleep(&mut machine, tick, &mut slept);
            prop_assert!(slept.latency.largest() < Some(latency + machine.step));
            prop_assert_eq!(slept.by_monotonic.largest(), Some(0));
        }
    }
}
