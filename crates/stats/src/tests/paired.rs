//! The paired t test: Student's test that the mean of differences is zero.

use super::t_statistic::{t_and_p, t_interval};
use crate::confidence::Confidence;
use crate::degenerate::{Degenerate, finite, require};
use crate::interval::Interval;
use crate::summary::Moments;

/// The result of a paired t test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedT {
    /// The number of differences.
    pub n: usize,
    /// Their mean, the estimated effect.
    pub mean: f64,
    /// Their standard deviation.
    pub sd: f64,
    /// The standard error of the mean.
    pub standard_error: f64,
    /// Student's t.
    pub t: f64,
    /// Its degrees of freedom, n - 1.
    pub df: f64,
    /// The two-sided p-value.
    pub p: f64,
}

impl PairedT {
    /// The interval of the mean difference.
    pub fn interval(&self, confidence: Confidence) -> Interval {
        t_interval(self.mean, self.standard_error, self.df, confidence)
    }
}

/// Tests whether the mean of `differences` (one per block) is zero.
///
/// # Errors
/// When there are fewer than two differences, one is not finite, or all are equal.
pub fn paired_t(differences: &[f64]) -> Result<PairedT, Degenerate> {
    require(differences, 2)?;
    let n = differences.len();
    let moments = Moments::of(differences)?;
    let sd = moments.sd.unwrap_or(0.0);
    let root_n = (n as f64).sqrt();
    let standard_error = sd / root_n;
    if standard_error == 0.0 {
        return Err(Degenerate::ZeroVariance {
            n,
            value: moments.mean,
        });
    }
    let df = n as f64 - 1.0;
    let (t, p) = t_and_p(moments.mean, standard_error, df)?;
    Ok(PairedT {
        n,
        mean: moments.mean,
        sd,
        standard_error,
        t,
        df,
        p,
    })
}

/// The differences `treated - baseline`, pair by pair.
///
/// # Errors
/// When the lists have different lengths, a value is not finite, or a difference overflows.
pub fn differences(treated: &[f64], baseline: &[f64]) -> Result<Vec<f64>, Degenerate> {
    if treated.len() != baseline.len() {
        return Err(Degenerate::LengthsDiffer {
            left: treated.len(),
            right: baseline.len(),
        });
    }
    require(treated, 0)?;
    require(baseline, 0)?;
    treated
        .iter()
        .zip(baseline)
        .map(|(treated, baseline)| finite(treated - baseline, "a difference"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 6] = [11.58825, 11.9115, 11.751, 11.51075, 11.69575, 12.25075];
    const B: [f64; 6] = [11.42075, 11.64675, 11.4735, 11.2455, 11.34625, 11.99975];

    #[test]
    fn agrees_with_an_independent_implementation() {
        let found = paired_t(&differences(&B, &A).unwrap()).unwrap();
        assert!((found.t / -11.042458760780034 - 1.0).abs() < 1e-10);
        assert!((found.p / 0.0001060600889444102 - 1.0).abs() < 1e-9);
        let interval = found.interval(Confidence::PERCENT_95);
        assert!(interval.contains(found.mean) && !interval.contains(0.0));
    }

    #[test]
    fn odd_inputs_are_named() {
        assert_eq!(paired_t(&[]), Err(Degenerate::TooFew { needed: 2, got: 0 }));
        assert_eq!(
            paired_t(&[0.5, 0.5, 0.5]),
            Err(Degenerate::ZeroVariance { n: 3, value: 0.5 })
        );
        assert_eq!(
            paired_t(&[0.0, f64::NAN]),
            Err(Degenerate::NotFinite { index: 1 })
        );
        assert!(matches!(
            differences(&[1.0], &[]),
            Err(Degenerate::LengthsDiffer { .. })
        ));
        assert!(matches!(
            differences(&[1.7e308], &[-1.7e308]),
            Err(Degenerate::Overflow { .. })
        ));
    }
}
