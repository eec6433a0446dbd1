//! The verdicts: a line each over a common axis, then each in a sentence with its cause.

use knobstat_analysis::phrase::{probability, signed_percent};

use super::Page;
use super::names::Names;
use crate::plots::interval::Axis;
use crate::report::{ComparisonPart, Report};
use crate::text_width::{left, right, width};

/// The axis of the intervals is no wider than this.
const WIDEST_AXIS: usize = 31;

pub(super) fn verdicts(report: &Report, page: Page, names: &mut Names) -> String {
    if report.comparisons.is_empty() {
        return format!(
            "{}  Nothing is compared: no second treatment takes part.\n",
            page.title("Verdicts")
        );
    }
    let title = format!(
        "Verdicts against {}, {} % confidence over {}",
        report.experiment.baseline.0,
        knobstat_analysis::phrase::fixed(report.experiment.confidence, 0),
        match report.comparisons.len() {
            1 => "one comparison".to_owned(),
            count => format!("all {count} comparisons together"),
        }
    );
    let mut text = page.title(&title);
    text.push_str(&overview(report, page, names));
    for comparison in &report.comparisons {
        text.push('\n');
        text.push_str(&page.item(&comparison.sentence));
        if let Some(cause) = &comparison.cause {
            text.push_str(&page.item(&format!("Cause: {cause}")));
        }
        if !comparison.also_differs.is_empty() {
            let parts: Vec<&str> = comparison
                .also_differs
                .iter()
                .map(|evidence| evidence.sentence.as_str())
                .collect();
            text.push_str(&page.item(&format!("What else differed: {}.", parts.join("; "))));
        }
    }
    text
}

/// A line per comparison.
fn overview(report: &Report, page: Page, names: &mut Names) -> String {
    let rows: Vec<[String; 4]> = report
        .comparisons
        .iter()
        .map(|comparison| {
            [
                names.short(&label(comparison), page.width / 2),
                comparison.verdict.to_owned(),
                comparison
                    .percent
                    .map_or_else(|| "-".to_owned(), signed_percent),
                comparison
                    .p_adjusted
                    .map_or_else(|| "-".to_owned(), probability),
            ]
        })
        .collect();
    let heads = ["", "verdict", "change", "p adjusted"];
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(column, head)| {
            rows.iter()
                .map(|row| width(&row[column]))
                .chain([width(head)])
                .max()
                .unwrap_or(0)
        })
        .collect();
    let used: usize = 2 + widths.iter().map(|width| width + 2).sum::<usize>();
    let axis = Axis::over(
        report
            .comparisons
            .iter()
            .filter_map(|comparison| comparison.percent_interval)
            .map(|ends| (ends.0, ends.1)),
        page.width.saturating_sub(used).min(WIDEST_AXIS),
    );
    let mut text = format!(
        "  {}  {}  {}  {}\n",
        left(heads[0], widths[0]),
        left(heads[1], widths[1]),
        right(heads[2], widths[2]),
        right(heads[3], widths[3])
    );
    for (row, comparison) in rows.iter().zip(&report.comparisons) {
        let verdict = left(&row[1], widths[1]);
        let verdict = page
            .colour
            .verdict(&verdict, comparison.verdict, comparison.better);
        let bar = match (axis, comparison.percent_interval, comparison.percent) {
            (Some(axis), Some(ends), Some(percent)) => axis.line(ends.0, percent, ends.1),
            (Some(axis), _, _) => axis.empty(),
            (None, _, _) => String::new(),
        };
        let line = format!(
            "  {}  {verdict}  {}  {}  {bar}",
            left(&row[0], widths[0]),
            right(&row[2], widths[2]),
            right(&row[3], widths[3])
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// What is compared, what it shares with its baseline last.
fn label(comparison: &ComparisonPart) -> String {
    let differing = comparison.differing.0.to_string();
    if comparison.held.0.settings.is_empty() {
        differing
    } else {
        format!("{differing} at {}", comparison.held.0)
    }
}
