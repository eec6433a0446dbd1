//! How far the receiver's clock is ahead of the sender's, from questions and answers (as in
//! RFC 5905). Pure.

use serde::Serialize;

/// One question and its answer, in nanoseconds: asked and heard by the sender's clock, arrived and
/// answered by the receiver's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub asked: u64,
    pub arrived: u64,
    pub answered: u64,
    pub heard: u64,
}

impl Exchange {
    /// The time on the way, there and back.
    pub(super) fn round_trip(&self) -> u64 {
        let total = self.heard.saturating_sub(self.asked);
        total.saturating_sub(self.answered.saturating_sub(self.arrived))
    }

    fn offset(&self) -> i64 {
        let there = i128::from(self.arrived) - i128::from(self.asked);
        let back = i128::from(self.answered) - i128::from(self.heard);
        let middle = (there + back) / 2;
        middle.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }
}

/// The difference of two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Offset {
    /// What the receiver's clock is ahead, in nanoseconds.
    pub nanoseconds: i64,
    /// How far off that can be: half of the quickest round trip, as if all of it were one way.
    pub uncertainty_nanoseconds: u64,
}

impl Offset {
    /// The same as the other end sees it.
    pub(super) fn reversed(self) -> Self {
        Self {
            nanoseconds: self.nanoseconds.saturating_neg(),
            ..self
        }
    }
}

/// The offset by the quickest exchange, on which the least went wrong; absent without one.
pub(super) fn estimate(exchanges: &[Exchange]) -> Option<Offset> {
    let quickest = exchanges
        .iter()
        .min_by_key(|exchange| exchange.round_trip())?;
    Some(Offset {
        nanoseconds: quickest.offset(),
        uncertainty_nanoseconds: quickest.round_trip().div_ceil(2),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_true_offset_lies_within_the_uncertainty(
            offset in -1_000_000_000_000i64..1_000_000_000_000,
            ways in proptest::collection::vec((0u64..10_000_000, 0u64..10_000_000), 1..20),
            start in 10_000_000_000_000u64..(1 << 60),
        ) {
            let exchanges: Vec<Exchange> = ways
                .iter()
                .map(|&(there, back)| Exchange {
                    asked: start,
                    arrived: (start + there).wrapping_add_signed(offset),
                    answered: (start + there + 500).wrapping_add_signed(offset),
                    heard: start + there + 500 + back,
                })
                .collect();
            let found = estimate(&exchanges).unwrap();
            prop_assert!(found.nanoseconds.abs_diff(offset) <= found.uncertainty_nanoseconds);
        }

        #[test]
        fn no_times_however_wild_overflow(a: u64, b: u64, c: u64, d: u64) {
            let exchange = Exchange { asked: a, arrived: b, answered: c, heard: d };
            prop_assert!(estimate(&[exchange]).is_some());
        }
    }

    #[test]
    fn without_an_answer_there_is_no_offset() {
        assert_eq!(estimate(&[]), None);
    }
}
