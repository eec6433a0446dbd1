//! Readers: the bytes of a file as named series of numbers.
//!
//! Pure functions, one format a file. None follows anything that the bytes name, and none allocates
//! more than a small multiple of their length.

mod columns;
mod csv;
mod detect;
mod error;
mod go_bench;
mod hyperfine;
mod number;
mod record;

pub use detect::{Content, detect};
pub use error::ReadError;
pub use record::series as series_of_record;

use super::series::Series;

/// A format of numbers that other programs write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A number a line, or columns of them between blanks.
    Columns,
    /// Comma-separated values under a header.
    Csv,
    /// What `hyperfine --export-json` writes, versions 1 and 2.
    Hyperfine,
    /// What `go test -bench` prints.
    GoBench,
}

/// Which of a file's numbers are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choice<'a> {
    /// The columns: numbers from 1, names of a header, units, metrics, as the format has them. None:
    /// the format's own first choice.
    pub columns: &'a [String],
    /// The characters that separate columns, where they are not the format's own.
    pub delimiters: Option<&'a str>,
}

/// The series that a file holds: at least one, each with at least one number.
///
/// # Errors
/// When the bytes are not of this format, a wanted column is missing or is not told, or something
/// that is no finite number stands where a number is wanted.
pub fn read(bytes: &[u8], format: Format, choice: Choice) -> Result<Vec<Series>, ReadError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let series = match format {
        Format::Columns => columns::read(bytes, choice)?,
        Format::Csv => csv::read(bytes, choice)?,
        Format::Hyperfine => hyperfine::read(bytes, choice)?,
        Format::GoBench => go_bench::read(bytes, choice)?,
    };
    if series.iter().all(|series| series.values.is_empty()) {
        return Err(ReadError::NoNumbers);
    }
    Ok(series)
}

/// The lines of a file with their numbers from 1, without what ends them.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    bytes
        .split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(place, line)| (place + 1, line.strip_suffix(b"\r").unwrap_or(line)))
}
