//! The dot plot of a report with one baseline, and under it what ministat prints, with today's
//! statistics.

use std::fmt::Write;

use knobstat_analysis::phrase::probability;

use super::Page;
use super::names::Names;
use crate::figures::{HEADER, eight_digits, estimate, short_percent};
use crate::plots::dots::{self, Series};
use crate::report::{ComparisonPart, Report, TreatmentPart};

/// Plots are no wider than this: ministat's width.
const WIDEST: usize = 78;

pub(super) fn plot(report: &Report, page: Page, names: &mut Names) -> String {
    let mut text = "\n".to_owned();
    // The baseline leads, as it does in ministat.
    let mut treatments: Vec<&TreatmentPart> = report.treatments.iter().collect();
    let is_baseline = |treatment: &TreatmentPart| {
        report
            .comparisons
            .first()
            .is_some_and(|comparison| comparison.baseline == treatment.levels)
    };
    treatments.sort_by_key(|treatment| !is_baseline(treatment));
    for (place, treatment) in treatments.iter().enumerate() {
        let name = names.short(&treatment.levels.0.to_string(), page.width - 2);
        let _ = writeln!(text, "{} {name}", dots::sign(place));
    }
    let series: Vec<Series> = treatments
        .iter()
        .enumerate()
        .filter_map(|(place, treatment)| {
            let metric = treatment.metrics.first()?;
            Some(Series {
                sign: dots::sign(place),
                values: &metric.values,
                interval: metric
                    .mean
                    .zip(metric.interval)
                    .map(|(mean, ends)| (mean, ends.0, ends.1)),
            })
        })
        .collect();
    match dots::plot(&series, page.width.min(WIDEST)) {
        Some(lines) => {
            for line in lines {
                text.push_str(&line);
                text.push('\n');
            }
        }
        None => text.push_str("(no plot: the values have no spread)\n"),
    }
    text.push_str(HEADER);
    for (place, treatment) in treatments.iter().enumerate() {
        text.push_str(&row(dots::sign(place), treatment));
        let comparison = report
            .comparisons
            .iter()
            .find(|comparison| comparison.levels == treatment.levels);
        if let Some(comparison) = comparison {
            text.push_str(&lines(comparison, report));
        }
    }
    text
}

/// A line after a tab that stands for eight columns is no longer than this.
const WIDEST_LINE: usize = 72;

fn row(sign: char, treatment: &TreatmentPart) -> String {
    let Some(metric) = treatment.metrics.first() else {
        return format!("{sign}   0\n");
    };
    let mut text = format!("{sign} {:3}", metric.n);
    for number in [
        metric.min,
        metric.max,
        metric.median,
        metric.mean,
        metric.sd,
    ] {
        let number = number.map_or_else(|| "-".to_owned(), eight_digits);
        let _ = write!(text, " {number:>13}");
    }
    text.push('\n');
    text
}

/// A comparison in the shape of ministat's.
fn lines(comparison: &ComparisonPart, report: &Report) -> String {
    let confidence = short_percent(report.experiment.confidence);
    let mut text = match comparison.verdict {
        "different" => format!("Difference at {confidence} % confidence\n"),
        "equivalent" => format!("Equivalent at {confidence} % confidence\n"),
        _ => format!("No difference proven at {confidence} % confidence\n"),
    };
    let differences = [
        (comparison.difference, comparison.interval, ""),
        (comparison.percent, comparison.percent_interval, " %"),
    ];
    for (value, interval, unit) in differences {
        if let (Some(value), Some(interval)) = (value, interval) {
            let _ = writeln!(text, "\t{}", estimate(value, interval, unit));
        }
    }
    if let (Some(p), Some(adjusted), Some(method)) =
        (comparison.p, comparison.p_adjusted, comparison.method)
    {
        let test = format!("({method} over {} blocks,", comparison.pairs);
        let p = format!(
            "p = {}, adjusted for {}: {})",
            probability(p),
            comparison.family,
            probability(adjusted)
        );
        let gap = if test.len() + p.len() < WIDEST_LINE {
            " "
        } else {
            "\n\t"
        };
        let _ = writeln!(text, "\t{test}{gap}{p}");
    }
    text
}
