//! What a file is, by its content.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::error::{ReadError, escaped};
use super::number::is_number;
use super::{Format, csv, go_bench, lines};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Numbers in a format of another program's.
    Numbers(Format),
    /// An export of knobstat: a whole record.
    Record,
}

#[derive(Deserialize)]
struct Heading {
    schema: Option<String>,
    results: Option<IgnoredAny>,
}

/// Says what a file is: JSON by its first character and its keys, Go's benchmarks by a line that is
/// a result, a header by what is no number in the first line, columns otherwise.
///
/// # Errors
/// When it begins as JSON and is none, or is that of another program.
pub fn detect(bytes: &[u8]) -> Result<Content, ReadError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return json(bytes);
    }
    let content = || lines(bytes).map(|(_, line)| line);
    let is_comment = |line: &[u8]| {
        let line = line.trim_ascii();
        line.is_empty() || line.starts_with(b"#")
    };
    let Some(first) = content().find(|line| !is_comment(line)) else {
        return Ok(Content::Numbers(Format::Columns));
    };
    if is_number(
        first
            .split(|byte| b" \t".contains(byte))
            .next()
            .unwrap_or_default(),
    ) {
        return Ok(Content::Numbers(Format::Columns));
    }
    if content().any(go_bench::is_result) {
        return Ok(Content::Numbers(Format::GoBench));
    }
    let separates = |byte: &u8| csv::DELIMITERS.contains(byte);
    let is_header = first
        .split(separates)
        .all(|field| !is_number(field) && !field.trim_ascii().is_empty());
    let has_columns = first.iter().any(separates);
    // One word above numbers is a header too; words between blanks are columns with a name in front.
    let is_one_word = first
        .trim_ascii()
        .split(u8::is_ascii_whitespace)
        .nth(1)
        .is_none();
    let format = if is_header && (has_columns || is_one_word) || first.starts_with(b"\"") {
        Format::Csv
    } else {
        Format::Columns
    };
    Ok(Content::Numbers(format))
}

fn json(bytes: &[u8]) -> Result<Content, ReadError> {
    let heading: Heading = serde_json::from_slice(bytes).map_err(|error| {
        if error.is_data() {
            ReadError::OtherJson
        } else {
            ReadError::NotJson(escaped(&error.to_string()))
        }
    })?;
    match (heading.schema, heading.results) {
        (Some(schema), _) if schema.starts_with("knobstat.record/") => Ok(Content::Record),
        (_, Some(IgnoredAny)) => Ok(Content::Numbers(Format::Hyperfine)),
        _ => Err(ReadError::OtherJson),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_tells_the_format() {
        for (text, format) in [
            ("", Format::Columns),
            ("# c\n\n1.5\n", Format::Columns),
            ("1 2 x\n", Format::Columns),
            ("inf\n", Format::Columns),
            ("1,5\n", Format::Columns),
            ("a 1\nb 2\n", Format::Columns),
            ("time\n1\n", Format::Csv),
            ("a,b\n1,2\n", Format::Csv),
            ("a\tb\n1\t2\n", Format::Csv),
            ("wall time;b\n1;2\n", Format::Csv),
            ("\"a\",2\n1,2\n", Format::Csv),
            ("goos: linux\nBenchmarkX-8 1 2 ns/op\n", Format::GoBench),
            (" {\"results\":[]}", Format::Hyperfine),
            ("\u{feff}{\"results\":[]}", Format::Hyperfine),
        ] {
            assert_eq!(
                detect(text.as_bytes()),
                Ok(Content::Numbers(format)),
                "{text:?}"
            );
        }
        assert_eq!(
            detect(b"{\"schema\":\"knobstat.record/1\",\"record\":{}}"),
            Ok(Content::Record)
        );
        assert_eq!(detect(b"{\"a\":1}"), Err(ReadError::OtherJson));
        assert_eq!(detect(b"[1,2]"), Err(ReadError::OtherJson));
        assert!(matches!(detect(b"{\"a\":"), Err(ReadError::NotJson(_))));
    }
}
