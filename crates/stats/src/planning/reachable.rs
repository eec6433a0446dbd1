//! The smallest number of repetitions with which a test can reach a level at all.

use super::require_alpha;
use crate::degenerate::Degenerate;

/// The fewest repetitions with which each test can give a p-value of at most alpha over the
/// family, however large the effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmallestReachable {
    /// Blocks for the paired t test, whose p-value is bounded by no count: two.
    pub paired_t: usize,
    /// Blocks for the exact signed-rank test, whose smallest p-value is 2 / 2^n.
    pub signed_rank: usize,
    /// Values in each of two equal groups for the exact Mann-Whitney test, whose smallest p-value
    /// is 2 / C(2n, n).
    pub mann_whitney: usize,
}

/// The fewest repetitions that can reach `alpha` in a family of `family` comparisons, where the
/// smallest p-value must reach alpha / family (as Holm and Bonferroni want).
///
/// # Errors
/// When alpha does not lie strictly between 0 and 1 or the family is empty.
pub fn smallest_reachable_n(alpha: f64, family: usize) -> Result<SmallestReachable, Degenerate> {
    require_alpha(alpha)?;
    if family == 0 {
        return Err(Degenerate::OutOfRange {
            name: "the number of comparisons",
            value: 0.0,
            wanted: "at least 1",
        });
    }
    let level = alpha / family as f64;
    let count = |smallest_p: fn(f64) -> f64| {
        let mut n = 1;
        let mut p = 2.0;
        while p > level {
            p *= smallest_p(f64::from(n));
            n += 1;
        }
        (n - 1) as usize
    };
    Ok(SmallestReachable {
        paired_t: 2,
        // From n - 1 to n the smallest p-value halves …
        signed_rank: count(|_| 0.5).max(1),
        // … or falls by C(2n-2, n-1) / C(2n, n) = n / (2 (2n - 1)).
        mann_whitney: count(|n| n / (2.0 * (2.0 * n - 1.0))).max(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_samples_cannot_reach_small_levels() {
        let one = smallest_reachable_n(0.05, 1).unwrap();
        // 2/2^6 = 0.031; 2/C(8,4) = 0.029, 2/C(6,3) = 0.1.
        assert_eq!((one.signed_rank, one.mann_whitney), (6, 4));
        let five = smallest_reachable_n(0.05, 5).unwrap();
        // 2/2^8 = 0.0078; 2/C(10,5) = 0.0079.
        assert_eq!((five.signed_rank, five.mann_whitney), (8, 5));
        assert_eq!(five.paired_t, 2);
        assert!(smallest_reachable_n(0.05, 0).is_err());
        assert!(smallest_reachable_n(1.0, 1).is_err());
    }
}
