//! An absolute schedule: datagram n is due n gaps after the start, whatever became of those before
//! it. A late one does not move the rest, so the rate holds and the count is exact.

/// When each datagram is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Schedule {
    start: u64,
    gap: f64,
}

impl Schedule {
    /// A schedule that begins at a reading of the pacing clock, with this many datagrams a second
    /// (above zero).
    pub(in super::super) fn new(start: u64, packets_per_second: f64) -> Self {
        Self {
            start,
            gap: 1e9 / packets_per_second,
        }
    }

    /// When a datagram is due, by the pacing clock, in nanoseconds. Rounded to the nanosecond
    /// each, never summed: the error does not grow.
    pub(in super::super) fn due(&self, index: u64) -> u64 {
        self.start
            .saturating_add((index as f64 * self.gap).round() as u64)
    }

    /// How many datagrams are due by a reading of the pacing clock.
    pub(in super::super) fn due_by(&self, now: u64) -> u64 {
        let Some(elapsed) = now.checked_sub(self.start) else {
            return 0;
        };
        let mut count = (elapsed as f64 / self.gap) as u64 + 1;
        // Rounding may be off by one either way: the due times decide.
        if count > 1 && self.due(count - 1) > now {
            count -= 1;
        }
        if self.due(count) <= now {
            count += 1;
        }
        count
    }
}

/// How many datagrams a stretch of time holds at a rate, at least one: those that are due before
/// its end.
pub(in super::super) fn count_within(seconds: f64, packets_per_second: f64) -> u64 {
    // A product such as 0.1 s × 30/s = 3.0000000000000004 is three, not four.
    ((seconds * packets_per_second - 1e-6).ceil() as u64).max(1)
}

/// Whether a clock that moves by this step can pace datagrams this far apart: beyond a quarter of
/// the gap its bursts are the clock's and no longer the schedule's.
pub(in super::super) fn step_is_fine(step_nanoseconds: u64, packets_per_second: f64) -> bool {
    step_nanoseconds as f64 <= 1e9 / packets_per_second / 4.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_datagram_is_due_at_once() {
        let schedule = Schedule::new(1000, 1e6);
        assert_eq!(schedule.due_by(999), 0);
        assert_eq!(schedule.due_by(1000), 1);
        assert_eq!(schedule.due_by(1999), 1);
        assert_eq!(schedule.due_by(2000), 2);
    }

    #[test]
    fn a_gap_that_is_no_whole_nanosecond_does_not_drift() {
        let schedule = Schedule::new(0, 3.0);
        assert_eq!(schedule.due(3_000_000), 1_000_000_000_000_000);
    }

    #[test]
    fn a_stretch_of_time_holds_what_is_due_before_its_end() {
        assert_eq!(count_within(1.0, 10.0), 10);
        assert_eq!(count_within(0.1, 30.0), 3);
        assert_eq!(count_within(0.25, 10.0), 3);
        assert_eq!(count_within(0.001, 1.0), 1);
    }

    #[test]
    fn a_step_beyond_a_quarter_of_the_gap_is_coarse() {
        assert!(step_is_fine(250_000, 1000.0));
        assert!(!step_is_fine(250_001, 1000.0));
    }

    proptest! {
        #[test]
        fn what_is_due_by_a_moment_is_what_was_due_before_it(
            start in 0u64..(1 << 50),
            rate in 0.01f64..1e9,
            elapsed in 0u64..100_000_000_000,
        ) {
            let schedule = Schedule::new(start, rate);
            let now = start + elapsed;
            let count = schedule.due_by(now);
            prop_assert!(count >= 1);
            prop_assert!(schedule.due(count - 1) <= now);
            prop_assert!(schedule.due(count) > now);
        }
    }
}
