//! What ministat prints, a plot and rows below it, with today's statistics: the parts that a report
//! and a comparison of plain samples have in common.

use std::fmt::Write;

use crate::figures::{eight_digits, estimate, short_percent};
use crate::plots::dots::{self, Series};
use crate::report::Ends;

/// Plots are no wider than this: ministat's width.
const WIDEST: usize = 78;

/// A line after a tab that stands for eight columns is no longer than this.
const WIDEST_LINE: usize = 72;

/// The plot for this many columns, or why there is none.
pub(crate) fn plot(series: &[Series], columns: usize) -> String {
    match dots::plot(series, columns.min(WIDEST)) {
        Some(lines) => lines.into_iter().map(|line| line + "\n").collect(),
        None => "(no plot: the values have no spread)\n".to_owned(),
    }
}

/// The row of a set: how many values, in so many columns at least, and its smallest, largest,
/// median, mean and standard deviation.
pub(crate) fn row(sign: char, n: usize, digits: usize, numbers: [Option<f64>; 5]) -> String {
    let mut text = format!("{sign} {n:digits$}");
    for number in numbers {
        let number = number.map_or_else(|| "-".to_owned(), eight_digits);
        let _ = write!(text, " {number:>13}");
    }
    text.push('\n');
    text
}

/// The word of a verdict as ministat would have it, and below it the difference, in the unit and in
/// percent, each where it has an interval.
pub(crate) fn difference(
    verdict: &str,
    confidence_percent: f64,
    absolute: (Option<f64>, Option<Ends>),
    percent: (Option<f64>, Option<Ends>),
) -> String {
    let confidence = short_percent(confidence_percent);
    let mut text = match verdict {
        "different" => format!("Difference at {confidence} % confidence\n"),
        "equivalent" => format!("Equivalent at {confidence} % confidence\n"),
        _ => format!("No difference proven at {confidence} % confidence\n"),
    };
    for ((value, interval), unit) in [(absolute, ""), (percent, " %")] {
        if let (Some(value), Some(interval)) = (value, interval) {
            let _ = writeln!(text, "\t{}", estimate(value, interval, unit));
        }
    }
    text
}

/// A line of two parts below a difference, broken between them and indented by `indent` where it
/// would be too long.
pub(crate) fn two_parts(first: &str, second: &str, indent: &str) -> String {
    if first.len() + second.len() < WIDEST_LINE {
        format!("\t{first} {second}\n")
    } else {
        format!("\t{first}\n\t{indent}{second}\n")
    }
}
