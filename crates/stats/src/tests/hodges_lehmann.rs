//! The Hodges-Lehmann estimate: the shift that rank tests see, with its interval.

use super::pair_selection::{difference, walsh_average};
use super::rank_distribution::RankSums;
use crate::confidence::Confidence;
use crate::degenerate::{Degenerate, finite, require};
use crate::distributions::{Normal, Probability};
use crate::interval::Interval;
use crate::summary::sorted;

/// A shift and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The median of all pairs.
    pub estimate: f64,
    /// The interval that inverts the rank test; none with too few values for the confidence.
    pub interval: Option<Interval>,
}

/// Up to so many values the order statistics of the interval come from the exact distribution.
const EXACT_UP_TO: usize = 50;

/// The shift of `other` against `reference`: the median of all n·m differences, with the interval
/// that inverts the Mann-Whitney test (Hodges and Lehmann 1963; Lehmann 1963). The interval is that
/// for values without ties, which is at least as wide as it need be with them.
///
/// # Errors
/// When a sample is empty, a value is not finite, or a difference overflows.
pub fn shift(
    reference: &[f64],
    other: &[f64],
    confidence: Confidence,
) -> Result<Shift, Degenerate> {
    require(reference, 1)?;
    require(other, 1)?;
    let (reference, other) = (sorted(reference), sorted(other));
    finite(other[other.len() - 1] - reference[0], "a difference")?;
    finite(reference[reference.len() - 1] - other[0], "a difference")?;
    let (n, m) = (reference.len(), other.len());
    let pairs = n as u64 * m as u64;
    let tail = confidence.alpha() / 2.0;
    // The largest U with P(U <= u) <= tail; the interval leaves u pairs out at each end.
    let left_out = if n + m <= EXACT_UP_TO {
        let ranks: Vec<usize> = (1..=n + m).map(|rank| 2 * rank).collect();
        RankSums::of_choices(&ranks, m)
            .lower_critical(tail)
            .and_then(|sum| (sum as u64 / 2).checked_sub(m as u64 * (m as u64 + 1) / 2))
            .map(|u| u + 1)
    } else {
        let (n, m) = (n as f64, m as f64);
        normal_count(
            n * m / 2.0,
            (n * m * (n + m + 1.0) / 12.0).sqrt(),
            confidence,
        )
    };
    let at = |k: u64| difference(&reference, &other, k);
    Ok(shift_of(pairs, left_out, at))
}

/// The centre of symmetry of `differences`: the median of the means of all pairs (a value with
/// itself included), with the interval that inverts the signed-rank test.
///
/// # Errors
/// When there is no difference or one is not finite.
pub fn centre(differences: &[f64], confidence: Confidence) -> Result<Shift, Degenerate> {
    require(differences, 1)?;
    let sorted = sorted(differences);
    let n = sorted.len();
    let pairs = n as u64 * (n as u64 + 1) / 2;
    let tail = confidence.alpha() / 2.0;
    let left_out = if n <= EXACT_UP_TO {
        let ranks: Vec<usize> = (1..=n).map(|rank| 2 * rank).collect();
        RankSums::of_signs(&ranks)
            .lower_critical(tail)
            .map(|sum| sum as u64 / 2 + 1)
    } else {
        let n = n as f64;
        let sd = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        normal_count(n * (n + 1.0) / 4.0, sd, confidence)
    };
    Ok(shift_of(pairs, left_out, |k| walsh_average(&sorted, k)))
}

/// How many pairs to leave out at each end, by the normal distribution.
fn normal_count(mean: f64, sd: f64, confidence: Confidence) -> Option<u64> {
    let z = Normal.upper_quantile(Probability::of_one_tail(confidence));
    let left_out = (mean - z * sd).floor();
    (left_out >= 1.0).then_some(left_out as u64)
}

fn shift_of(pairs: u64, left_out: Option<u64>, at: impl Fn(u64) -> f64) -> Shift {
    let (low, high) = (at(pairs.div_ceil(2)), at(pairs / 2 + 1));
    let interval = left_out.filter(|k| 2 * k <= pairs).map(|k| Interval {
        low: at(k),
        high: at(pairs + 1 - k),
    });
    Shift {
        estimate: low / 2.0 + high / 2.0,
        interval,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_shift() {
        let reference = [1.0, 2.0, 3.0, 4.0, 5.0];
        let other = [11.0, 12.0, 13.0, 14.0, 15.0];
        let found = shift(&reference, &other, Confidence::PERCENT_95).unwrap();
        assert_eq!(found.estimate, 10.0);
        let interval = found.interval.unwrap();
        assert!(interval.contains(10.0) && interval.width() > 0.0);
        let few = shift(&[1.0, 2.0], &[3.0, 4.0], Confidence::PERCENT_95).unwrap();
        assert_eq!((few.estimate, few.interval), (2.0, None));
        assert!(shift(&[], &[1.0], Confidence::PERCENT_95).is_err());
        assert!(shift(&[-1.7e308], &[1.7e308], Confidence::PERCENT_95).is_err());
    }

    #[test]
    fn a_centre_of_symmetry() {
        let found = centre(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], Confidence::PERCENT_95).unwrap();
        assert_eq!(found.estimate, 3.5);
        // P(W <= 0) = 1/64 <= 0.025 < P(W <= 1): one pair left out, that is none.
        assert_eq!(
            found.interval,
            Some(Interval {
                low: 1.0,
                high: 6.0
            })
        );
        assert_eq!(
            centre(&[7.0], Confidence::PERCENT_95).unwrap().interval,
            None
        );
    }
}
