//! Gaps and one-way delays of a flow, from the kernel's times of arrival.

use crate::histogram::Histogram;

/// Gaps between arrivals, and delays from one end's clock to the other's.
pub(super) struct Delays {
    /// Nanoseconds from one arrival to the next.
    pub gaps: Histogram,
    /// Nanoseconds from sending to arrival; absent where datagrams carry no time.
    pub one_way: Option<Histogram>,
    /// Arrivals that seem to come before their sending: the clocks' offset is known no better.
    pub before_sent: u64,
    /// What the receiver's clock is ahead of the sender's, in nanoseconds, as estimated.
    offset: i64,
    last: Option<u64>,
}

/// Four in a thousand.
pub(super) const PRECISION: u32 = 8;

impl Delays {
    /// Nothing yet.
    pub(super) fn new(is_timed: bool, offset: i64) -> Self {
        Self {
            gaps: Histogram::new(PRECISION),
            one_way: is_timed.then(|| Histogram::new(PRECISION)),
            before_sent: 0,
            offset,
            last: None,
        }
    }

    /// Takes an arrival into account. The first one only seeds the gaps.
    #[inline]
    pub(super) fn arrived(&mut self, at: u64, sent: Option<u64>) {
        if let Some(last) = self.last.replace(at) {
            self.gaps.record(at.saturating_sub(last));
        }
        if let (Some(delays), Some(sent)) = (&mut self.one_way, sent) {
            let difference = at.wrapping_sub(sent).cast_signed();
            let delay = difference.saturating_sub(self.offset);
            self.before_sent += u64::from(delay < 0);
            delays.record(delay.max(0).cast_unsigned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_are_apart_cost_a_delay_no_precision() {
        for offset in [0i64, 3_600_000_000_000, -3_600_000_000_000] {
            let mut delays = Delays::new(true, offset);
            for sent in [1u64 << 60, (1 << 60) + 1000] {
                delays.arrived(sent.wrapping_add_signed(offset) + 250, Some(sent));
            }
            assert_eq!(delays.one_way.unwrap().quantile(1.0), Some(250), "{offset}");
            assert_eq!(delays.gaps.quantile(0.5), Some(1000));
            assert_eq!(delays.before_sent, 0);
        }
    }

    #[test]
    fn an_arrival_before_its_sending_is_counted_as_one() {
        let mut delays = Delays::new(true, 100);
        delays.arrived(1000, Some(990));
        assert_eq!(delays.before_sent, 1);
        assert_eq!(delays.one_way.unwrap().quantile(0.5), Some(0));
    }

    #[test]
    fn no_stamp_however_wild_overflows() {
        let mut delays = Delays::new(true, i64::MIN);
        for stamp in [0, u64::MAX, 1 << 63] {
            delays.arrived(5, Some(stamp));
        }
        assert_eq!(delays.one_way.unwrap().total(), 3);
    }
}
