//! Whether the values fall into two clusters.

use crate::degenerate::{Degenerate, require};
use crate::summary::{Moments, sorted};

/// Two clusters of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoModes {
    /// The mean of the lower cluster.
    pub lower: f64,
    /// The mean of the upper cluster.
    pub upper: f64,
    /// How many values the lower cluster has.
    pub lower_count: usize,
    /// The share of the total sum of squares that the split explains, from 0 to 1.
    pub explained: f64,
}

/// The share that a split must explain to count, for n values.
///
/// The best split of a normal sample explains 2/π = 0.637 in the limit, that of a uniform one 0.75.
/// Small samples explain more by chance: the limit follows, as simulated, what about one uniform
/// sample in a hundred exceeds. Of normal samples fewer than one in three hundred do.
fn threshold(n: usize) -> f64 {
    0.76 + 0.58 / (n as f64).sqrt()
}

/// Looks for two clusters: the split of the sorted values into two that explains the largest share
/// of the sum of squares (two means in one dimension), each with at least two values and a tenth of
/// all, so that an outlier is no mode. Reported when the share exceeds `0.76 + 0.58 / sqrt(n)`.
///
/// # Errors
/// When there are fewer than eight values or one is not finite.
pub fn bimodality(values: &[f64]) -> Result<Option<TwoModes>, Degenerate> {
    require(values, 8)?;
    let moments = Moments::of(values)?;
    let n = values.len();
    let sd = moments.sd.unwrap_or(0.0);
    if sd == 0.0 {
        return Ok(None);
    }
    let mut scores: Vec<f64> = values
        .iter()
        .map(|value| (value - moments.mean) / sd)
        .collect();
    scores.sort_unstable_by(f64::total_cmp);
    let fewest = 2.max(n.div_ceil(10));
    let total = (n - 1) as f64;
    let (mut sum, mut best) = (0.0, (0, 0.0));
    for (index, score) in scores.iter().enumerate().take(n - fewest) {
        sum += score;
        let count = (index + 1) as f64;
        // Standardised scores sum to zero, so that both clusters follow from one sum.
        let explained = sum * sum * (1.0 / count + 1.0 / (n as f64 - count)) / total;
        if index + 1 >= fewest && explained > best.1 {
            best = (index + 1, explained);
        }
    }
    let (lower_count, explained) = best;
    if explained <= threshold(n) {
        return Ok(None);
    }
    let sorted = sorted(values);
    let (lower, upper) = sorted.split_at(lower_count);
    Ok(Some(TwoModes {
        lower: Moments::of(lower)?.mean,
        upper: Moments::of(upper)?.mean,
        lower_count,
        explained: explained.min(1.0),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clusters_are_found() {
        // Eight builds of which two were faster.
        let plus = [11.68, 11.45, 11.63, 11.65, 11.46, 11.67, 11.67, 11.68];
        let found = bimodality(&plus).unwrap().unwrap();
        assert_eq!(found.lower_count, 2);
        assert!((found.lower - 11.455).abs() < 1e-12);
    }

    #[test]
    fn one_cluster_or_an_outlier_is_not_two() {
        let uniform: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(bimodality(&uniform), Ok(None));
        let outlier = [1.0, 1.1, 1.2, 1.0, 1.1, 1.2, 1.1, 9.0];
        assert_eq!(bimodality(&outlier), Ok(None));
        assert_eq!(bimodality(&[1.0; 9]), Ok(None));
        assert!(bimodality(&[1.0, 2.0]).is_err());
    }
}
