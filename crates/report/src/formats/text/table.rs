//! Tables of values: a row per level of one factor, a column per level of another, every repeat
//! in its cell and the mean with its interval beneath; a table for each combination of the rest.

use knobstat_analysis::phrase::{resolved, significant, with_uncertainty};
use knobstat_data::{Level, Treatment};

use super::Page;
use super::names::Names;
use crate::report::{MetricPart, Report, TreatmentPart};
use crate::text_width::{left, right, width, wrapped};

/// Names of levels and factors take no more columns than this.
const LONGEST_NAME: usize = 24;

/// What stands between two columns.
const GAP: &str = "   ";

/// All tables of a report of two factors or more.
pub(super) fn tables(report: &Report, page: Page, names: &mut Names) -> String {
    let (row, column) = axes(report);
    let mut combinations: Vec<Treatment> = Vec::new();
    for treatment in &report.treatments {
        let rest = treatment.levels.0.without(&[row, column]);
        if !combinations.contains(&rest) {
            combinations.push(rest);
        }
    }
    let mut text = String::new();
    for rest in combinations {
        text.push('\n');
        if !rest.settings.is_empty() {
            text.push_str(&page.colour.bold(&rest.to_string()));
            text.push('\n');
        }
        let members: Vec<&TreatmentPart> = report
            .treatments
            .iter()
            .filter(|treatment| treatment.levels.0.agrees_with(&rest))
            .collect();
        text.push_str(&table(&members, row, column, page, names));
    }
    text.push_str(&legend(report, page));
    text
}

/// What the limits beside the means say.
fn legend(report: &Report, page: Page) -> String {
    let mut words: Vec<&str> = Vec::new();
    let metrics = report
        .treatments
        .iter()
        .filter_map(|treatment| treatment.metrics.first());
    for limit in metrics.filter_map(|metric| metric.limited_by) {
        if !words.contains(&limit.word()) {
            words.push(limit.word());
        }
    }
    words
        .into_iter()
        .map(|word| {
            let line = format!("({word}): the {word} was the limit, so the value is a bound.");
            wrapped(&line, page.width, "", "  ")
        })
        .collect()
}

/// The factors of the rows and of the columns: what is compared stands side by side.
fn axes(report: &Report) -> (&str, &str) {
    let several = |name: &str| {
        report
            .factors
            .iter()
            .any(|factor| factor.name == name && factor.levels.len() > 1)
    };
    let partial = !report.has_one_baseline();
    let factors: Vec<&str> = report
        .factors
        .iter()
        .map(|factor| factor.name.as_str())
        .collect();
    let compared = factors.iter().find(|name| {
        partial && several(name) && report.experiment.baseline.0.level(name).is_some()
    });
    let knob = report
        .factors
        .iter()
        .find(|factor| factor.kind == "knob" && factor.levels.len() > 1)
        .map(|factor| factor.name.as_str());
    let column = compared
        .copied()
        .or(knob)
        .or_else(|| factors.first().copied())
        .unwrap_or_default();
    let row = factors
        .iter()
        .rev()
        .find(|name| **name != column && several(name))
        .or_else(|| factors.iter().find(|name| **name != column))
        .copied()
        .unwrap_or_default();
    (row, column)
}

fn levels_of(members: &[&TreatmentPart], factor: &str) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    for member in members {
        if let Some(level) = member.levels.0.level(factor)
            && !levels.contains(level)
        {
            levels.push(level.clone());
        }
    }
    levels
}

/// A cell: the values as texts, and the line beneath them.
struct Cell {
    values: Vec<String>,
    beneath: String,
}

impl Cell {
    fn of(treatment: Option<&TreatmentPart>) -> Self {
        match treatment.and_then(|treatment| treatment.metrics.first().map(|m| (m, treatment))) {
            Some((metric, treatment)) if metric.n > 0 => Self {
                values: values(metric),
                beneath: mean(metric, treatment),
            },
            Some((_, treatment)) => Self {
                values: Vec::new(),
                beneath: if treatment.runs.failed > 0 {
                    "failed".to_owned()
                } else {
                    "no value".to_owned()
                },
            },
            None => Self {
                values: Vec::new(),
                beneath: "-".to_owned(),
            },
        }
    }

    /// The values with so many a line.
    fn lines(&self, per_line: usize) -> Vec<String> {
        let widest = self
            .values
            .iter()
            .map(|value| width(value))
            .max()
            .unwrap_or(0);
        self.values
            .chunks(per_line.max(1))
            .map(|chunk| {
                let padded: Vec<String> = chunk.iter().map(|value| right(value, widest)).collect();
                padded.join(" ")
            })
            .chain([self.beneath.clone()])
            .collect()
    }

    fn width(&self, per_line: usize) -> usize {
        self.lines(per_line)
            .iter()
            .map(|line| width(line))
            .max()
            .unwrap_or(0)
    }
}

/// The values with the digits that their spread needs.
pub(super) fn values(metric: &MetricPart) -> Vec<String> {
    // As measured where that is short, else to a hundredth of the spread.
    let shortest: Vec<String> = metric.values.iter().map(f64::to_string).collect();
    if shortest.iter().all(|text| text.len() <= 7) {
        return shortest;
    }
    match metric.sd.filter(|sd| *sd > 0.0) {
        Some(sd) if sd < 1e9 && metric.values.iter().all(|value| value.abs() < 1e12) => metric
            .values
            .iter()
            .map(|value| resolved(*value, sd))
            .collect(),
        _ => metric
            .values
            .iter()
            .map(|value| significant(*value, 5))
            .collect(),
    }
}

