//! `workload.metrics.NAME`: metrics that are read from a command's output.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::DeValue;

use super::{Entry, Reader, Section};
use crate::experiment::keys::Table;
use crate::experiment::values::{self, Fault};
use crate::words::{Better, Metric, Unit, Value};

/// A metric that the file declares.
pub struct DeclaredMetric {
    /// The metric; the better direction is the default where the file says nothing.
    pub metric: Metric,
    /// Whether the file says which way is better.
    pub says_better: bool,
    /// Where its name stands.
    pub span: Range<usize>,
}

/// How each metric is found in the output: a table of `regex` or `json` for each name.
pub fn read_table(
    reader: &mut Reader<'_>,
    subject: &str,
    value: &DeValue<'_>,
    span: &Range<usize>,
) -> Option<BTreeMap<String, Value>> {
    let DeValue::Table(table) = value else {
        let fault = Fault::new(
            "must be a table of metrics",
            format!("this is {}", values::describe(value)),
            "write metrics.NAME = { regex = \"…(…)…\", unit = \"ms\", better = \"lower\" }",
        );
        reader.fault(subject, span, fault);
        return None;
    };
    let mut metrics = BTreeMap::new();
    for entry in &Section::new(subject, span.clone(), table).entries {
        if let Some(found_by) = read_one(reader, entry) {
            metrics.insert(entry.name.to_owned(), Value::Table(found_by));
        }
    }
    Some(metrics)
}

fn read_one(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<BTreeMap<String, Value>> {
    if entry.name.is_empty() || entry.name.chars().any(char::is_control) {
        let fault = Fault::new("cannot name a metric", "here", "choose another name");
        reader.fault(&entry.subject(), &entry.name_span, fault);
        return None;
    }
    let section = Section::of_entry(reader, entry, &format!("metrics.{}", entry.name))?;
    section.refuse_unknown_keys(reader, Table::Metric, &[]);
    let regex = section.read(reader, "regex", regex);
    let json = section.read(reader, "json", json_pointer);
    match (section.entry("regex"), section.entry("json")) {
        (Some(_), Some(second)) => {
            let fault = Fault::new(
                "stands beside `regex`",
                "one of the two is enough",
                "keep the one that finds the value",
            );
            reader.fault(&second.subject(), &second.name_span, fault);
        }
        (None, None) => {
            section.missing(reader, "regex", "`regex = \"…(…)…\"`, or `json = \"/a/b\"`");
        }
        _ => {}
    }
    let found_by = match (regex, json) {
        (Some(regex), _) => ("regex", regex),
        (None, Some(json)) => ("json", json),
        (None, None) => return None,
    };
    Some(BTreeMap::from([(
        found_by.0.to_owned(),
        Value::Text(found_by.1),
    )]))
}

fn regex(value: &DeValue<'_>) -> Result<String, Fault> {
    let text = values::text(value)?;
    let compiled = regex_lite::Regex::new(&text).map_err(|error| {
        Fault::new(
            format!("is not a regular expression: {error}"),
            "in here",
            "correct it; in single quotes ('…') a backslash needs no second one",
        )
    })?;
    // The whole match counts as a group.
    match compiled.captures_len() - 1 {
        1 => Ok(text),
        groups => Err(Fault::new(
            "must have exactly one group, around the number",
            format!("it has {groups}"),
            "put ( and ) around the number, and write (?: … ) for other groups",
        )),
    }
}

fn json_pointer(value: &DeValue<'_>) -> Result<String, Fault> {
    let text = values::text(value)?;
    let rooted = text.is_empty() || text.starts_with('/');
    let escaped = text
        .split('~')
        .skip(1)
        .all(|after| after.starts_with(['0', '1']));
    if rooted && escaped {
        Ok(text)
    } else {
        Err(Fault::new(
            "must be a JSON pointer",
            "not a JSON pointer",
            "write the path to the number, as in \"/end/sum/seconds\" (`~` is ~0 and `/` is ~1 within a name)",
        ))
    }
}

/// The metrics that a table of them declares, in the order of the file. What is wrong with how
/// they are found is recorded by [`read_table`].
pub fn declared(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Vec<DeclaredMetric> {
    let DeValue::Table(table) = entry.value else {
        return Vec::new();
    };
    let mut metrics = Vec::new();
    for entry in &Section::new("metrics", entry.span.clone(), table).entries {
        let DeValue::Table(table) = entry.value else {
            continue;
        };
        let section = Section::new(entry.name, entry.name_span.clone(), table);
        let unit = section.read(reader, "unit", values::line);
        let better = section.word(reader, "better", &BETTER, &[]);
        let self_timed = section.read(reader, "self_timed", values::boolean);
        metrics.push(DeclaredMetric {
            metric: Metric {
                name: entry.name.to_owned(),
                unit: unit.map_or(Unit::COUNT, Unit::new),
                better: better.unwrap_or(Better::Lower),
                self_timed: self_timed.unwrap_or(true),
            },
            says_better: section.entry("better").is_some(),
            span: entry.name_span.clone(),
        });
    }
    metrics
}

/// The words for a direction.
pub const BETTER: [(&str, Better); 2] = [("higher", Better::Higher), ("lower", Better::Lower)];
