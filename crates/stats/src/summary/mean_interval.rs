//! The confidence interval of a mean.

use super::Moments;
use crate::confidence::Confidence;
use crate::distributions::{Probability, StudentT};
use crate::interval::Interval;

/// Student's interval of the mean; none when there are fewer than two values, when one is not
/// finite, or when a result overflows. Equal values give an interval of no width.
pub fn mean_interval(values: &[f64], confidence: Confidence) -> Option<Interval> {
    let moments = Moments::of(values).ok()?;
    let standard_error = moments.standard_error()?;
    let t = StudentT::new(values.len() as f64 - 1.0)
        .ok()?
        .upper_quantile(Probability::of_one_tail(confidence));
    let interval = Interval::around(moments.mean, t * standard_error);
    (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
}
