//! Text for a terminal: of one group the plot with ministat's columns, of several a line a comparison,
//! then the verdicts in sentences, and what a reader must beware of.

use std::fmt::Write;

use knobstat_analysis::phrase::{probability, signed_percent, significant};
use knobstat_analysis::samples::{Comparison, Findings, GroupFindings, SetFindings};

use crate::figures::{HEADER, estimate, short_percent};
use crate::ministat;
use crate::plots::dots::{self, Series};
use crate::plots::interval::Axis;
use crate::report::Ends;
use crate::text_width::{cut, left, printable, right, width, wrapped};

/// No text is set narrower than this.
const NARROWEST: usize = 40;

/// Plots of more sets than this show nothing.
const MOST_IN_A_PLOT: usize = 9;

/// With more comparisons than this, only those that decide something have a sentence each.
const MOST_SENTENCES: usize = 12;

/// The axis of the intervals is no wider than this, and is left out where there is not even this.
const WIDEST_AXIS: usize = 31;
const NARROWEST_AXIS: usize = 11;

/// The findings for a terminal of this many columns; the text ends with a newline.
pub fn text(findings: &Findings, columns: usize) -> String {
    let columns = columns.max(NARROWEST);
    let mut text = String::new();
    if let [group] = findings.groups.as_slice() {
        text.push_str(&heading(group, columns));
        text.push_str(&plot(group, columns));
        text.push_str(&rows(group, findings));
    } else {
        text.push_str(&table(findings, columns));
    }
    text.push_str(&verdicts(findings, columns));
    if !findings.caveats.is_empty() {
        text.push_str("\nBeware\n");
        for caveat in &findings.caveats {
            text.push_str(&item(&caveat.sentence, columns));
        }
    }
    text
}

fn item(sentence: &str, columns: usize) -> String {
    wrapped(&printable(sentence), columns, "  ", "    ")
}

/// What the group measures, where somebody says.
fn heading(group: &GroupFindings, columns: usize) -> String {
    let mut parts = Vec::new();
    if !group.at.is_empty() {
        parts.push(group.at.clone());
    }
    if !group.metric.is_empty() {
        parts.push(match group.unit.as_str() {
            unit if matches!(unit, "" | "1") || unit == group.metric => group.metric.clone(),
            unit => format!("{} in {unit}", group.metric),
        });
    }
    if let (Some(better), false) = (group.better, parts.is_empty()) {
        parts.push(format!("{better} is better"));
    }
    if parts.is_empty() {
        return String::new();
    }
    wrapped(&printable(&parts.join(", ")), columns, "", "  ")
}

fn plot(group: &GroupFindings, columns: usize) -> String {
    let mut text = String::new();
    for (place, set) in group.sets.iter().enumerate() {
        let name = cut(&printable(&set.name), columns - 2);
        let _ = writeln!(text, "{} {name}", dots::sign(place));
    }
    if group.sets.len() > MOST_IN_A_PLOT {
        text.push_str("(no plot: too many sets for one)\n");
        return text;
    }
    let series: Vec<Series> = group
        .sets
        .iter()
        .enumerate()
        .map(|(place, set)| Series {
            sign: dots::sign(place),
            values: &set.values,
            interval: set
                .summary
                .zip(set.interval)
                .map(|(summary, interval)| (summary.mean, interval.low, interval.high)),
        })
        .collect();
    text.push_str(&ministat::plot(&series, columns));
    text
}

/// What ministat prints below its plot, with today's statistics.
fn rows(group: &GroupFindings, findings: &Findings) -> String {
    let most = group.sets.iter().map(|set| set.values.len()).max();
    // Counts of more than three digits move all columns to the right.
    let digits = most.unwrap_or(0).to_string().len().max(3);
    let mut text = format!("{}{HEADER}", " ".repeat(digits - 3));
    for (place, set) in group.sets.iter().enumerate() {
        text.push_str(&row(dots::sign(place), set, digits));
        // The baseline is compared with nothing.
        if let Some(comparison) = place
            .checked_sub(1)
            .and_then(|at| group.comparisons.get(at))
        {
            text.push_str(&lines(comparison, findings));
        }
    }
    text
}

fn row(sign: char, set: &SetFindings, digits: usize) -> String {
    let summary = set.summary;
    let numbers = [
        summary.map(|summary| summary.min),
        summary.map(|summary| summary.max),
        summary.map(|summary| summary.median),
        summary.map(|summary| summary.mean),
        summary.and_then(|summary| summary.sd),
    ];
    ministat::row(sign, set.values.len(), digits, numbers)
}

