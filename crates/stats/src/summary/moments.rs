//! Mean and standard deviation without loss of digits.

use crate::arithmetic::DoubleDouble;
use crate::degenerate::{Degenerate, finite, require};

/// The first two moments of a set of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// How many values there are.
    pub n: usize,
    /// The arithmetic mean.
    pub mean: f64,
    /// The standard deviation (n - 1 in the denominator); none for a single value.
    pub sd: Option<f64>,
}

impl Moments {
    /// Mean and standard deviation of at least one value.
    ///
    /// Two passes in double-double arithmetic, so that the results are the correctly rounded
    /// ones of the doubles given, but for the last place, whatever their common offset. Values of
    /// extreme size are first scaled by a power of two.
    ///
    /// # Errors
    /// When there is no value, one is not finite, or the standard deviation overflows.
    pub fn of(values: &[f64]) -> Result<Self, Degenerate> {
        require(values, 1)?;
        let scale = power_of_two_scale(values);
        let scaled = |value: &f64| DoubleDouble::from(value * scale);
        let (mean, sd) = two_pass(values.iter().map(scaled));
        Ok(Self {
            n: values.len(),
            mean: finite(mean.to_f64() / scale, "the mean")?,
            sd: match sd {
                Some(sd) => Some(finite(sd.to_f64() / scale, "the standard deviation")?),
                None => None,
            },
        })
    }

    /// The standard error of the mean; none for a single value.
    pub fn standard_error(&self) -> Option<f64> {
        self.sd.map(|sd| sd / (self.n as f64).sqrt())
    }
}

/// Mean and standard deviation of values that were read as decimals and never rounded to doubles.
///
/// Where a large offset leaves few digits for the differences (`1000000000000.4`), the doubles
/// have already lost what this keeps.
///
/// # Errors
/// When there is no value or a result overflows.
pub fn moments_of_decimals(values: &[DoubleDouble]) -> Result<Moments, Degenerate> {
    if values.is_empty() {
        return Err(Degenerate::TooFew { needed: 1, got: 0 });
    }
    let (mean, sd) = two_pass(values.iter().copied());
    Ok(Moments {
        n: values.len(),
        mean: finite(mean.to_f64(), "the mean")?,
        sd: match sd {
            Some(sd) => Some(finite(sd.to_f64(), "the standard deviation")?),
            None => None,
        },
    })
}

fn two_pass(
    values: impl Iterator<Item = DoubleDouble> + Clone,
) -> (DoubleDouble, Option<DoubleDouble>) {
    let (mut n, mut sum) = (0.0, DoubleDouble::ZERO);
    for value in values.clone() {
        n += 1.0;
        sum = sum + value;
    }
    let mean = sum / DoubleDouble::from(n);
    if n < 2.0 {
        return (mean, None);
    }
    let (mut squares, mut rest) = (DoubleDouble::ZERO, DoubleDouble::ZERO);
    for value in values {
        let deviation = value - mean;
        squares = squares + deviation * deviation;
        rest = rest + deviation;
    }
    // What rounding of the mean added (Chan, Golub and LeVeque 1983).
    let count = DoubleDouble::from(n);
    let variance = (squares - rest * rest / count) / DoubleDouble::from(n - 1.0);
    (mean, Some(variance.sqrt()))
}

/// 1, or for values whose squares or sums would leave the range of a double, the power of two
/// that brings the largest near 1.
fn power_of_two_scale(values: &[f64]) -> f64 {
    let largest = values
        .iter()
        .fold(0.0_f64, |max, value| max.max(value.abs()));
    if largest == 0.0 || (1e-100..1e100).contains(&largest) {
        return 1.0;
    }
    let (_, exponent) = libm::frexp(largest);
    libm::ldexp(1.0, (-exponent).clamp(-1000, 1000))
}
