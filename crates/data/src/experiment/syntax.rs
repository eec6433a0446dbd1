//! Faults of the TOML itself.
//!
//! A list or a table that is never closed swallows the lines after it, and each of them then
//! looks wrong. That is one fault, told once, where the bracket opens.

use std::ops::Range;

use toml::de::{DeTable, DeValue, Error};

use super::diagnostics::Diagnostic;

/// As often the parser is helped over a line.
const MOST_LINES_SKIPPED: usize = 50;

/// A text without the lines that keep the parser from all that follows, and their errors.
///
/// After a key without `=` the parser reads nothing more. Such a line is made blank, letter by
/// letter so that every place stays where it is, and the rest is read as if it were not there.
pub fn readable(source: &str) -> (String, Vec<Error>) {
    let mut text = source.to_owned();
    let mut skipped = Vec::new();
    while skipped.len() < MOST_LINES_SKIPPED {
        let stop = DeTable::parse_recoverable(&text)
            .1
            .into_iter()
            .find(|error| error.message().starts_with("key with no value"));
        let Some(stop) = stop else {
            break;
        };
        let line = line_at(&text, place_of(&stop).start);
        skipped.push(stop);
        if text[line.clone()].trim().is_empty() {
            break;
        }
        text.replace_range(line.clone(), &" ".repeat(line.len()));
    }
    (text, skipped)
}

/// What is wrong with a file as TOML.
pub struct Syntax {
    /// The faults.
    pub faults: Vec<Diagnostic>,
    /// The stretches of the file in which nothing else can be told.
    pub lost: Vec<Range<usize>>,
}

/// The faults that a parser's errors stand for.
pub fn faults(source: &str, document: &DeTable<'_>, errors: &[Error]) -> Syntax {
    let mut syntax = Syntax {
        faults: Vec::new(),
        lost: Vec::new(),
    };
    for error in errors {
        let place = place_of(error);
        if !error.message().starts_with("unclosed") {
            continue;
        }
        if let Some(value) = value_that_ends_at(document, place.start) {
            syntax.faults.push(unclosed(source, &value));
            syntax.lost.push(value);
        }
    }
    for error in errors {
        let place = place_of(error);
        let within = |lost: &Range<usize>| lost.start <= place.start && place.start <= lost.end;
        if !syntax.lost.iter().any(within) {
            syntax.faults.push(fault(error));
        }
    }
    // Of the line itself nothing else can be told either.
    let lines = errors
        .iter()
        .map(|error| line_at(source, place_of(error).start));
    syntax.lost.extend(lines);
    syntax
}

fn place_of(error: &Error) -> Range<usize> {
    error.span().unwrap_or(0..0)
}

/// The line that holds this place, without its line break.
fn line_at(source: &str, place: usize) -> Range<usize> {
    let bytes = source.as_bytes();
    let place = place.min(bytes.len());
    let start = bytes[..place]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |newline| newline + 1);
    let length = bytes[place..].iter().position(|byte| *byte == b'\n');
    start..length.map_or(bytes.len(), |length| place + length)
}

/// The outermost list or table in braces that ends here.
fn value_that_ends_at(table: &DeTable<'_>, place: usize) -> Option<Range<usize>> {
    table.values().find_map(|value| {
        let span = value.span();
        match value.get_ref() {
            DeValue::Array(_) | DeValue::Table(_) if span.end == place => Some(span),
            DeValue::Table(inner) => value_that_ends_at(inner, place),
            _ => None,
        }
    })
}

fn unclosed(source: &str, value: &Range<usize>) -> Diagnostic {
    let (what, bracket) = match source.as_bytes().get(value.start) {
        Some(b'{') => ("table", "}"),
        _ => ("list", "]"),
    };
    Diagnostic {
        message: format!("this is not TOML: a {what} is never closed"),
        label: "it opens here".to_owned(),
        remedy: format!("put a {bracket} where it ends"),
        span: value.start..value.start + 1,
        context: Vec::new(),
    }
}

fn fault(error: &Error) -> Diagnostic {
    let message = error.message();
    let remedy = if message.contains("duplicate key") {
        "keep one of them"
    } else if message.contains("unquoted key") {
        "put the whole name in quotes, as in \"sysctl:vm.swappiness\" = [10, 60]"
    } else if message.contains("quoted") {
        "put the text in quotes"
    } else {
        "in TOML a line is `key = value` or `[table]`; texts stand in quotes, lists in [ ], tables in { }"
    };
    Diagnostic {
        message: format!("this is not TOML: {message}"),
        label: "here".to_owned(),
        remedy: remedy.to_owned(),
        span: place_of(error),
        context: Vec::new(),
    }
}
