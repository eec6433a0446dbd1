//! Wilcoxon's signed-rank test: whether differences are symmetric about zero.

use super::rank_distribution::{RankSums, doubled};
use super::ranks::{midranks, tie_term};
use crate::degenerate::{Degenerate, require};
use crate::distributions::Normal;

/// How a p-value of a rank test was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// By counting all arrangements, ties included.
    Exact,
    /// By the normal distribution, corrected for ties and for continuity.
    Normal,
}

/// The result of a signed-rank test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// The differences that are not zero; only they are ranked (Wilcoxon's own rule).
    pub n: usize,
    /// The differences that are zero.
    pub zeros: usize,
    /// The sum of the ranks of the positive differences.
    pub positive_sum: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// How it was found.
    pub method: Method,
}

/// Up to so many differences the p-value is counted.
const EXACT_UP_TO: usize = 50;

/// Tests whether `differences` are symmetric about zero: exactly for up to 50 of them that are not
/// zero (Wilcoxon 1945, with shared ranks counted as they are), and by the normal distribution
/// beyond.
///
/// # Errors
/// When there is no difference, one is not finite, or all are zero.
pub fn signed_rank(differences: &[f64]) -> Result<SignedRank, Degenerate> {
    require(differences, 1)?;
    let nonzero: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let n = nonzero.len();
    if n == 0 {
        return Err(Degenerate::AllZero {
            n: differences.len(),
        });
    }
    let distances: Vec<f64> = nonzero.iter().map(|d| d.abs()).collect();
    let ranks = midranks(&distances);
    let positive_sum: f64 = ranks
        .iter()
        .zip(&nonzero)
        .filter(|(_, difference)| **difference > 0.0)
        .map(|(rank, _)| rank)
        .sum();
    let (p, method) = if n <= EXACT_UP_TO {
        let sums = RankSums::of_signs(&doubled(&ranks));
        (sums.two_sided(2.0 * positive_sum), Method::Exact)
    } else {
        (normal_p(&ranks, positive_sum), Method::Normal)
    };
    Ok(SignedRank {
        n,
        zeros: differences.len() - n,
        positive_sum,
        p,
        method,
    })
}

/// The two-sided p-value by the normal distribution, ties and continuity corrected.
fn normal_p(ranks: &[f64], positive_sum: f64) -> f64 {
    let n = ranks.len() as f64;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tie_term(ranks) / 48.0;
    let distance = (positive_sum - n * (n + 1.0) / 4.0).abs();
    let z = (distance - 0.5).max(0.0) / variance.sqrt();
    (2.0 * Normal.survival(z)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_six_on_one_side() {
        let found = signed_rank(&[-0.1, -0.3, -0.2, -0.5, -0.4, -0.6]).unwrap();
        assert_eq!((found.positive_sum, found.p), (0.0, 0.03125));
        let equal = signed_rank(&[2.0; 6]).unwrap();
        assert_eq!(equal.p, 0.03125);
    }

    #[test]
    fn zeros_are_counted_and_not_ranked() {
        let found = signed_rank(&[0.0, 1.0, 2.0, -0.0]).unwrap();
        assert_eq!((found.n, found.zeros, found.p), (2, 2, 0.5));
        assert_eq!(signed_rank(&[0.0, 0.0]), Err(Degenerate::AllZero { n: 2 }));
        assert!(signed_rank(&[]).is_err());
    }

    #[test]
    fn the_normal_distribution_continues_the_exact_one() {
        let values: Vec<f64> = (1..=51)
            .map(|i| f64::from(i) * if i % 3 == 0 { -1.0 } else { 1.0 })
            .collect();
        let exact = signed_rank(&values[..50]).unwrap();
        let ranks: Vec<f64> = (1..=50).map(f64::from).collect();
        let normal = normal_p(&ranks, exact.positive_sum);
        assert_eq!(exact.method, Method::Exact);
        assert!((exact.p - normal).abs() < 0.001, "{exact:?} {normal}");
        assert_eq!(signed_rank(&values).unwrap().method, Method::Normal);
    }
}
