//! The number of blocks that makes an interval narrow enough.

use super::required::Required;
use super::smallest;
use crate::confidence::Confidence;
use crate::degenerate::Degenerate;
use crate::distributions::{Probability, StudentT, positive};

/// The blocks after which the interval of the mean difference is expected to reach no farther than
/// `half_width` to either side, when the block differences have standard deviation `sd`.
///
/// # Errors
/// When a parameter is not a finite number above zero or no feasible number is enough.
pub fn blocks_for_half_width(
    sd: f64,
    half_width: f64,
    confidence: Confidence,
) -> Result<Required, Degenerate> {
    let sd = positive("the standard deviation", sd)?;
    let half_width = positive("the half width", half_width)?;
    let tail = Probability::of_one_tail(confidence);
    smallest(2.0, |n| {
        StudentT::new(n - 1.0).is_ok_and(|t| t.upper_quantile(tail) * (sd / half_width) <= n.sqrt())
    })
    .map(Required::from_exact)
    .ok_or(Degenerate::OutOfRange {
        name: "the half width in standard deviations",
        value: half_width / sd,
        wanted: "larger, since even a thousand million blocks would not reach it",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_fewer_is_not_enough() {
        let found = blocks_for_half_width(1.0, 0.5, Confidence::PERCENT_95).unwrap();
        // t(17) = 2.1098, /sqrt(18) = 0.4973; t(16) = 2.1199, /sqrt(17) = 0.5142.
        assert_eq!(found.n, 18);
        assert_eq!(
            blocks_for_half_width(1.0, 100.0, Confidence::PERCENT_95)
                .unwrap()
                .n,
            2
        );
        assert!(blocks_for_half_width(0.0, 0.5, Confidence::PERCENT_95).is_err());
        assert!(blocks_for_half_width(1.0, 1e-9, Confidence::PERCENT_95).is_err());
    }
}
