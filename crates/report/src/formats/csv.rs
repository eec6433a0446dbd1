//! Tidy CSV: a row per attempt and metric, a column per factor (RFC 4180, with plain newlines).

use super::{Format, Style};
use crate::Report;

pub(super) const FORMAT: Format = Format {
    name: "csv",
    summary: "a row per attempt and metric, for spreadsheets and statistics programs",
    render,
};

fn render(report: &Report, _: Style) -> String {
    let factors: Vec<&str> = report
        .factors
        .iter()
        .map(|factor| factor.name.as_str())
        .collect();
    let head = [
        "experiment",
        "attempt",
        "run",
        "block",
        "boot",
        "sequence",
        "started",
        "warmup",
    ];
    let tail = [
        "outcome",
        "accepted",
        "metric",
        "unit",
        "value",
        "limited_by",
    ];
    let mut text = String::new();
    line(
        &mut text,
        head.iter()
            .chain(&factors)
            .chain(&tail)
            .map(|name| (*name).to_owned()),
    );
    for attempt in &report.attempts {
        let place = [
            report.experiment.id.clone(),
            attempt.id.clone(),
            attempt.run.clone(),
            attempt.block.to_string(),
            attempt.boot.to_string(),
            attempt.sequence.to_string(),
            attempt.started.clone(),
            attempt
                .warmup
                .map_or_else(String::new, |index| index.to_string()),
        ];
        let levels = factors.iter().map(|factor| {
            let level = attempt.levels.0.level(factor);
            level.map_or_else(String::new, ToString::to_string)
        });
        let start: Vec<String> = place
            .into_iter()
            .chain(levels)
            .chain([attempt.outcome.to_owned(), attempt.accepted.to_string()])
            .collect();
        if attempt.values.is_empty() {
            let nothing = std::iter::repeat_n(String::new(), 4);
            line(&mut text, start.iter().cloned().chain(nothing));
        }
        for (metric, unit, value, limit) in &attempt.values {
            let number = if value.is_finite() {
                value.to_string()
            } else {
                String::new()
            };
            let limit = limit.map_or_else(String::new, |limit| limit.word().to_owned());
            let end = [metric.clone(), unit.clone(), number, limit];
            line(&mut text, start.iter().cloned().chain(end));
        }
    }
    text
}

fn line(text: &mut String, fields: impl Iterator<Item = String>) {
    let fields: Vec<String> = fields.map(|field| quoted(&field)).collect();
    text.push_str(&fields.join(","));
    text.push('\n');
}

/// A field in quotes where it needs them. One that a spreadsheet would take for a formula is not
/// changed: the file is data, and data is not edited.
fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("tsc"), "tsc");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"x\""), "\"say \"\"x\"\"\"");
    }
}
