//! The pacing loop of the iperf 2.0 of 2007, as a rule on its clock's readings.
//!
//! The time per datagram is kept in whole microseconds, T. Each datagram is stamped by the clock;
//! what it is ahead of the one before, `T + last - now`, is added to a running delay, but only
//! while that or the delay is above zero; after the send, a delay above zero is spun away on the
//! clock. On a clock that stands still for a step r, the delay grows by T a datagram from the -r
//! that the last wait left it at, so that r / T datagrams are credited between two waits, and each
//! wait ends at a tick. A datagram that finds the clock moved on meanwhile is not credited, so
//! that every tick that passes unwaited lets one more go. With a cost s per datagram, k ticks from
//! one wait's end to the next:
//!
//! ```text
//! N = r / T + k - 1,   k = ⌈N s / r⌉,   rate = N / (r k)
//! ```

/// The state of the loop between two datagrams; times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Iperf2 {
    per_packet: i64,
    delay: i64,
    last: i64,
}

impl Iperf2 {
    /// A loop that begins at a reading of its clock.
    pub(in super::super) fn new(per_packet_microseconds: u64, now_nanoseconds: u64) -> Self {
        Self {
            per_packet: per_packet_microseconds as i64,
            delay: 0,
            last: microseconds(now_nanoseconds),
        }
    }

    /// What the reading of the clock before a datagram leads to.
    pub(in super::super) fn packet(&mut self, now_nanoseconds: u64) -> Verdict {
        let now = microseconds(now_nanoseconds);
        let ahead = self.per_packet + self.last - now;
        self.last = now;
        let credited = ahead > 0 || self.delay > 0;
        if credited {
            self.delay += ahead;
        }
        Verdict {
            credited,
            wait: u64::try_from(self.delay).ok().filter(|&delay| delay > 0),
        }
    }
}

/// What the loop makes of one datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Verdict {
    /// Whether it was taken into the running delay; it is not when it came late and nothing was
    /// to be waited for.
    pub credited: bool,
    /// How many microseconds are to be waited after it, where any are.
    pub wait: Option<u64>,
}

/// The whole microseconds of a reading, as gettimeofday(2) gives them.
pub(in super::super) fn microseconds(nanoseconds: u64) -> i64 {
    (nanoseconds / 1000) as i64
}

/// The whole microseconds per datagram at an asked rate: what is left of them at 1 Gbit/s is 0 at
/// 64 bytes, 1 at 128, 4 at 512 and 10 at 1280.
pub(in super::super) fn microseconds_per_packet(packets_per_second: f64) -> u64 {
    // A quotient that is whole but for its last bit is whole.
    (1e6 / packets_per_second + 1e-9) as u64
}

/// How many datagrams are credited between two waits on a clock of this step, r / T; absent where the clock is
/// too fine to decide it, or nothing is ever waited for.
pub(in super::super) fn packets_per_wait(
    step_nanoseconds: u64,
    per_packet_microseconds: u64,
) -> Option<u64> {
    // A step measured a few nanoseconds short is still the whole step.
    let step = (step_nanoseconds + 500) / 1000;
    (per_packet_microseconds > 0 && step >= per_packet_microseconds)
        .then(|| step / per_packet_microseconds)
}

/// A stair: what the formula says of one wait on a clock of this step, with so many datagrams
/// credited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Stair {
    /// The clock's step in nanoseconds.
    pub step: u64,
    /// Datagrams credited from one wait to the next.
    pub credited: u64,
}

impl Stair {
    /// Whether so many datagrams in so long a time of the clock are what the formula says: those
    /// credited, and one for each tick that passed unwaited, to one datagram.
    pub(in super::super) fn has(self, packets: u64, nanoseconds: u64) -> bool {
        let steps = (nanoseconds + self.step / 2) / self.step.max(1);
        steps > 0 && packets.abs_diff(self.credited + steps - 1) <= 1
    }
}

/// The rate of the staircase, in datagrams a second: those credited and one for each tick that
/// passed unwaited, in so many steps of the clock (above zero).
pub(in super::super) fn staircase_rate(step_nanoseconds: u64, credited: u64, steps: u64) -> f64 {
    (credited + steps - 1) as f64 * 1e9 / (step_nanoseconds as f64 * steps as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_per_packet_is_cut_to_whole_microseconds() {
        let at_a_gigabit = |size: f64| microseconds_per_packet(1e9 / (8.0 * size));
        assert_eq!(
            [64.0, 128.0, 512.0, 1280.0].map(at_a_gigabit),
            [0, 1, 4, 10]
        );
        assert_eq!(at_a_gigabit(125.0), 1);
    }

    #[test]
    fn a_first_packet_waits_and_its_wait_is_worked_off() {
        let mut pacer = Iperf2::new(10, 0);
        assert_eq!(pacer.packet(0).wait, Some(10));
        // The wait ended at the next tick of 4 ms: 399 packets are owed.
        assert_eq!(pacer.packet(4_000_000).wait, None);
        let free = (0..1000)
            .take_while(|_| pacer.packet(4_000_000).wait.is_none())
            .count();
        assert_eq!(free, 398);
    }

    #[test]
    fn a_packet_that_is_late_owes_nothing() {
        let mut pacer = Iperf2::new(10, 0);
        let late = Verdict {
            credited: false,
            wait: None,
        };
        assert_eq!(pacer.packet(1_000_000), late);
        assert_eq!(pacer.packet(1_005_000).wait, Some(5));
    }

    #[test]
    fn without_time_per_packet_nothing_waits() {
        let mut pacer = Iperf2::new(0, 0);
        assert!((0..100).all(|tick| pacer.packet(tick * 1000 / 3).wait.is_none()));
        assert_eq!(packets_per_wait(4_000_000, 0), None);
    }

    #[test]
    fn a_wait_is_on_a_stair_or_is_not() {
        let stair = Stair {
            step: 3_999_998,
            credited: 1000,
        };
        assert!(stair.has(1001, 8_000_000));
        assert!(stair.has(1000, 4_000_000));
        assert!(!stair.has(1003, 8_000_000));
        assert!(!stair.has(500, 8_000_000));
        assert!(!stair.has(0, 0));
    }

    #[test]
    fn the_stairs_are_those_of_the_published_table() {
        let megabits = |size: f64, credited, steps| {
            staircase_rate(4_000_000, credited, steps) * 8.0 * size / 1e6
        };
        assert_eq!(megabits(128.0, 4000, 4).round(), 256.0);
        assert_eq!(megabits(512.0, 1000, 2).round(), 513.0);
        assert_eq!(megabits(1280.0, 400, 3).round(), 343.0);
    }

    #[test]
    fn the_prediction_is_the_step_over_the_time_per_packet() {
        assert_eq!(packets_per_wait(4_000_000, 1), Some(4000));
        assert_eq!(packets_per_wait(3_999_998, 4), Some(1000));
        assert_eq!(packets_per_wait(1_000_000, 10), Some(100));
        assert_eq!(packets_per_wait(30, 1), None);
    }
}
