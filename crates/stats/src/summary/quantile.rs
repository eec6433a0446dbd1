//! Sample quantiles.

use crate::degenerate::{Degenerate, require};

/// The quantile at `p` from 0 to 1, by linear interpolation between order statistics: type 7 of
/// Hyndman and Fan (1996), the default of R, NumPy and spreadsheets. With the values sorted as
/// `x[0] … x[n-1]` it is the value at place (n - 1) p.
///
/// # Errors
/// When there is no value, one is not finite, or `p` lies outside 0 to 1.
pub fn quantile(values: &[f64], p: f64) -> Result<f64, Degenerate> {
    require(values, 1)?;
    if !(0.0..=1.0).contains(&p) {
        return Err(Degenerate::OutOfRange {
            name: "the place of a quantile",
            value: p,
            wanted: "from 0 to 1",
        });
    }
    let place = (values.len() - 1) as f64 * p;
    let below = place.floor() as usize;
    let mut work = values.to_vec();
    let (_, low, above) = work.select_nth_unstable_by(below, f64::total_cmp);
    let (low, share) = (*low, place - place.floor());
    if share == 0.0 {
        return Ok(low);
    }
    let high = above.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(between(low, high, share))
}

/// The median: the middle value, or the mean of the two middle ones.
///
/// # Errors
/// When there is no value or one is not finite.
pub fn median(values: &[f64]) -> Result<f64, Degenerate> {
    quantile(values, 0.5)
}

/// The values sorted from the smallest.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The place a share of the way from `low` to `high`, which neither overflows nor leaves them.
fn between(low: f64, high: f64, share: f64) -> f64 {
    let value = if share == 0.5 {
        let sum = low + high;
        if sum.is_finite() {
            sum / 2.0
        } else {
            low / 2.0 + high / 2.0
        }
    } else {
        low * (1.0 - share) + high * share
    };
    value.clamp(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_seven_interpolates() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&values, 0.0), Ok(1.0));
        assert_eq!(quantile(&values, 1.0), Ok(4.0));
        assert_eq!(quantile(&values, 0.25), Ok(1.75));
        assert_eq!(median(&values), Ok(2.5));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Ok(2.0));
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        assert!(quantile(&[], 0.5).is_err());
        assert!(quantile(&[1.0], 1.5).is_err());
        assert!(quantile(&[1.0], f64::NAN).is_err());
        assert_eq!(median(&[-1.7e308, 1.7e308]), Ok(0.0));
        assert_eq!(median(&[1.7e308, 1.7e308]), Ok(1.7e308));
    }
}
