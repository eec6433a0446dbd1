//! `docs/experiment-file.md` has every parameter of every workload, with its default, and no
//! other; and it says of each whether it may be a factor.

use knobstat_data::vocabulary::{DefaultValue, ParameterSchema};
use knobstat_load::workloads::schemas;

const DOCUMENT: &str = include_str!("../docs/experiment-file.md");

/// A row of a table of keys.
struct Row {
    key: String,
    default: String,
    meaning: String,
}

/// The text under the heading of a kind of workload, up to the next heading.
fn section(kind: &str) -> &'static str {
    let heading = format!("### `kind = \"{kind}\"`\n");
    let start = DOCUMENT
        .find(&heading)
        .unwrap_or_else(|| panic!("no heading {heading}"));
    let text = &DOCUMENT[start + heading.len()..];
    &text[..text.find("\n#").unwrap_or(text.len())]
}

fn rows(kind: &str) -> Vec<Row> {
    section(kind)
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.splitn(3, '|');
            Some(Row {
                key: cells.next()?.trim().trim_end_matches('`').to_owned(),
                default: cells.next()?.trim().to_owned(),
                meaning: cells.next()?.to_owned(),
            })
        })
        .collect()
}

#[test]
fn every_parameter_is_documented_with_its_default_and_no_other_is() {
    for schema in schemas() {
        let rows = rows(schema.kind);
        let documented: Vec<&str> = rows.iter().map(|row| row.key.as_str()).collect();
        let known: Vec<&str> = schema
            .parameters
            .iter()
            .map(|parameter| parameter.name)
            .collect();
        assert_eq!(documented, known, "{}", schema.kind);
        for (row, parameter) in rows.iter().zip(schema.parameters) {
            check_default(row, parameter);
        }
    }
}

fn check_default(row: &Row, parameter: &ParameterSchema) {
    match parameter.default {
        DefaultValue::Required => assert_eq!(row.default, "required", "{}", row.key),
        DefaultValue::Written(written) => assert_eq!(row.default, written, "{}", row.key),
        DefaultValue::Absent => assert_ne!(row.default, "required", "{}", row.key),
    }
}

#[test]
fn what_may_be_a_factor_is_said() {
    for schema in schemas() {
        let all = section(schema.kind).contains("Every parameter may be a factor.");
        for (row, parameter) in rows(schema.kind).iter().zip(schema.parameters) {
            let said = all || row.meaning.contains("May be a factor.");
            assert_eq!(said, parameter.factor, "{} of {}", row.key, schema.kind);
        }
    }
}

#[test]
fn every_metric_is_named() {
    for schema in schemas() {
        for metric in (schema.metrics)() {
            let name = format!("`{}`", metric.name);
            assert!(
                section(schema.kind).contains(&name),
                "{name} of {}",
                schema.kind
            );
        }
    }
}
