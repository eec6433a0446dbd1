//! The dot plot of a report with one baseline, and under it what ministat prints, with today's
//! statistics.

use std::fmt::Write;

use knobstat_analysis::phrase::probability;

use super::Page;
use super::names::Names;
use crate::figures::HEADER;
use crate::ministat;
use crate::plots::dots::{self, Series};
use crate::report::{ComparisonPart, Report, TreatmentPart};

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
    text.push_str(&ministat::plot(&series, page.width));
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

fn row(sign: char, treatment: &TreatmentPart) -> String {
    let Some(metric) = treatment.metrics.first() else {
        return format!("{sign}   0\n");
    };
    let numbers = [
        metric.min,
        metric.max,
        metric.median,
        metric.mean,
        metric.sd,
    ];
    ministat::row(sign, metric.n, 3, numbers)
}

/// A comparison in the shape of ministat's.
fn lines(comparison: &ComparisonPart, report: &Report) -> String {
    let mut text = ministat::difference(
        comparison.verdict,
        report.experiment.confidence,
        (comparison.difference, comparison.interval),
        (comparison.percent, comparison.percent_interval),
    );
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
        text.push_str(&ministat::two_parts(&test, &p, ""));
    }
    text
}
