//! The Mann-Whitney test: whether one sample tends to larger values than another.

use super::rank_distribution::{RankSums, doubled};
use super::ranks::{midranks, tie_term};
use super::signed_rank::Method;
use crate::degenerate::{Degenerate, require};
use crate::distributions::Normal;

/// The result of a Mann-Whitney test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// The pairs in which the value of `other` is larger, ties counting one half.
    pub u: f64,
    /// `u` over the number of pairs: the probability that a value of `other` is the larger one.
    pub probability_larger: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// How it was found.
    pub method: Method,
}

/// Up to so many values in both samples together the p-value is counted.
const EXACT_UP_TO: usize = 50;

/// Tests whether `other` tends to larger or smaller values than `reference`: exactly, ties
/// included, for up to 50 values in all, and beyond by the normal distribution with ties and
/// continuity corrected (Mann and Whitney 1947; Lehmann 1975).
///
/// # Errors
/// When a sample is empty, a value is not finite, or all values are equal.
pub fn mann_whitney(reference: &[f64], other: &[f64]) -> Result<MannWhitney, Degenerate> {
    require(reference, 1)?;
    require(other, 1)?;
    let all: Vec<f64> = reference.iter().chain(other).copied().collect();
    if all.iter().all(|value| *value == all[0]) {
        return Err(Degenerate::ZeroVariance {
            n: all.len(),
            value: 0.0,
        });
    }
    let ranks = midranks(&all);
    let (n, m) = (reference.len() as f64, other.len() as f64);
    let rank_sum: f64 = ranks[reference.len()..].iter().sum();
    let u = rank_sum - m * (m + 1.0) / 2.0;
    let (p, method) = if all.len() <= EXACT_UP_TO {
        let sums = RankSums::of_choices(&doubled(&ranks), other.len());
        (sums.two_sided(2.0 * rank_sum), Method::Exact)
    } else {
        let total = n + m;
        let variance = n * m / 12.0 * (total + 1.0 - tie_term(&ranks) / (total * (total - 1.0)));
        let z = ((u - n * m / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
        ((2.0 * Normal.survival(z)).min(1.0), Method::Normal)
    };
    Ok(MannWhitney {
        u,
        probability_larger: u / (n * m),
        p,
        method,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_against_eight_wholly_apart() {
        let low = [1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 5.0];
        let high: Vec<f64> = low.iter().map(|value| value + 10.0).collect();
        let found = mann_whitney(&high, &low).unwrap();
        assert_eq!(found.u, 0.0);
        // 2 / C(16, 8)
        assert!((found.p / 0.0001554001554001554 - 1.0).abs() < 1e-12);
        assert_eq!(found.method, Method::Exact);
    }

    #[test]
    fn odd_inputs_have_a_defined_answer() {
        assert!(mann_whitney(&[], &[1.0]).is_err());
        assert!(mann_whitney(&[1.0, 1.0], &[1.0]).is_err());
        assert!((mann_whitney(&[1.0], &[2.0]).unwrap().p - 1.0).abs() < 1e-12);
    }
}
