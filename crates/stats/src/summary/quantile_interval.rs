//! Confidence intervals of quantiles that assume nothing about the distribution.

use super::quantile::sorted;
use crate::confidence::Confidence;
use crate::degenerate::{Degenerate, require};
use crate::distributions::regularised_beta;
use crate::interval::Interval;

/// An interval between two order statistics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileInterval {
    /// The interval.
    pub interval: Interval,
    /// Which order statistics its ends are, counted from 1.
    pub ranks: (usize, usize),
    /// The probability that such an interval holds the quantile; at least what was wanted.
    pub coverage: f64,
}

/// The probability that the quantile at `p` lies below the order statistic of `rank` (from 1),
/// for a continuous distribution: that fewer than `rank` of n values lie below it.
fn probability_below(rank: usize, n: usize, p: f64) -> f64 {
    let (rank, n) = (rank as f64, n as f64);
    regularised_beta(rank, n - rank + 1.0, p, 1.0 - p).upper
}

/// The interval of the quantile at `p` between order statistics whose tails are each at most half
/// of what `confidence` leaves (Hahn and Meeker 1991, 5.2).
///
/// # Errors
/// When there is no value, one is not finite, `p` does not lie strictly between 0 and 1, or there
/// are too few values for the smallest and the largest to reach the confidence.
pub fn quantile_interval(
    values: &[f64],
    p: f64,
    confidence: Confidence,
) -> Result<QuantileInterval, Degenerate> {
    require(values, 1)?;
    if !(p > 0.0 && p < 1.0) {
        return Err(Degenerate::OutOfRange {
            name: "the place of a quantile",
            value: p,
            wanted: "strictly between 0 and 1",
        });
    }
    let n = values.len();
    let tail = confidence.alpha() / 2.0;
    // The chance of missing below falls with the lower rank, that of missing above with the upper.
    let lower = partition_point(1, n, |rank| probability_below(rank, n, p) <= tail)
        .checked_sub(1)
        .filter(|rank| *rank >= 1);
    let upper = partition_point(1, n, |rank| 1.0 - probability_below(rank, n, p) > tail);
    let (Some(lower), true) = (lower, upper <= n) else {
        return Err(Degenerate::TooFew {
            needed: needed(p, tail),
            got: n,
        });
    };
    let sorted = sorted(values);
    Ok(QuantileInterval {
        interval: Interval {
            low: sorted[lower - 1],
            high: sorted[upper - 1],
        },
        ranks: (lower, upper),
        coverage: probability_below(upper, n, p) - probability_below(lower, n, p),
    })
}

/// The interval of the median between order statistics.
///
/// # Errors
/// As [`quantile_interval`]; at 95 % at least six values are needed.
pub fn median_interval(
    values: &[f64],
    confidence: Confidence,
) -> Result<QuantileInterval, Degenerate> {
    quantile_interval(values, 0.5, confidence)
}

/// The first of `from..=to` for which `holds` no longer is true, or `to + 1`.
fn partition_point(from: usize, to: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (from, to + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The smallest n with `p^n <= tail` and `(1-p)^n <= tail`.
fn needed(p: f64, tail: f64) -> usize {
    let farther = p.max(1.0 - p);
    (libm::log(tail) / libm::log(farther)).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_ten_lies_between_the_second_and_the_ninth() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let found = median_interval(&values, Confidence::PERCENT_95).unwrap();
        assert_eq!(found.ranks, (2, 9));
        // 1 - 2 (1 + 10) / 1024
        assert!((found.coverage - (1.0 - 22.0 / 1024.0)).abs() < 1e-14);
        assert_eq!(
            found.interval,
            Interval {
                low: 2.0,
                high: 9.0
            }
        );
    }

    #[test]
    fn five_values_are_too_few_and_six_enough() {
        let error = median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], Confidence::PERCENT_95);
        assert_eq!(error, Err(Degenerate::TooFew { needed: 6, got: 5 }));
        let six = median_interval(&[6.0, 1.0, 2.0, 3.0, 4.0, 5.0], Confidence::PERCENT_95);
        assert_eq!(six.unwrap().ranks, (1, 6));
    }

    #[test]
    fn a_high_quantile_needs_many_values() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let found = quantile_interval(&values, 0.99, Confidence::PERCENT_95).unwrap();
        assert!(found.interval.low < 990.0 && found.interval.high > 990.0);
        assert!(found.coverage >= 0.95 && found.coverage < 0.98);
        assert!(quantile_interval(&values[..100], 0.99, Confidence::PERCENT_95).is_err());
    }
}
