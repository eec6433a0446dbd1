//! Intervals that may be looked at after every block.

use super::e_value::MixtureScale;
use crate::confidence::Confidence;
use crate::degenerate::Degenerate;
use crate::interval::Interval;
use crate::tests::paired::paired_t;

/// A confidence sequence of the mean block difference: with the given confidence all its
/// intervals, at every n, hold the true mean at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceSequence {
    /// The probability that all intervals hold.
    pub confidence: Confidence,
    /// The scale of the mixture.
    pub scale: MixtureScale,
}

/// The largest t² / v at which the evidence still is below 1/alpha; none while no t can reach it.
fn bound(n: f64, scale: MixtureScale, alpha: f64) -> Option<f64> {
    // e_n = 1/alpha solved for x = t²/v: with R = (sqrt(1 + n g) / alpha)^(2/n),
    // (1 + x) / (1 + x / (1 + n g)) = R.
    let growth = 1.0 + n * scale.get();
    let log_r = 2.0 / n * (0.5 * libm::log(growth) - libm::log(alpha));
    if log_r >= libm::log(growth) {
        return None;
    }
    let r = libm::exp(log_r);
    Some(libm::expm1(log_r) / (1.0 - r / growth))
}

impl ConfidenceSequence {
    /// The interval after the block `differences` so far: all means that the evidence does not
    /// speak against. None while there are too few blocks for any bound, and where the differences
    /// are all equal, so that their spread says nothing.
    ///
    /// # Errors
    /// When a difference is not finite or a result overflows.
    pub fn interval(&self, differences: &[f64]) -> Result<Option<Interval>, Degenerate> {
        let found = match paired_t(differences) {
            Ok(found) => found,
            Err(Degenerate::TooFew { .. } | Degenerate::ZeroVariance { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let n = found.n as f64;
        Ok(bound(n, self.scale, self.confidence.alpha()).and_then(|x| {
            let half_width = (x * found.df).sqrt() * found.standard_error;
            let interval = Interval::around(found.mean, half_width);
            (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
        }))
    }
}

/// The smallest number of blocks at which a confidence sequence has bounds, which is also the
/// smallest at which the evidence can reach 1/alpha.
///
/// # Errors
/// When no number below a million is enough (for a tiny scale or alpha).
pub fn smallest_bounded_n(
    confidence: Confidence,
    scale: MixtureScale,
) -> Result<usize, Degenerate> {
    (2..1_000_000)
        .find(|n| bound(f64::from(*n), scale, confidence.alpha()).is_some())
        .map(|n| n as usize)
        .ok_or(Degenerate::OutOfRange {
            name: "the scale of the mixture",
            value: scale.get(),
            wanted: "larger at this confidence",
        })
}

#[cfg(test)]
mod tests {
    use super::super::e_value::log_e_value;
    use super::*;

    #[test]
    fn the_interval_is_the_inversion_of_the_evidence() {
        let differences = [1.2, 0.7, 1.9, 0.4, 1.1, 0.8, 1.5, 1.0];
        let sequence = ConfidenceSequence {
            confidence: Confidence::PERCENT_95,
            scale: MixtureScale::new(0.7).unwrap(),
        };
        let interval = sequence.interval(&differences).unwrap().unwrap();
        for edge in [interval.low, interval.high] {
            let shifted: Vec<f64> = differences.iter().map(|d| d - edge).collect();
            let evidence = log_e_value(&shifted, sequence.scale).unwrap();
            assert!((evidence - 20.0_f64.ln()).abs() < 1e-9, "{evidence}");
        }
    }

    #[test]
    fn few_or_equal_differences_bound_nothing() {
        let sequence = ConfidenceSequence {
            confidence: Confidence::PERCENT_95,
            scale: MixtureScale::default(),
        };
        assert_eq!(sequence.interval(&[1.0]), Ok(None));
        assert_eq!(sequence.interval(&[1.0, 2.0]), Ok(None));
        assert_eq!(sequence.interval(&[1.0; 20]), Ok(None));
        assert!(sequence.interval(&[1.0, f64::INFINITY]).is_err());
        let n = smallest_bounded_n(Confidence::PERCENT_95, MixtureScale::default()).unwrap();
        let values: Vec<f64> = (0..n).map(|i| (i % 2) as f64).collect();
        assert!(sequence.interval(&values).unwrap().is_some());
        assert_eq!(sequence.interval(&values[..n - 1]), Ok(None));
    }
}
