//! Whether there are enough values for the test ever to reach the level.

use crate::degenerate::Degenerate;
use crate::planning::smallest_reachable_n;

/// Whether `n` blocks can decide anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enough {
    /// Too few for a standard deviation: at least two are needed.
    NotForSpread,
    /// Enough for the t test; the rank test cannot reach the level below this number.
    NotForRankTest {
        /// The blocks that the exact signed-rank test needs.
        needed: usize,
    },
    /// Enough for both.
    Yes,
}

/// Whether `n` blocks can reach `alpha` in a family of `family` comparisons, however large the
/// effect.
///
/// # Errors
/// When alpha does not lie strictly between 0 and 1 or the family is empty.
pub fn enough_values(n: usize, alpha: f64, family: usize) -> Result<Enough, Degenerate> {
    let smallest = smallest_reachable_n(alpha, family)?;
    Ok(if n < smallest.paired_t {
        Enough::NotForSpread
    } else if n < smallest.signed_rank {
        Enough::NotForRankTest {
            needed: smallest.signed_rank,
        }
    } else {
        Enough::Yes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_raises_the_need() {
        assert_eq!(enough_values(1, 0.05, 1), Ok(Enough::NotForSpread));
        assert_eq!(enough_values(6, 0.05, 1), Ok(Enough::Yes));
        assert_eq!(
            enough_values(6, 0.05, 5),
            Ok(Enough::NotForRankTest { needed: 8 })
        );
        assert!(enough_values(6, 0.05, 0).is_err());
    }
}
