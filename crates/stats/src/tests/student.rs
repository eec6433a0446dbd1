//! Student's t test of two independent samples with a pooled variance, as ministat makes it.
//!
//! Kept for comparison; where the variances differ its error rate is not what it says, so that
//! [`super::welch`] is the default.

use super::t_statistic::t_and_p;
use super::welch::{TwoSampleT, TwoSamples};
use crate::degenerate::Degenerate;

/// The result, with the pooled standard deviation that ministat prints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledT {
    /// The test itself; n + m - 2 degrees of freedom.
    pub test: TwoSampleT,
    /// The pooled standard deviation.
    pub pooled_sd: f64,
}

/// Tests whether the means of two samples of equal variance differ; `difference` is
/// `other - reference`.
///
/// # Errors
/// When a sample has fewer than two values or one that is not finite, or when neither varies.
pub fn student(reference: &[f64], other: &[f64]) -> Result<PooledT, Degenerate> {
    let TwoSamples { n, sd, difference } = TwoSamples::of(reference, other)?;
    let df = n[0] + n[1] - 2.0;
    // A mean of squares taken as a length, so that it neither over- nor underflows.
    let pooled_sd = libm::hypot(
        sd[0] * ((n[0] - 1.0) / df).sqrt(),
        sd[1] * ((n[1] - 1.0) / df).sqrt(),
    );
    let standard_error = pooled_sd * (1.0 / n[0] + 1.0 / n[1]).sqrt();
    let (t, p) = t_and_p(difference, standard_error, df)?;
    Ok(PooledT {
        test: TwoSampleT {
            difference,
            standard_error,
            t,
            df,
            p,
        },
        pooled_sd,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sizes_give_the_t_of_welch_and_all_degrees_of_freedom() {
        let (a, b) = ([1.0, 2.0, 4.0], [2.0, 5.0, 9.0]);
        let pooled = student(&a, &b).unwrap();
        let welch = super::super::welch::welch(&a, &b).unwrap();
        assert!((pooled.test.t / welch.t - 1.0).abs() < 1e-14);
        assert_eq!(pooled.test.df, 4.0);
        assert!(welch.df < 4.0);
        assert!(student(&[1.0, 1.0], &[2.0, 2.0]).is_err());
    }
}
