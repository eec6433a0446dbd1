//! JSON in the schema `knobstat.report/1`, for programs.

use super::{Format, Style};
use crate::Report;

pub(super) const FORMAT: Format = Format {
    name: "json",
    summary: "everything, for programs; the schema is documented in docs/report-json.md",
    render,
};

/// A report holds nothing that JSON cannot: its maps have text keys, and numbers that are not
/// finite become null.
fn render(report: &Report, _: Style) -> String {
    let mut text = serde_json::to_string_pretty(report).unwrap_or_else(|error| {
        serde_json::json!({ "schema": report.schema, "error": error.to_string() }).to_string()
    });
    text.push('\n');
    text
}
