//! The step of the scale that values were read from.
//!
//! A clock that ticks, or a program that prints three digits, gives values on a grid. Where the
//! spread between repeats is smaller than a step of the grid, the repeats agree because the
//! scale is coarse, and a t test on them would be sure of nothing but the scale.

use crate::observations::Observed;

/// The step of the scale of some values: the coarsest that is known of any of them, else the
/// coarsest power of ten that they are all whole multiples of. None where all are zero.
pub fn step(cells: &[&[Observed]]) -> Option<f64> {
    let all = || cells.iter().flat_map(|cell| cell.iter());
    all()
        .filter_map(|observed| observed.granularity)
        .reduce(f64::max)
        .or_else(|| decimal_step(all().map(|observed| observed.value)))
}

/// The coarsest power of ten of which all values are whole multiples, as far as their digits
/// tell; none where all are zero or there are none.
pub fn decimal_step(values: impl Iterator<Item = f64>) -> Option<f64> {
    values
        .filter(|value| value.is_finite() && *value != 0.0)
        .map(last_digit)
        .min()
        .map(|exponent| 10_f64.powi(exponent))
        .filter(|step| step.is_finite() && *step > 0.0)
}

/// The power of ten of the last digit of the shortest decimal that reads as this number.
fn last_digit(value: f64) -> i32 {
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let decimals = digits
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    // A double has at most 17 digits and three of exponent: both fit.
    exponent.parse::<i32>().unwrap_or(0) - i32::try_from(decimals).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_is_that_of_the_finest_value() {
        for (values, step) in [
            (vec![513.0, 886.0], Some(1.0)),
            (vec![12.01, 12.1, 12.0], Some(0.01)),
            (vec![400.0, 500.0], Some(100.0)),
            (vec![0.0, 20.0], Some(10.0)),
            (vec![0.0], None),
            (vec![], None),
        ] {
            let found = decimal_step(values.iter().copied());
            assert_eq!(found, step, "{values:?}");
        }
    }

    #[test]
    fn a_known_step_wins_over_digits() {
        let observed = |value, granularity| Observed {
            block: 0,
            sequence: 0,
            value,
            limited_by: None,
            granularity,
        };
        let cells = [observed(0.5, Some(4.0)), observed(0.25, None)];
        assert_eq!(step(&[&cells]), Some(4.0));
    }
}
