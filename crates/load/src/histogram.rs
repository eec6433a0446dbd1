//! A histogram of whole numbers whose buckets widen with the value, made once: counting into it
//! allocates nothing. It is the scheme of the HDR histograms: so many bits of precision at every
//! magnitude.

/// Counts by value. Values below `2 << precision` have a bucket each; above, a bucket is at most
/// `2^-precision` of its value wide.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Box<[u64]>,
    precision: u32,
    total: u64,
    sum: u128,
    smallest: u64,
    largest: u64,
}

/// A bucket that has values in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Its smallest value.
    pub from: u64,
    /// The smallest value above it.
    pub to: u64,
    /// How many values it has.
    pub count: u64,
}

impl Histogram {
    /// An empty histogram for values of up to 40 bits; larger ones go to the last bucket.
    pub fn new(precision: u32) -> Self {
        let buckets = index(precision, LARGEST) + 1;
        Self {
            counts: vec![0; buckets].into_boxed_slice(),
            precision,
            total: 0,
            sum: 0,
            smallest: u64::MAX,
            largest: 0,
        }
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.counts[index(self.precision, value.min(LARGEST))] += 1;
        self.total += 1;
        self.sum += u128::from(value);
        self.smallest = self.smallest.min(value);
        self.largest = self.largest.max(value);
    }

    /// Counts what another histogram has counted as well. Of another precision, its values count
    /// as the beginnings of their buckets.
    pub fn merge(&mut self, other: &Self) {
        for bucket in other.buckets() {
            self.counts[index(self.precision, bucket.from)] += bucket.count;
        }
        self.total += other.total;
        self.sum += other.sum;
        self.smallest = self.smallest.min(other.smallest);
        self.largest = self.largest.max(other.largest);
    }

    /// The buckets that have values, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> {
        let precision = self.precision;
        self.counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(move |(bucket, count)| Bucket {
                from: lower_bound(precision, bucket),
                to: lower_bound(precision, bucket + 1),
                count: *count,
            })
    }

    /// The smallest value itself; absent where there is none.
    pub fn smallest(&self) -> Option<u64> {
        (self.total > 0).then_some(self.smallest)
    }

    /// The largest value itself; absent where there is none.
    pub fn largest(&self) -> Option<u64> {
        (self.total > 0).then_some(self.largest)
    }

    /// The sum of the values themselves.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The mean of the values themselves; absent where there is none.
    pub fn mean(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum as f64 / self.total as f64)
    }

    /// How many values were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The value that this share (0 to 1) of the values do not exceed, as the lower bound of its
    /// bucket; absent where there is none.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = ((self.total as f64 * share).ceil() as u64).clamp(1, self.total.max(1));
        let mut counted = 0;
        self.counts
            .iter()
            .position(|count| {
                counted += count;
                counted >= rank
            })
            .map(|bucket| lower_bound(self.precision, bucket))
    }

    /// The share of the values, 0 to 1, whose bucket begins within these bounds, both included;
    /// absent where there is no value.
    pub fn share_within(&self, low: u64, high: u64) -> Option<f64> {
        if self.total == 0 {
            return None;
        }
        let within: u64 = self
            .counts
            .iter()
            .enumerate()
            .filter(|&(bucket, _)| (low..=high).contains(&lower_bound(self.precision, bucket)))
            .map(|(_, count)| count)
            .sum();
        Some(within as f64 / self.total as f64)
    }
}

/// 2^40 - 1: eighteen minutes in nanoseconds.
const LARGEST: u64 = (1 << 40) - 1;

fn index(precision: u32, value: u64) -> usize {
    let magnitude = 63 - (value | 1).leading_zeros();
    let shift = magnitude.saturating_sub(precision);
    ((u64::from(shift) << precision) + (value >> shift)) as usize
}

fn lower_bound(precision: u32, bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket >> precision).saturating_sub(1);
    (bucket - (shift << precision)) << shift
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_empty_histogram_has_no_quantile() {
        let empty = Histogram::new(5);
        assert_eq!(empty.quantile(0.5), None);
        assert_eq!(empty.share_within(0, 10), None);
        assert_eq!(empty.largest().or(empty.smallest()), None);
        assert_eq!(empty.mean(), None);
        assert_eq!(empty.buckets().count(), 0);
    }

    #[test]
    fn small_values_are_kept_exactly() {
        let mut histogram = Histogram::new(12);
        for value in [4000, 4000, 4000, 1, 8191] {
            histogram.record(value);
        }
        assert_eq!(histogram.quantile(0.0), Some(1));
        assert_eq!(histogram.quantile(0.5), Some(4000));
        assert_eq!(histogram.quantile(1.0), Some(8191));
        assert_eq!(histogram.share_within(3600, 4400), Some(0.6));
    }

    proptest! {
        #[test]
        fn a_value_lies_in_its_bucket(precision in 1u32..13, value in 0u64..LARGEST) {
            let bucket = index(precision, value);
            let low = lower_bound(precision, bucket);
            prop_assert!(low <= value && value < lower_bound(precision, bucket + 1));
            prop_assert!((value - low) as f64 <= value as f64 / f64::from(1 << precision));
        }

        #[test]
        fn two_merged_are_one_that_counted_everything(
            precision in 1u32..13,
            first in proptest::collection::vec(0u64..LARGEST, 0..50),
            second in proptest::collection::vec(0u64..LARGEST, 0..50),
        ) {
            let counted = |values: &[u64]| {
                let mut histogram = Histogram::new(precision);
                values.iter().for_each(|value| histogram.record(*value));
                histogram
            };
            let mut merged = counted(&first);
            merged.merge(&counted(&second));
            let all = counted(&[first, second].concat());
            prop_assert_eq!(merged.counts, all.counts.clone());
            prop_assert_eq!(merged.largest, all.largest);
            prop_assert_eq!(merged.smallest, all.smallest);
            prop_assert_eq!(merged.sum, all.sum);
            prop_assert_eq!(all.buckets().map(|bucket| bucket.count).sum::<u64>(), all.total);
            prop_assert!(all.buckets().all(|bucket| bucket.from < bucket.to));
        }

        #[test]
        fn no_value_is_beyond_the_histogram(precision in 1u32..13, value in any::<u64>()) {
            let mut histogram = Histogram::new(precision);
            histogram.record(value);
            prop_assert!(histogram.quantile(0.5) <= Some(value));
        }
    }
}