/// A comparison in the shape of ministat's.
fn lines(comparison: &Comparison, findings: &Findings) -> String {
    let judged = &comparison.judged;
    let mut text = ministat::difference(
        judged.verdict.word(),
        findings.confidence_percent,
        (judged.difference, Ends::of(judged.interval)),
        (judged.percent, Ends::of(judged.percent_interval)),
    );
    if let (Some(p), Some(adjusted), Some(method)) =
        (judged.p, judged.p_adjusted, comparison.method)
    {
        let _ = writeln!(
            text,
            "\t({}, p = {})",
            method.word(),
            both(p, adjusted, judged.family)
        );
    }
    if let Some(rank) = comparison.rank {
        let shift = match Ends::of(rank.interval) {
            Some(interval) => estimate(rank.shift, interval, ""),
            None => significant(rank.shift, 3),
        };
        let p = both(rank.p, rank.p_adjusted, judged.family);
        let test = format!("({}, p = {p};", rank.name);
        let shift = format!("shifted by {shift})");
        text.push_str(&ministat::two_parts(&test, &shift, " "));
    }
    text
}

/// A p-value, and what is left of it in its family.
fn both(p: f64, adjusted: f64, family: usize) -> String {
    if family > 1 {
        format!(
            "{}, adjusted for {family}: {}",
            probability(p),
            probability(adjusted)
        )
    } else {
        probability(p)
    }
}

fn verdicts(findings: &Findings, columns: usize) -> String {
    let comparisons: Vec<&Comparison> = findings.comparisons().collect();
    if comparisons.is_empty() {
        return "\nNothing is compared: there is one set.\n".to_owned();
    }
    let title = format!(
        "Verdicts, {} % confidence over {}",
        short_percent(findings.confidence_percent),
        match comparisons.len() {
            1 => "one comparison".to_owned(),
            count => format!("all {count} comparisons together"),
        }
    );
    let mut text = format!("\n{title}\n");
    let all = comparisons.len() <= MOST_SENTENCES;
    let mut left_out = 0;
    for comparison in &comparisons {
        if all || comparison.judged.verdict.word() != "undecided" {
            text.push_str(&item(&comparison.judged.sentence, columns));
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        let line = format!(
            "{left_out} comparisons are undecided; `--json` has a sentence for each of them."
        );
        text.push_str(&item(&line, columns));
    }
    text
}

/// A line a comparison, with the interval on an axis that all share.
fn table(findings: &Findings, columns: usize) -> String {
    let several_sets = findings
        .groups
        .iter()
        .any(|group| group.comparisons.len() > 1);
    let longest = (columns / 4).max(8);
    let pairs: Vec<(&GroupFindings, &SetFindings, &Comparison)> = findings
        .groups
        .iter()
        .flat_map(|group| {
            group
                .comparisons
                .iter()
                .zip(group.sets.iter().skip(1))
                .map(move |(comparison, set)| (group, set, comparison))
        })
        .collect();
    let mut heads: Vec<(&str, bool)> = vec![("", false)];
    if several_sets {
        heads.push(("set", false));
    }
    heads.extend([
        ("baseline", true),
        ("mean", true),
        ("change", true),
        ("p adjusted", true),
        ("verdict", false),
    ]);
    let mut lines: Vec<Vec<String>> =
        vec![heads.iter().map(|(head, _)| (*head).to_owned()).collect()];
    for (group, set, comparison) in &pairs {
        let title = match (group.at.as_str(), group.metric.as_str()) {
            ("", metric) => metric,
            (at, _) => at,
        };
        let mean = |set: Option<&SetFindings>| {
            set.and_then(|set| set.summary)
                .map_or_else(|| "-".to_owned(), |summary| significant(summary.mean, 4))
        };
        let mut line = vec![cut(&printable(title), longest)];
        if several_sets {
            line.push(cut(&printable(&set.name), longest));
        }
        line.extend([
            mean(group.sets.first()),
            mean(Some(set)),
            comparison
                .judged
                .percent
                .map_or_else(|| "-".to_owned(), signed_percent),
            comparison
                .judged
                .p_adjusted
                .map_or_else(|| "-".to_owned(), probability),
            comparison.judged.verdict.word().to_owned(),
        ]);
        lines.push(line);
    }
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| {
            lines
                .iter()
                .map(|line| width(&line[column]))
                .max()
                .unwrap_or(0)
        })
        .collect();
    let used: usize = widths.iter().map(|width| width + 2).sum();
    let room = columns.saturating_sub(used).min(WIDEST_AXIS);
    let ends = |comparison: &Comparison| Ends::of(comparison.judged.percent_interval);
    let axis = Some(room)
        .filter(|room| *room >= NARROWEST_AXIS)
        .and_then(|room| {
            let intervals = pairs
                .iter()
                .filter_map(|(_, _, comparison)| ends(comparison));
            Axis::over(intervals.map(|ends| (ends.0, ends.1)), room)
        });
    let mut text = String::new();
    for (row, line) in lines.iter().enumerate() {
        let mut cells: Vec<String> = line
            .iter()
            .zip(&heads)
            .zip(&widths)
            .map(|((cell, (_, to_the_right)), width)| {
                if *to_the_right {
                    right(cell, *width)
                } else {
                    left(cell, *width)
                }
            })
            .collect();
        if let (Some(axis), Some(place)) = (axis, row.checked_sub(1)) {
            let comparison = pairs[place].2;
            cells.push(match (ends(comparison), comparison.judged.percent) {
                (Some(ends), Some(percent)) => axis.line(ends.0, percent, ends.1),
                _ => axis.empty(),
            });
        }
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
