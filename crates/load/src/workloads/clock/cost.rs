//! What a reading costs: batches of readings between two readings of the stopwatch.

use std::hint::black_box;

use super::super::survey::Distribution;
use crate::histogram::Histogram;

/// A batch takes this many steps of the stopwatch, so that a step is one part in a hundred of it.
const STEPS_IN_A_BATCH: u64 = 100;

/// Even a costless reading is read no more often than this in a batch.
const LARGEST_BATCH: u64 = 512;

/// Costs are counted in picoseconds.
pub(super) const PER_NANOSECOND: f64 = 1000.0;

/// Samples of the cost of one way to read one clock.
pub(super) struct Costs {
    batch: u64,
    histogram: Histogram,
}

impl Costs {
    /// No sample yet; the batch is made long enough for a stopwatch of this step. `stopwatch`
    /// gives nanoseconds.
    pub(super) fn new(
        granularity: u64,
        mut stopwatch: impl FnMut() -> u64,
        mut read: impl FnMut() -> u64,
    ) -> Self {
        let wanted = STEPS_IN_A_BATCH * granularity.max(1);
        let mut batch = 1;
        // The first reading of all may be slow for reasons of its own.
        black_box(read());
        while batch < LARGEST_BATCH && timed(batch, &mut stopwatch, &mut read) < wanted {
            batch *= 2;
        }
        Self {
            batch,
            histogram: Histogram::new(Distribution::PRECISION),
        }
    }

    /// One sample more. Allocates nothing.
    #[inline]
    pub(super) fn sample(
        &mut self,
        mut stopwatch: impl FnMut() -> u64,
        mut read: impl FnMut() -> u64,
    ) {
        let nanoseconds = timed(self.batch, &mut stopwatch, &mut read);
        self.histogram.record(nanoseconds * 1000 / self.batch);
    }

    /// The distribution of the samples, in nanoseconds.
    pub(super) fn distribution(&self) -> Option<Distribution> {
        Distribution::of(&self.histogram, PER_NANOSECOND)
    }
}

#[inline]
fn timed(batch: u64, stopwatch: &mut impl FnMut() -> u64, read: &mut impl FnMut() -> u64) -> u64 {
    let before = stopwatch();
    for _ in 0..batch {
        black_box(read());
    }
    stopwatch().saturating_sub(before)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_cost_is_found_to_a_hundredth(cost in 1u64..5_000, step in 1u64..50) {
            let time = Cell::new(0u64);
            let stopwatch = || time.get() / step * step;
            let read = || {
                time.set(time.get() + cost);
                7
            };
            let mut costs = Costs::new(step, stopwatch, read);
            for _ in 0..10 {
                costs.sample(stopwatch, read);
            }
            let found = costs.distribution().unwrap();
            prop_assert_eq!(found.count, 10);
            // A step of the stopwatch, or where the batch is as large as it gets, more.
            let error = (step as f64 / costs.batch as f64).max(0.01);
            prop_assert!((found.mean - cost as f64).abs() <= error, "{} of {cost}", found.mean);
        }
    }

    #[test]
    fn a_costly_reading_is_not_made_in_batches() {
        let time = Cell::new(0u64);
        let costs = Costs::new(
            20,
            || time.get(),
            || {
                time.set(time.get() + 3_000);
                0
            },
        );
        assert_eq!(costs.batch, 1);
    }
}
