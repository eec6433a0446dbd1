//! Why a file gives no numbers.

use thiserror::Error;

/// Why a file gives no numbers: what, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadError {
    /// Nothing in it is a number that was wanted.
    #[error("there is no number in it")]
    NoNumbers,
    /// Something else stands where a number is wanted.
    #[error("line {line} has {text} where a number is wanted{}", hint(.text))]
    NotANumber {
        /// The line, from 1.
        line: usize,
        /// What stands there, quoted.
        text: String,
    },
    /// A number that is infinite, not a number at all, or too large for a double.
    #[error(
        "line {line} has {text}, which is no finite number; take the line out or repeat that run"
    )]
    NotFinite {
        /// The line, from 1.
        line: usize,
        /// What stands there, quoted.
        text: String,
    },
    /// A column that was asked for is not there.
    #[error("it has no column {wanted}; it has {}", listed(.present))]
    NoColumn {
        /// The column asked for, quoted.
        wanted: String,
        /// The columns that are there.
        present: Vec<String>,
    },
    /// Several columns could be meant.
    #[error("it has several columns of numbers ({}); choose with -C NAME", listed(.present))]
    SeveralColumns {
        /// The columns that could be meant.
        present: Vec<String>,
    },
    /// Two columns have the name that was asked for.
    #[error("it has more than one column {wanted}; choose by number, as in -C 2")]
    SameName {
        /// The name, quoted.
        wanted: String,
    },
    /// A column of a file without names must be a number.
    #[error(
        "its columns have no names, and {wanted} is no number of one; count from 1, as in -C 2"
    )]
    NoSuchNumber {
        /// What was asked for, quoted.
        wanted: String,
    },
    /// A quotation mark opens and never closes.
    #[error("the quotation mark in line {line} never closes")]
    Unclosed {
        /// The line, from 1.
        line: usize,
    },
    /// It begins like JSON and is none, or not of the shape that its format has.
    #[error("it cannot be read as JSON of hyperfine's ({0})")]
    NotJson(String),
    /// It is JSON of some other program.
    #[error("it is JSON, but neither of hyperfine's nor an export of knobstat")]
    OtherJson,
    /// It is of a version that is not known.
    #[error("it has the schema_version {0} of a newer hyperfine; versions 1 and 2 can be read")]
    Newer(u64),
    /// A summary without the single values.
    #[error("{0} has a summary and no single times; export again with the times")]
    NoTimes(String),
    /// An export of knobstat has no such metric.
    #[error("the experiment has no metric {wanted}; it has {}", listed(.present))]
    NoMetric {
        /// The metric asked for, quoted.
        wanted: String,
        /// The metrics that it has.
        present: Vec<String>,
    },
}

/// Names and texts longer than this are cut in messages.
const LONGEST: usize = 40;

/// More names than this are counted and not listed.
const MOST: usize = 12;

/// A piece of a file as a message may show it: in quotes, escaped, not too long.
pub(super) fn quoted(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * LONGEST)]).into_owned();
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(LONGEST).collect();
    let rest = if characters.next().is_some() {
        "…"
    } else {
        ""
    };
    format!("\"{}{rest}\"", start.escape_debug())
}

/// What another library says of a file, as a message may show it.
pub(super) fn escaped(message: &str) -> String {
    message
        .chars()
        .take(8 * LONGEST)
        .flat_map(char::escape_debug)
        .collect()
}

/// Names for a message, each cut where it is long.
pub(super) fn names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    // One more than is listed, so that it is known whether there are more.
    names
        .take(MOST + 1)
        .map(|name| quoted(name.as_bytes()))
        .collect()
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names if names.len() > MOST => format!("{} and more", names[..MOST].join(", ")),
        names => names.join(", "),
    }
}

/// What may have been meant by a text that is no number.
fn hint(text: &str) -> &'static str {
    if text.contains(',') || text.contains(';') {
        "; if that is two columns, say so with -d, as in -d ','; a decimal comma is not read"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_holds_is_shown_escaped_and_cut() {
        assert_eq!(quoted(b"a\x1b[31m\xff"), "\"a\\u{1b}[31m\u{fffd}\"");
        assert_eq!(quoted(&[b'x'; 100]).chars().count(), LONGEST + 3);
        let many: Vec<String> = (0..99).map(|name| name.to_string()).collect();
        let shown = ReadError::SeveralColumns {
            present: names(many.iter().map(String::as_str)),
        };
        assert!(shown.to_string().contains("\"11\" and more"), "{shown}");
    }
}
