//! Welch's t test: two independent samples whose variances may differ.

use super::t_statistic::{t_and_p, t_interval};
use crate::confidence::Confidence;
use crate::degenerate::{Degenerate, finite, require};
use crate::interval::Interval;
use crate::summary::Moments;

/// The result of a t test of two independent samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoSampleT {
    /// The mean of the second sample minus that of the first.
    pub difference: f64,
    /// The standard error of the difference.
    pub standard_error: f64,
    /// The t statistic.
    pub t: f64,
    /// Its degrees of freedom (Satterthwaite's, for Welch's test).
    pub df: f64,
    /// The two-sided p-value.
    pub p: f64,
}

impl TwoSampleT {
    /// The interval of the difference of the means.
    pub fn interval(&self, confidence: Confidence) -> Interval {
        t_interval(self.difference, self.standard_error, self.df, confidence)
    }
}

/// The moments of two samples that both have a standard deviation.
pub(super) struct TwoSamples {
    pub(super) n: [f64; 2],
    pub(super) sd: [f64; 2],
    pub(super) difference: f64,
}

impl TwoSamples {
    /// Fails when a sample has fewer than two values, one that is not finite, or both have no
    /// spread at all.
    pub(super) fn of(reference: &[f64], other: &[f64]) -> Result<Self, Degenerate> {
        require(reference, 2)?;
        require(other, 2)?;
        let (first, second) = (Moments::of(reference)?, Moments::of(other)?);
        let difference = finite(second.mean - first.mean, "the difference of the means")?;
        let sd = [first.sd.unwrap_or(0.0), second.sd.unwrap_or(0.0)];
        if sd == [0.0, 0.0] {
            return Err(Degenerate::ZeroVariance {
                n: reference.len() + other.len(),
                value: difference,
            });
        }
        Ok(Self {
            n: [reference.len() as f64, other.len() as f64],
            sd,
            difference,
        })
    }

    /// The standard error of the difference and Satterthwaite's degrees of freedom.
    pub(super) fn satterthwaite(&self) -> (f64, f64) {
        let errors = [self.sd[0] / self.n[0].sqrt(), self.sd[1] / self.n[1].sqrt()];
        let standard_error = libm::hypot(errors[0], errors[1]);
        // In shares of the whole, so that nothing over- or underflows.
        let share = |i: usize| {
            let ratio = errors[i] / standard_error;
            ratio * ratio
        };
        let df = 1.0
            / (share(0) * share(0) / (self.n[0] - 1.0) + share(1) * share(1) / (self.n[1] - 1.0));
        (standard_error, df)
    }
}

/// Tests whether the means of two samples differ; `difference` is `other - reference`.
///
/// Welch (1947), with Satterthwaite's degrees of freedom.
///
/// # Errors
/// When a sample has fewer than two values or one that is not finite, or when neither varies.
pub fn welch(reference: &[f64], other: &[f64]) -> Result<TwoSampleT, Degenerate> {
    let samples = TwoSamples::of(reference, other)?;
    let (standard_error, df) = samples.satterthwaite();
    let (t, p) = t_and_p(samples.difference, standard_error, df)?;
    Ok(TwoSampleT {
        difference: samples.difference,
        standard_error,
        t,
        df,
        p,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_inputs_are_named() {
        assert!(matches!(
            welch(&[1.0], &[1.0, 2.0]),
            Err(Degenerate::TooFew { .. })
        ));
        assert_eq!(
            welch(&[1.0, 1.0], &[3.0, 3.0]),
            Err(Degenerate::ZeroVariance { n: 4, value: 2.0 })
        );
        let one_sided = welch(&[1.0, 1.0], &[3.0, 4.0]).unwrap();
        assert!((one_sided.df - 1.0).abs() < 1e-12 && one_sided.p > 0.0 && one_sided.p < 1.0);
        let huge = welch(&[1e300, 1.1e300, 1.2e300], &[1e300, 1.3e300, 1.2e300]).unwrap();
        assert!(huge.t.is_finite() && huge.df.is_finite());
    }
}
