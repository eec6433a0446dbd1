//! What every estimate of a difference can say, however it was made.

use knobstat_stats::{Confidence, Interval};

/// The estimate of a mean minus that of a baseline.
pub(crate) trait Estimated {
    /// The difference.
    fn difference(&self) -> f64;

    /// The baseline's mean.
    fn baseline_mean(&self) -> f64;

    /// How far the step of the scale may have moved the difference.
    fn shift(&self) -> f64;

    /// Whether the error was taken from the scale and not from the spread.
    fn is_on_scale(&self) -> bool;

    /// The two-sided p-value of there being no difference.
    fn p(&self) -> f64;

    /// The p-value of the difference being as large as `margin`, either way.
    fn p_of_not_within(&self, margin: f64) -> f64;

    /// The interval of the difference; none where it overflows.
    fn interval(&self, confidence: Confidence) -> Option<Interval>;

    /// The interval in percent of the baseline's mean, the error of that mean included; none where
    /// it cannot be told from zero.
    fn percent_interval(&self, confidence: Confidence) -> Option<Interval>;

    /// How many more repetitions a test at `alpha` would likely need to find a difference of
    /// `effect`, were the spread to stay; none where that is no effect or takes more than a thousand.
    fn more_needed(&self, effect: f64, alpha: f64) -> Option<u64>;

    /// The difference in percent of the baseline's mean; none where that mean is zero.
    fn percent(&self) -> Option<f64> {
        let percent = self.difference() / self.baseline_mean().abs() * 100.0;
        percent.is_finite().then_some(percent)
    }
}
