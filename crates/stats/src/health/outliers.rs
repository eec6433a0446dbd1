//! Values far from the rest. They are pointed out, never removed.

use crate::degenerate::{Degenerate, require};
use crate::summary::{mean_absolute_deviation, median, median_absolute_deviation};

/// The places of values whose modified z-score exceeds 3.5: distance from the median over
/// 1.4826 times the median absolute deviation, or, where more than half of the values are equal,
/// over 1.2533 times the mean absolute deviation (Iglewicz and Hoaglin 1993). One normal series in
/// ten has such a value by chance.
///
/// # Errors
/// When there are fewer than four values or one is not finite. Equal values have no outlier.
pub fn outliers(values: &[f64]) -> Result<Vec<usize>, Degenerate> {
    require(values, 4)?;
    let centre = median(values)?;
    let robust = 1.482_602_218_505_602 * median_absolute_deviation(values)?;
    let scale = if robust > 0.0 {
        robust
    } else {
        1.253_314_137_315_500_3 * mean_absolute_deviation(values)?
    };
    Ok(values
        .iter()
        .enumerate()
        .filter(|(_, value)| (*value - centre).abs() > 3.5 * scale)
        .map(|(index, _)| index)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wild_value_is_pointed_out() {
        let x = [12.01, 12.02, 12.14, 12.02, 12.01, 12.03, 12.02, 12.02];
        assert_eq!(outliers(&x), Ok(vec![2]));
        assert_eq!(outliers(&[1.0, 2.0, 3.0, 4.0, 5.0]), Ok(vec![]));
    }

    #[test]
    fn equal_values_have_none_but_one_exception_is_seen() {
        assert_eq!(outliers(&[3.0; 8]), Ok(vec![]));
        let mut values = [3.0; 20];
        values[4] = 4.0;
        assert_eq!(outliers(&values), Ok(vec![4]));
        assert!(outliers(&[1.0, 2.0]).is_err());
    }
}
