//! Ratios of means, with intervals.

use super::paired::{differences, paired_t};
use super::t_statistic::t_interval;
use super::welch::welch;
use crate::confidence::Confidence;
use crate::degenerate::{Degenerate, finite, require};
use crate::distributions::{Probability, StudentT};
use crate::interval::Interval;
use crate::summary::Moments;

/// A ratio and its interval: 1 is "no change".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The estimate.
    pub ratio: f64,
    /// Its interval.
    pub interval: Interval,
    /// The degrees of freedom of the t quantile that was used.
    pub df: f64,
}

/// The ratio of the geometric means of two independent samples, `other / reference`, by Welch's
/// interval of the logarithms.
///
/// # Errors
/// When a value is not positive, or as [`welch`].
pub fn log_ratio(
    reference: &[f64],
    other: &[f64],
    confidence: Confidence,
) -> Result<Ratio, Degenerate> {
    let found = welch(&logarithms(reference)?, &logarithms(other)?)?;
    exponentiated(found.difference, found.interval(confidence), found.df)
}

/// The same for values paired by block.
///
/// # Errors
/// When a value is not positive or the lists differ in length, or as [`paired_t`].
pub fn log_ratio_paired(
    baseline: &[f64],
    treated: &[f64],
    confidence: Confidence,
) -> Result<Ratio, Degenerate> {
    let found = paired_t(&differences(&logarithms(treated)?, &logarithms(baseline)?)?)?;
    exponentiated(found.mean, found.interval(confidence), found.df)
}

/// The ratio of the arithmetic means of two independent samples, `other / reference`, by Fieller's
/// theorem (1954), with Satterthwaite's degrees of freedom at the estimated ratio since the
/// variances may differ (Hasler, Vonk and Hothorn 2008).
///
/// # Errors
/// When the reference's mean cannot be told from zero at this confidence, or as [`welch`].
pub fn fieller(
    reference: &[f64],
    other: &[f64],
    confidence: Confidence,
) -> Result<Ratio, Degenerate> {
    welch(reference, other)?;
    let (bottom, top) = (Moments::of(reference)?, Moments::of(other)?);
    let bottom_variance = square(bottom.standard_error().unwrap_or(0.0));
    let top_variance = square(top.standard_error().unwrap_or(0.0));
    if bottom.mean == 0.0 {
        return Err(Degenerate::DenominatorNearZero { mean: bottom.mean });
    }
    let ratio = top.mean / bottom.mean;
    let scaled = ratio * ratio * bottom_variance;
    let sum = top_variance + scaled;
    let share = |part: f64| square(part / sum);
    let df = 1.0
        / (share(top_variance) / (top.n as f64 - 1.0) + share(scaled) / (bottom.n as f64 - 1.0));
    let df = finite(df, "the degrees of freedom")?;
    fieller_interval(
        [bottom.mean, top.mean],
        [bottom_variance, top_variance, 0.0],
        df,
        confidence,
    )
}

/// The ratio of the arithmetic means of values paired by block, `treated / baseline`, by Fieller's
/// theorem with the covariance of the pairs.
///
/// # Errors
/// When the baseline's mean cannot be told from zero at this confidence, the lists differ in
/// length, or there are fewer than two pairs.
pub fn fieller_paired(
    baseline: &[f64],
    treated: &[f64],
    confidence: Confidence,
) -> Result<Ratio, Degenerate> {
    let gaps = differences(treated, baseline)?;
    require(&gaps, 2)?;
    let n = gaps.len() as f64;
    let (bottom, top) = (Moments::of(baseline)?, Moments::of(treated)?);
    let variance = |moments: &Moments| square(moments.sd.unwrap_or(0.0));
    // Var(top - bottom) = Var(top) + Var(bottom) - 2 Cov.
    let covariance = 0.5 * (variance(&top) + variance(&bottom) - variance(&Moments::of(&gaps)?));
    fieller_interval(
        [bottom.mean, top.mean],
        [variance(&bottom) / n, variance(&top) / n, covariance / n],
        n - 1.0,
        confidence,
    )
}

