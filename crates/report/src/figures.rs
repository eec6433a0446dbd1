//! Figures as a plot's rows have them: ministat's columns, an estimate beside its interval.

use knobstat_analysis::phrase::{significant, with_uncertainty};

use crate::report::Ends;

/// What stands above the rows of sets, as ministat has it.
pub(crate) const HEADER: &str =
    "    N           Min           Max        Median           Avg        Stddev\n";

/// Eight significant digits without trailing zeros, as C's `%.8g`.
pub(crate) fn eight_digits(number: f64) -> String {
    let text = significant(number, 8);
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{}e{exponent}", without_zeros(digits)),
        None => without_zeros(&text).to_owned(),
    }
}

fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    }
}

/// An estimate with half its interval, or with both ends where it is not in the middle.
pub(crate) fn estimate(value: f64, interval: Ends, unit: &str) -> String {
    let half = interval.half_width();
    let middle = interval.0 + half;
    if (value - middle).abs() <= half / 20.0 {
        with_uncertainty(value, half, unit)
    } else {
        format!(
            "{}{unit} ({}{unit} to {}{unit})",
            significant(value, 3),
            significant(interval.0, 3),
            significant(interval.1, 3)
        )
    }
}

/// A confidence in percent, with no more decimals than it was given with.
pub(crate) fn short_percent(percent: f64) -> String {
    // A confidence is a short number that went through binary fractions.
    let text = format!("{percent:.6}");
    without_zeros(&text).to_owned()
}
