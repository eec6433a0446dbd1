//! What every test on Student's t shares once estimate, standard error and degrees of freedom
//! are known.

use crate::confidence::Confidence;
use crate::degenerate::{Degenerate, finite};
use crate::distributions::{Probability, StudentT};
use crate::interval::Interval;

/// The t statistic and its two-sided p-value.
pub(crate) fn t_and_p(
    estimate: f64,
    standard_error: f64,
    df: f64,
) -> Result<(f64, f64), Degenerate> {
    let t = finite(estimate / standard_error, "t")?;
    Ok((t, StudentT::new(df)?.two_sided(t)))
}

/// The interval of an estimate that is normal but for its estimated standard error; `df` was
/// accepted when the test was made.
pub(crate) fn t_interval(
    estimate: f64,
    standard_error: f64,
    df: f64,
    confidence: Confidence,
) -> Interval {
    let critical = StudentT::new(df).map_or(f64::MAX, |t| {
        t.upper_quantile(Probability::of_one_tail(confidence))
    });
    let half_width = (critical * standard_error).min(f64::MAX / 2.0);
    let interval = Interval::around(estimate, half_width);
    Interval {
        low: interval.low.max(f64::MIN),
        high: interval.high.min(f64::MAX),
    }
}
