//! The verdicts: a line each over a common axis, then each in a sentence with its cause.

use knobstat_analysis::Verdict;
use knobstat_analysis::phrase::{probability, signed_percent};

use super::Page;
use super::names::Names;
use crate::plots::interval::Axis;
use crate::report::{ComparisonPart, Report};
use crate::text_width::{left, right, width};

/// With more comparisons than this, only those that decide something have a sentence each.
const MOST_SENTENCES: usize = 12;

/// The axis of the intervals is no wider than this.
const WIDEST_AXIS: usize = 31;

pub(super) fn verdicts(report: &Report, page: Page, names: &mut Names) -> String {
    if report.comparisons.is_empty() {
        return format!(
            "{}  Nothing is compared: no second treatment takes part.\n",
            page.title("Verdicts")
        );
    }
    let against = if report.compares_all_pairs() {
        "of all pairs".to_owned()
    } else {
        let baseline = report.experiment.baseline.0.to_string();
        format!("against {}", names.short(&baseline, page.width / 2))
    };
    let title = format!(
        "Verdicts {against}, {} % confidence over {}",
        knobstat_analysis::phrase::fixed(report.experiment.confidence, 0),
        report.family_in_words()
    );
    let mut text = page.title(&title);
    text.push_str(&overview(report, page, names));
    if let Some(error) = &report.experiment.judged_by {
        text.push('\n');
        text.push_str(&page.item(error));
    }
    let all = report.comparisons.len() <= MOST_SENTENCES;
    let mut left_out = 0;
    for comparison in &report.comparisons {
        if !all && comparison.verdict == Verdict::Undecided.word() {
            left_out += 1;
            continue;
        }
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
    if left_out > 0 {
        text.push('\n');
        text.push_str(&page.item(&without_sentence(left_out)));
    }
    text
}

/// What is said of the comparisons that have no sentence.
fn without_sentence(count: u32) -> String {
    match count {
        1 => "1 comparison is undecided; `--format markdown` has a sentence for it.".to_owned(),
        many => format!(
            "{many} comparisons are undecided; `--format markdown` has a sentence for each of them."
        ),
    }
}

/// A line per comparison: a column per factor, then the verdict, the change in percent, the
/// adjusted p-value, and the interval on an axis that all share.
fn overview(report: &Report, page: Page, names: &mut Names) -> String {
    let longest = (page.width / (2 * report.factors.len().max(1)))
        .saturating_sub(2)
        .max(3);
    let mut levels: Vec<Column> = report
        .factors
        .iter()
        .map(|factor| {
            let level = |comparison: &ComparisonPart| {
                let level = comparison.levels.0.level(&factor.name);
                level.map_or_else(|| "-".to_owned(), ToString::to_string)
            };
            let head = names.short(&factor.name, longest);
            let cells = report.comparisons.iter().map(level);
            let cells = cells.map(|cell| names.short(&cell, longest)).collect();
            Column::new(head, cells, left)
        })
        .collect();
    if report.compares_all_pairs() {
        let cells = cells(report, |comparison| comparison.baseline.0.to_string());
        let cells = cells.iter().map(|cell| names.short(cell, longest));
        levels.push(Column::new("against".to_owned(), cells.collect(), left));
    }
    let verdict = Column::new(
        "verdict".to_owned(),
        cells(report, |comparison| comparison.verdict.to_owned()),
        left,
    );
    let change = Column::new(
        "change".to_owned(),
        cells(report, |comparison| {
            comparison
                .percent
                .map_or_else(|| "-".to_owned(), signed_percent)
        }),
        right,
    );
    let p = Column::new(
        "p adjusted".to_owned(),
        cells(report, |comparison| {
            comparison
                .p_adjusted
                .map_or_else(|| "-".to_owned(), probability)
        }),
        right,
    );
    let used: usize = levels
        .iter()
        .chain([&verdict, &change, &p])
        .map(|column| column.width + GAP.len())
        .sum();
    let axis = Axis::over(
        report
            .comparisons
            .iter()
            .filter_map(|comparison| comparison.percent_interval)
            .map(|ends| (ends.0, ends.1)),
        page.width.saturating_sub(used + GAP.len()).min(WIDEST_AXIS),
    );
    let mut text = String::new();
    let mut push = |parts: Vec<String>| {
        text.push_str(format!("{GAP}{}", parts.join(GAP)).trim_end());
        text.push('\n');
    };
    let heads = levels.iter().chain([&verdict, &change, &p]);
    push(heads.map(Column::head).collect());
    for (row, comparison) in report.comparisons.iter().enumerate() {
        let bar = match (axis, comparison.percent_interval, comparison.percent) {
            (Some(axis), Some(ends), Some(percent)) => axis.line(ends.0, percent, ends.1),
            (Some(axis), _, _) => axis.empty(),
            (None, _, _) => String::new(),
        };
        let coloured =
            page.colour
                .verdict(&verdict.cell(row), comparison.verdict, comparison.better);
        let mut parts: Vec<String> = levels.iter().map(|column| column.cell(row)).collect();
        parts.extend([coloured, change.cell(row), p.cell(row), bar]);
        push(parts);
    }
    text
}

/// What stands between two columns.
const GAP: &str = "  ";

fn cells(report: &Report, cell: impl Fn(&ComparisonPart) -> String) -> Vec<String> {
    report.comparisons.iter().map(cell).collect()
}

/// A column of the overview.
struct Column {
    head: String,
    cells: Vec<String>,
    width: usize,
    padded: fn(&str, usize) -> String,
}

impl Column {
    fn new(head: String, cells: Vec<String>, padded: fn(&str, usize) -> String) -> Self {
        let width = cells.iter().chain([&head]).map(|cell| width(cell)).max();
        Self {
            width: width.unwrap_or(0),
            head,
            cells,
            padded,
        }
    }

    fn head(&self) -> String {
        (self.padded)(&self.head, self.width)
    }

    fn cell(&self, row: usize) -> String {
        let cell = self.cells.get(row).map_or("", String::as_str);
        (self.padded)(cell, self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_comparison_without_a_sentence_is_one() {
        assert!(without_sentence(1).starts_with("1 comparison is undecided"));
        assert!(without_sentence(40).starts_with("40 comparisons are undecided"));
    }
}
