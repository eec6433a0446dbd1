//! Measures of spread that a single wild value cannot move.

use super::quantile::median;
use crate::degenerate::{Degenerate, finite};

/// The median of the distances from the median, unscaled. (Times 1.4826 it estimates the
/// standard deviation of normal values.)
///
/// # Errors
/// When there is no value, one is not finite, or a distance overflows.
pub fn median_absolute_deviation(values: &[f64]) -> Result<f64, Degenerate> {
    let centre = median(values)?;
    let distances = distances(values, centre)?;
    median(&distances)
}

/// The mean of the distances from the median.
///
/// # Errors
/// When there is no value, one is not finite, or a distance overflows.
pub fn mean_absolute_deviation(values: &[f64]) -> Result<f64, Degenerate> {
    let centre = median(values)?;
    let distances = distances(values, centre)?;
    Ok(super::Moments::of(&distances)?.mean)
}

fn distances(values: &[f64], centre: f64) -> Result<Vec<f64>, Degenerate> {
    values
        .iter()
        .map(|value| finite((value - centre).abs(), "the distance of two values"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wild_value_moves_the_mean_and_not_the_median() {
        let values = [1.0, 2.0, 3.0, 4.0, 1000.0];
        assert_eq!(median_absolute_deviation(&values), Ok(1.0));
        assert_eq!(
            mean_absolute_deviation(&values),
            Ok((2.0 + 1.0 + 1.0 + 997.0) / 5.0)
        );
        assert!(median_absolute_deviation(&[]).is_err());
        assert!(median_absolute_deviation(&[-1.7e308, 1.7e308, 1.7e308]).is_err());
    }
}
