//! The power of t tests.

use super::require_alpha;
use crate::degenerate::Degenerate;
use crate::distributions::{NoncentralT, Probability, StudentT};

/// The probability that a two-sided paired t test at `alpha` finds a true mean difference of
/// `standardised_effect` standard deviations of the block differences, with `blocks` blocks.
///
/// `blocks` may be fractional, for interpolation.
///
/// # Errors
/// When there are not more than one block, or a parameter is out of range.
pub fn power_paired(blocks: f64, standardised_effect: f64, alpha: f64) -> Result<f64, Degenerate> {
    power(blocks - 1.0, standardised_effect * blocks.sqrt(), alpha)
}

/// The same for the two-sample t test with `per_group` values in each of two groups and the
/// effect in units of their common standard deviation.
///
/// # Errors
/// When there is not more than one value a group, or a parameter is out of range.
pub fn power_two_sample(
    per_group: f64,
    standardised_effect: f64,
    alpha: f64,
) -> Result<f64, Degenerate> {
    power(
        2.0 * per_group - 2.0,
        standardised_effect * (per_group / 2.0).sqrt(),
        alpha,
    )
}

fn power(df: f64, noncentrality: f64, alpha: f64) -> Result<f64, Degenerate> {
    let tail = Probability::new(require_alpha(alpha)? / 2.0)?;
    let critical = StudentT::new(df)?.upper_quantile(tail);
    let distribution = NoncentralT::new(df, noncentrality)?;
    Ok((distribution.survival(critical) + distribution.cdf(-critical)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_effect_power_is_alpha_and_it_rises_with_everything() {
        assert!((power_paired(10.0, 0.0, 0.05).unwrap() - 0.05).abs() < 1e-13);
        let less = power_paired(10.0, 0.5, 0.05).unwrap();
        assert!(power_paired(20.0, 0.5, 0.05).unwrap() > less);
        assert!(power_paired(10.0, 0.6, 0.05).unwrap() > less);
        assert!((power_paired(10.0, -0.5, 0.05).unwrap() - less).abs() < 1e-13);
        assert_eq!(power_paired(50.0, 100.0, 0.05), Ok(1.0));
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        assert!(power_paired(1.0, 0.5, 0.05).is_err());
        assert!(power_paired(10.0, f64::NAN, 0.05).is_err());
        assert!(power_paired(10.0, 0.5, 0.0).is_err());
        assert!(power_two_sample(1.0, 0.5, 0.05).is_err());
    }
}
