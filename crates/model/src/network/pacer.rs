//! When the next datagram may go: the absolute schedule, and the loop of the iperf 2.0 of 2007.
//!
//! The rules are those of the workload `udp`, on a clock that is simulated. The loop of 2007 keeps
//! the time per datagram in whole microseconds, T. What a datagram is ahead of the one before,
//! `T + last - now`, is added to a running delay, but only while that or the delay is above zero;
//! after the send, a delay above zero is spun away on the clock.

use std::collections::BTreeMap;

/// The loop of 2007 between two datagrams; times in whole microseconds of its clock.
#[derive(Clone, Debug)]
pub(super) struct Iperf2 {
    per_packet: i64,
    delay: i64,
    last: i64,
    since_wait: u64,
    credited: u64,
    packets_per_wait: Counts,
    credited_per_wait: Counts,
}

impl Iperf2 {
    /// A loop that begins when its clock shows `now`.
    pub(super) fn new(per_packet: u64, now: i64) -> Self {
        Self {
            per_packet: i64::try_from(per_packet).unwrap_or(i64::MAX),
            delay: 0,
            last: now,
            since_wait: 0,
            credited: 0,
            packets_per_wait: Counts::default(),
            credited_per_wait: Counts::default(),
        }
    }

    /// How many microseconds are to be waited after the datagram before which the clock shows
    /// `now`; nothing where it is to go on at once.
    pub(super) fn packet(&mut self, now: i64) -> Option<i64> {
        let ahead = self.per_packet.saturating_add(self.last - now);
        self.last = now;
        self.since_wait += 1;
        if ahead > 0 || self.delay > 0 {
            self.delay = self.delay.saturating_add(ahead);
            self.credited += 1;
        }
        if self.delay <= 0 {
            return None;
        }
        self.packets_per_wait.add(self.since_wait);
        self.credited_per_wait.add(self.credited);
        (self.since_wait, self.credited) = (0, 0);
        Some(self.delay)
    }

    /// What it came to.
    pub(super) fn conclude(self) -> Waits {
        Waits {
            microseconds_per_packet: self.per_packet.unsigned_abs(),
            waits: self.packets_per_wait.total,
            packets_per_wait: self.packets_per_wait.median(),
            credited_per_wait: self.credited_per_wait.median(),
        }
    }
}

/// What the loop of 2007 came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// The whole microseconds per datagram.
    pub microseconds_per_packet: u64,
    /// How often it waited.
    pub waits: u64,
    /// The median of the datagrams from one wait to the next.
    pub packets_per_wait: Option<u64>,
    /// The median of those that were taken into the running delay.
    pub credited_per_wait: Option<u64>,
}

/// The whole microseconds per datagram at an asked rate.
pub fn microseconds_per_packet(packets_per_second: f64) -> u64 {
    // A quotient that is whole but for its last bit is whole.
    (1e6 / packets_per_second + 1e-9) as u64
}

/// What a clock of this step, in nanoseconds, predicts for the datagrams that are credited between
/// two waits: r / T; absent where the clock is too fine to decide it, or nothing is ever waited for.
pub fn packets_per_wait(step: f64, microseconds_per_packet: u64) -> Option<u64> {
    let step = (step / 1e3).round() as u64;
    (microseconds_per_packet > 0 && step >= microseconds_per_packet)
        .then(|| step / microseconds_per_packet)
}

/// An absolute schedule: datagram n is due n gaps after the start, whatever became of the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    start: f64,
    gap: f64,
}

impl Schedule {
    /// A schedule that begins when its clock shows `start` nanoseconds.
    pub(super) fn new(start: f64, packets_per_second: f64) -> Self {
        Self {
            start,
            gap: 1e9 / packets_per_second,
        }
    }

    /// What the clock shows when a datagram is due, in nanoseconds.
    pub(super) fn due(&self, index: u64) -> f64 {
        self.start + (index as f64 * self.gap).round()
    }
}

/// How many values of each size there were.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    counts: BTreeMap<u64, u64>,
    total: u64,
}

impl Counts {
    pub(super) fn add(&mut self, value: u64) {
        *self.counts.entry(value).or_default() += 1;
        self.total += 1;
    }

    fn median(&self) -> Option<u64> {
        self.quantile(0.5)
    }

    /// The smallest value that at least this share of all does not exceed.
    pub(super) fn quantile(&self, share: f64) -> Option<u64> {
        let wanted = ((self.total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        self.counts.iter().find_map(|(value, count)| {
            seen += count;
            (seen >= wanted).then_some(*value)
        })
    }

    /// The share of the values within these bounds; absent where there are none.
    pub(super) fn share_within(&self, bounds: std::ops::RangeInclusive<u64>) -> Option<f64> {
        let within: u64 = self.counts.range(bounds).map(|(_, count)| count).sum();
        (self.total > 0).then(|| within as f64 / self.total as f64)
    }
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
    }

    #[test]
    fn a_wait_for_a_tick_is_worked_off_by_the_packets_after_it() {
        let mut pacer = Iperf2::new(10, 0);
        assert_eq!(pacer.packet(0), Some(10));
        let free = (0..1000)
            .take_while(|_| pacer.packet(4000).is_none())
            .count();
        assert_eq!(free, 399);
        assert_eq!(pacer.conclude().packets_per_wait, Some(1));
    }

    #[test]
    fn what_a_clock_predicts_is_its_step_over_the_time_per_packet() {
        assert_eq!(packets_per_wait(4e6, 1), Some(4000));
        assert_eq!(packets_per_wait(1e6, 10), Some(100));
        assert_eq!(packets_per_wait(1.0, 4), None);
        assert_eq!(packets_per_wait(4e6, 0), None);
    }

    #[test]
    fn quantiles_are_values_that_were_seen() {
        let mut counts = Counts::default();
        assert_eq!(counts.quantile(0.5), None);
        for value in [1, 2, 2, 3, 100] {
            counts.add(value);
        }
        assert_eq!(counts.quantile(0.5), Some(2));
        assert_eq!(counts.quantile(0.99), Some(100));
        assert_eq!(counts.share_within(2..=3), Some(0.6));
    }
}
