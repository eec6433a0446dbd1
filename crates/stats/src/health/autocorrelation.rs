//! Whether neighbours resemble each other.

use crate::arithmetic::DoubleDouble;
use crate::degenerate::{Degenerate, require};
use crate::distributions::ChiSquared;

/// The autocorrelation coefficient at `lag`, `Σ (x_i - m)(x_{i+lag} - m) / Σ (x_i - m)²`, in
/// double-double arithmetic.
///
/// # Errors
/// When there are not more values than the lag (and at least two), one is not finite, or all are
/// equal.
pub fn autocorrelation(values: &[f64], lag: usize) -> Result<f64, Degenerate> {
    Ok(coefficients(values, lag)?.last().copied().unwrap_or(1.0))
}

/// The same for values that were read as decimals and never rounded to doubles.
///
/// # Errors
/// As [`autocorrelation`].
pub fn autocorrelation_of_decimals(values: &[DoubleDouble], lag: usize) -> Result<f64, Degenerate> {
    Ok(coefficients_of(values, lag)?.last().copied().unwrap_or(1.0))
}

/// The coefficients at lags 1 to `lags`.
fn coefficients(values: &[f64], lags: usize) -> Result<Vec<f64>, Degenerate> {
    require(values, 2)?;
    let largest = values
        .iter()
        .fold(0.0_f64, |max, value| max.max(value.abs()));
    // A power of two keeps the squares in range and changes no coefficient.
    let (_, exponent) = libm::frexp(largest);
    let scale = libm::ldexp(1.0, (-exponent).clamp(-1000, 1000));
    let scaled: Vec<DoubleDouble> = values
        .iter()
        .map(|value| DoubleDouble::from(value * scale))
        .collect();
    coefficients_of(&scaled, lags)
}

fn coefficients_of(values: &[DoubleDouble], lags: usize) -> Result<Vec<f64>, Degenerate> {
    let n = values.len();
    if n < lags + 1 || n < 2 {
        return Err(Degenerate::TooFew {
            needed: (lags + 1).max(2),
            got: n,
        });
    }
    let sum = values
        .iter()
        .fold(DoubleDouble::ZERO, |sum, value| sum + *value);
    let mean = sum / DoubleDouble::from(n as f64);
    let deviations: Vec<DoubleDouble> = values.iter().map(|value| *value - mean).collect();
    let product = |lag: usize| {
        deviations
            .iter()
            .zip(&deviations[lag..])
            .fold(DoubleDouble::ZERO, |sum, (a, b)| sum + *a * *b)
    };
    let square = product(0);
    if square.to_f64() <= 0.0 {
        return Err(Degenerate::ZeroVariance {
            n,
            value: mean.to_f64(),
        });
    }
    Ok((1..=lags)
        .map(|lag| (product(lag) / square).to_f64())
        .collect())
}

/// The result of a Ljung-Box test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LjungBox {
    /// The number of lags that were taken together.
    pub lags: usize,
    /// The statistic `n (n+2) Σ r_k² / (n - k)`.
    pub statistic: f64,
    /// The probability of at least that in an independent series, by the chi-squared
    /// distribution with as many degrees of freedom as lags.
    pub p: f64,
}

/// Ljung and Box (1978): whether the autocorrelations at lags 1 to `lags` are together more than
/// an independent series would show.
///
/// # Errors
/// When `lags` is 0, or as [`autocorrelation`].
pub fn ljung_box(values: &[f64], lags: usize) -> Result<LjungBox, Degenerate> {
    if lags == 0 {
        return Err(Degenerate::OutOfRange {
            name: "the number of lags",
            value: 0.0,
            wanted: "at least 1",
        });
    }
    let n = values.len() as f64;
    let sum: f64 = coefficients(values, lags)?
        .iter()
        .enumerate()
        .map(|(index, r)| r * r / (n - (index + 1) as f64))
        .sum();
    let statistic = n * (n + 2.0) * sum;
    Ok(LjungBox {
        lags,
        statistic,
        p: ChiSquared::new(lags as f64)?.survival(statistic),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alternating_series_is_negatively_correlated() {
        let values: Vec<f64> = (0..20).map(|i| f64::from(i % 2)).collect();
        assert!((autocorrelation(&values, 1).unwrap() + 0.95).abs() < 1e-14);
        assert!((autocorrelation(&values, 2).unwrap() - 0.9).abs() < 1e-14);
        assert!(ljung_box(&values, 1).unwrap().p < 1e-4);
    }

    #[test]
    fn odd_inputs_are_named() {
        assert!(matches!(
            autocorrelation(&[], 1),
            Err(Degenerate::TooFew { .. })
        ));
        assert!(matches!(
            autocorrelation(&[1.0, 2.0], 2),
            Err(Degenerate::TooFew { .. })
        ));
        assert!(matches!(
            autocorrelation(&[2.0, 2.0, 2.0], 1),
            Err(Degenerate::ZeroVariance { .. })
        ));
        assert!(ljung_box(&[1.0, 2.0, 3.0], 0).is_err());
        assert!(
            autocorrelation(&[1e300, -1e300, 1e300, 2e300], 1)
                .unwrap()
                .is_finite()
        );
        assert!(autocorrelation(&[0.0, 0.0], 1).is_err());
    }
}