/// The mean with half its interval, and what limited it.
pub(super) fn mean(metric: &MetricPart, treatment: &TreatmentPart) -> String {
    let Some(mean) = metric.mean else {
        return "no mean".to_owned();
    };
    let mut text = match metric.interval {
        Some(interval) => with_uncertainty(mean, interval.half_width(), ""),
        None => {
            let value = values(metric).into_iter().next().unwrap_or_default();
            let remark = if metric.n == 1 {
                "one value"
            } else {
                "all equal"
            };
            format!("{value}, {remark}")
        }
    };
    if let Some(limit) = metric.limited_by {
        text.push_str(&format!(" ({})", limit.word()));
    }
    if treatment.runs.failed > 0 {
        text.push_str(&format!(" ({} failed)", treatment.runs.failed));
    }
    text
}

fn table(
    members: &[&TreatmentPart],
    row: &str,
    column: &str,
    page: Page,
    names: &mut Names,
) -> String {
    let (rows, columns) = (levels_of(members, row), levels_of(members, column));
    let cells: Vec<Vec<Cell>> = rows
        .iter()
        .map(|row_level| {
            columns
                .iter()
                .map(|column_level| {
                    Cell::of(members.iter().copied().find(|member| {
                        member.levels.0.level(row) == Some(row_level)
                            && member.levels.0.level(column) == Some(column_level)
                    }))
                })
                .collect()
        })
        .collect();
    let row_head = names.short(row, LONGEST_NAME);
    let row_names: Vec<String> = rows
        .iter()
        .map(|level| names.short(&level.to_string(), LONGEST_NAME))
        .collect();
    let column_names: Vec<String> = columns
        .iter()
        .map(|level| names.short(&level.to_string(), LONGEST_NAME))
        .collect();
    let head_width = row_names
        .iter()
        .map(|name| width(name))
        .chain([width(&row_head)])
        .max()
        .unwrap_or(0);

    let column_width = |place: usize, per_line: usize| {
        cells
            .iter()
            .map(|row| row[place].width(per_line))
            .chain([width(&column_names[place])])
            .max()
            .unwrap_or(0)
    };
    let most = cells
        .iter()
        .flatten()
        .map(|cell| cell.values.len())
        .max()
        .unwrap_or(1)
        .max(1);
    let total = |places: &[usize], per_line: usize| {
        head_width
            + places
                .iter()
                .map(|place| GAP.len() + column_width(*place, per_line))
                .sum::<usize>()
    };
    let all: Vec<usize> = (0..columns.len()).collect();
    let per_line = (1..=most)
        .rev()
        .find(|per_line| total(&all, *per_line) <= page.width)
        .unwrap_or(1);

    // Where even one value a line is too wide, the columns go on in a further table.
    let mut groups: Vec<Vec<usize>> = vec![Vec::new()];
    for place in all {
        let mut extended = groups.last().cloned().unwrap_or_default();
        extended.push(place);
        match groups.last_mut() {
            Some(last) if last.is_empty() || total(&extended, per_line) <= page.width => {
                *last = extended;
            }
            _ => groups.push(vec![place]),
        }
    }
    let mut text = String::new();
    for group in groups {
        let widths: Vec<usize> = group
            .iter()
            .map(|place| column_width(*place, per_line))
            .collect();
        let column_head = names.short(column, page.width.saturating_sub(head_width + GAP.len()));
        push_line(
            &mut text,
            &format!("{}{GAP}{column_head}", left("", head_width)),
        );
        let mut line = left(&row_head, head_width);
        for (place, width) in group.iter().zip(&widths) {
            line.push_str(GAP);
            line.push_str(&left(&column_names[*place], *width));
        }
        push_line(&mut text, &line);
        for (row_cells, row_name) in cells.iter().zip(&row_names) {
            let lines: Vec<Vec<String>> = group
                .iter()
                .map(|place| row_cells[*place].lines(per_line))
                .collect();
            let height = lines.iter().map(Vec::len).max().unwrap_or(0);
            for number in 0..height {
                let name = if number == 0 { row_name.as_str() } else { "" };
                let mut line = right(name, head_width);
                for (cell, width) in lines.iter().zip(&widths) {
                    line.push_str(GAP);
                    line.push_str(&left(cell.get(number).map_or("", String::as_str), *width));
                }
                push_line(&mut text, &line);
            }
        }
    }
    text
}

/// One factor in a table: a row per level.
pub(super) fn list(report: &Report, page: Page, names: &mut Names) -> String {
    let name_width = (page.width / 2).saturating_sub(GAP.len()).max(8);
    let rows: Vec<(String, String)> = report
        .treatments
        .iter()
        .map(|treatment| {
            let mean = treatment
                .metrics
                .first()
                .filter(|metric| metric.n > 0)
                .map_or_else(|| "no value".to_owned(), |metric| mean(metric, treatment));
            (
                names.short(&treatment.levels.0.to_string(), name_width),
                mean,
            )
        })
        .collect();
    let widest = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let mut text = "\n".to_owned();
    for (name, mean) in rows {
        push_line(&mut text, &format!("{}{GAP}{mean}", left(&name, widest)));
    }
    text.push_str(&legend(report, page));
    text
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}