/// The ratios r at which `top - r bottom` is not significantly different from zero.
fn fieller_interval(
    [bottom, top]: [f64; 2],
    [bottom_variance, top_variance, covariance]: [f64; 3],
    df: f64,
    confidence: Confidence,
) -> Result<Ratio, Degenerate> {
    let t = StudentT::new(df)?.upper_quantile(Probability::of_one_tail(confidence));
    let square_t = t * t;
    // In units of the denominator, so that huge and tiny means do no harm.
    let ratio = top / bottom;
    let (v11, v22, v12) = (
        bottom_variance / bottom / bottom,
        top_variance / bottom / bottom,
        covariance / bottom / bottom,
    );
    let g = square_t * v11;
    // Also false for what is not a number, as 0/0.
    let bounded = g < 1.0 && ratio.is_finite() && v22.is_finite() && v12.is_finite();
    if !bounded {
        return Err(Degenerate::DenominatorNearZero { mean: bottom });
    }
    let centre = ratio - square_t * v12;
    let inside = (v22 - 2.0 * ratio * v12 + ratio * ratio * v11
        - square_t * (v22 * v11 - v12 * v12))
        .max(0.0);
    let half_width = t * inside.sqrt();
    Ok(Ratio {
        ratio,
        interval: Interval {
            low: finite((centre - half_width) / (1.0 - g), "the ratio's interval")?,
            high: finite((centre + half_width) / (1.0 - g), "the ratio's interval")?,
        },
        df,
    })
}

fn exponentiated(log: f64, interval: Interval, df: f64) -> Result<Ratio, Degenerate> {
    Ok(Ratio {
        ratio: finite(libm::exp(log), "the ratio")?,
        interval: Interval {
            low: libm::exp(interval.low),
            high: finite(libm::exp(interval.high), "the ratio's interval")?,
        },
        df,
    })
}

fn logarithms(values: &[f64]) -> Result<Vec<f64>, Degenerate> {
    require(values, 0)?;
    values
        .iter()
        .enumerate()
        .map(|(index, value)| {
            if *value > 0.0 {
                Ok(libm::log(*value))
            } else {
                Err(Degenerate::NotPositive { index })
            }
        })
        .collect()
}

fn square(x: f64) -> f64 {
    x * x
}

/// The interval of a difference in percent of a reference that is taken as known.
///
/// # Errors
/// When the reference is zero or the quotient overflows.
pub fn percent_of(
    estimate: f64,
    standard_error: f64,
    df: f64,
    reference: f64,
    confidence: Confidence,
) -> Result<(f64, Interval), Degenerate> {
    if reference == 0.0 {
        return Err(Degenerate::DenominatorNearZero { mean: reference });
    }
    let factor = finite(100.0 / reference, "the percentage")?;
    let interval = t_interval(estimate, standard_error, df, confidence).scaled(factor);
    finite(interval.low, "the percentage")?;
    finite(interval.high, "the percentage")?;
    Ok((finite(estimate * factor, "the percentage")?, interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 5] = [10.0, 11.0, 9.0, 10.5, 9.5];
    const B: [f64; 5] = [20.0, 21.5, 18.5, 21.0, 19.0];

    #[test]
    fn all_methods_agree_on_a_plain_ratio() {
        for found in [
            log_ratio(&A, &B, Confidence::PERCENT_95).unwrap(),
            log_ratio_paired(&A, &B, Confidence::PERCENT_95).unwrap(),
            fieller(&A, &B, Confidence::PERCENT_95).unwrap(),
            fieller_paired(&A, &B, Confidence::PERCENT_95).unwrap(),
        ] {
            assert!((found.ratio - 2.0).abs() < 0.01, "{found:?}");
            assert!(found.interval.contains(found.ratio) && found.interval.width() < 0.5);
        }
        let paired = fieller_paired(&A, &B, Confidence::PERCENT_95).unwrap();
        let free = fieller(&A, &B, Confidence::PERCENT_95).unwrap();
        assert!(paired.interval.width() < free.interval.width());
    }

    #[test]
    fn a_mean_near_zero_has_no_ratio() {
        let near = [-1.0, 1.0, 0.5, -0.4, 0.1];
        for result in [
            fieller(&near, &B, Confidence::PERCENT_95),
            fieller_paired(&near, &B, Confidence::PERCENT_95),
            fieller(&[0.0, 0.0], &[1.0, 2.0], Confidence::PERCENT_95),
            fieller_paired(&[0.0, 0.0], &[0.0, 0.0], Confidence::PERCENT_95),
        ] {
            assert!(
                matches!(result, Err(Degenerate::DenominatorNearZero { .. })),
                "{result:?}"
            );
        }
        assert!(matches!(
            log_ratio(&near, &B, Confidence::PERCENT_95),
            Err(Degenerate::NotPositive { index: 0 })
        ));
        assert!(percent_of(1.0, 0.1, 5.0, 0.0, Confidence::PERCENT_95).is_err());
    }

    #[test]
    fn a_percentage_keeps_its_ends_in_order() {
        let (percent, interval) = percent_of(1.0, 0.1, 5.0, -10.0, Confidence::PERCENT_95).unwrap();
        assert_eq!(percent, -10.0);
        assert!(interval.low < -10.0 && -10.0 < interval.high);
    }
}
