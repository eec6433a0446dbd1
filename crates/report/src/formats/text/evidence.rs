//! The evidence: a row for each piece, a column for each treatment.

use std::fmt::Write;

use knobstat_analysis::phrase::short;

use super::Page;
use super::names::Names;
use crate::report::{EvidenceRowPart, Report};
use crate::text_width::{left, printable, right, width};

const GAP: &str = "  ";

/// The digits of a mean.
const DIGITS: usize = 4;

/// Columns are numbered, and the numbers explained beneath: treatments' names are long.
pub(super) fn evidence(report: &Report, page: Page, names: &mut Names) -> String {
    let Some(rows) = &report.evidence else {
        return String::new();
    };
    let mut text = page.title("Evidence: means by treatment");
    if rows.is_empty() {
        text.push_str("  No run has any.\n");
        return text;
    }
    for (number, treatment) in report.treatments.iter().enumerate() {
        let name = names.short(
            &treatment.levels.0.to_string(),
            page.width.saturating_sub(8),
        );
        let _ = writeln!(text, "  {:>3}  {name}", number + 1);
    }
    let shown: Vec<(&EvidenceRowPart, Vec<String>)> = rows
        .iter()
        .filter(|row| row.means.iter().flatten().any(|mean| *mean != 0.0))
        .map(|row| {
            let cell = |mean: &Option<f64>| {
                mean.map_or_else(|| "-".to_owned(), |mean| short(mean, DIGITS))
            };
            (row, row.means.iter().map(cell).collect())
        })
        .collect();
    let head = |row: &EvidenceRowPart| {
        let unit = if row.unit == "1" {
            ""
        } else {
            row.unit.as_str()
        };
        [row.key.clone(), row.scope.clone(), unit.to_owned()].map(|part| printable(&part))
    };
    let heads: Vec<[String; 3]> = shown.iter().map(|(row, _)| head(row)).collect();
    let head_widths = [0, 1, 2].map(|part: usize| {
        let widths = heads.iter().map(|head| width(&head[part]));
        widths.max().unwrap_or(0)
    });
    let cell_width = shown
        .iter()
        .flat_map(|(_, cells)| cells.iter().map(|cell| width(cell)))
        .max()
        .unwrap_or(0)
        .max(3);
    let used: usize = head_widths.iter().map(|width| width + GAP.len()).sum();
    let at_once = (page.width.saturating_sub(used) / (cell_width + GAP.len())).max(1);
    let columns: Vec<usize> = (0..report.treatments.len()).collect();
    for group in columns.chunks(at_once) {
        let mut line = " ".repeat(used);
        for column in group {
            line.push_str(&right(&(column + 1).to_string(), cell_width));
            line.push_str(GAP);
        }
        push(&mut text, &line);
        let mut was_combined = shown.first().is_some_and(|(row, _)| row.combined);
        for ((row, cells), head) in shown.iter().zip(&heads) {
            if was_combined && !row.combined {
                text.push('\n');
            }
            was_combined = row.combined;
            let mut line = String::new();
            for (part, width) in head.iter().zip(head_widths) {
                line.push_str(&left(part, width));
                line.push_str(GAP);
            }
            for column in group {
                let cell = cells.get(*column).map_or("", String::as_str);
                line.push_str(&right(cell, cell_width));
                line.push_str(GAP);
            }
            push(&mut text, &line);
        }
    }
    let nothing = rows.len() - shown.len() - rows.iter().filter(|row| row.reason.is_some()).count();
    if nothing > 0 {
        let _ = writeln!(text, "  {nothing} more were zero in every run.");
    }
    text.push_str(&lacking(rows, page));
    text
}

/// What no run has, by reason.
fn lacking(rows: &[EvidenceRowPart], page: Page) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows {
        let Some(reason) = row.reason.as_deref() else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, keys)) if keys.contains(&row.key.as_str()) => {}
            Some((_, keys)) => keys.push(&row.key),
            None => reasons.push((reason, vec![&row.key])),
        }
    }
    reasons
        .iter()
        .map(|(reason, keys)| page.item(&format!("No {}: {reason}.", keys.join(", "))))
        .collect()
}

fn push(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}
