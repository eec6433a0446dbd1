//! Comma-separated values under a header (RFC 4180), a column by its name or number. A first row of
//! numbers alone is no header: its numbers are values as the others are.
//!
//! Fields may be quoted, a doubled quotation mark in quotes is one, and a quoted field may go over
//! several lines. Empty cells are passed over and counted; so are rows that end before the column.

use std::borrow::Cow;

use super::Choice;
use super::error::{ReadError, names, quoted};
use super::number::{is_number, number};
use crate::samples::series::Series;

/// What may separate fields.
pub(super) const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

pub(super) fn read(bytes: &[u8], choice: Choice) -> Result<Vec<Series>, ReadError> {
    let delimiter = choice
        .delimiters
        .and_then(|text| text.bytes().next())
        .unwrap_or_else(|| likely_delimiter(bytes));
    let mut rows = Rows::new(bytes, delimiter);
    let mut header: Vec<String> = Vec::new();
    let first = rows.clone();
    let mut has_names = false;
    rows.next(|_, name| {
        let name = name.trim_ascii();
        has_names |= !name.is_empty() && !is_number(name);
        header.push(String::from_utf8_lossy(name).into_owned());
    })?;
    if !has_names {
        rows = first;
    }
    for (place, name) in header.iter_mut().enumerate() {
        if name.is_empty() || !has_names {
            *name = format!("column {}", place + 1);
        }
    }
    let places = if choice.columns.is_empty() {
        vec![only_column(&header, rows.clone())?]
    } else {
        choice
            .columns
            .iter()
            .map(|wanted| find(&header, wanted))
            .collect::<Result<Vec<_>, _>>()?
    };
    let mut series: Vec<Series> = places
        .iter()
        .map(|place| Series::new(String::new(), header[*place].clone()))
        .collect();
    loop {
        let line = rows.line;
        let mut fault = None;
        let mut found = 0;
        let more = rows.next(|place, field| {
            for (series, _) in series
                .iter_mut()
                .zip(&places)
                .filter(|(_, at)| **at == place)
            {
                found += 1;
                if field.trim_ascii().is_empty() {
                    series.passed_over += 1;
                    continue;
                }
                match number(&field, line) {
                    Ok(value) => series.values.push(value),
                    Err(error) => fault = fault.take().or(Some(error)),
                }
            }
        })?;
        if let Some(fault) = fault {
            return Err(fault);
        }
        let Some(fields) = more else {
            return Ok(series);
        };
        if found < places.len() {
            for (series, place) in series.iter_mut().zip(&places) {
                series.passed_over += usize::from(*place >= fields);
            }
        }
    }
}

/// The delimiter that the first line with anything in it has most of.
fn likely_delimiter(bytes: &[u8]) -> u8 {
    let line = super::lines(bytes)
        .map(|(_, line)| line)
        .find(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"))
        .unwrap_or_default();
    let count = |delimiter: u8| line.iter().filter(|byte| **byte == delimiter).count();
    DELIMITERS
        .into_iter()
        .rev()
        .max_by_key(|delimiter| count(*delimiter))
        .unwrap_or(b',')
}

/// The place of the column that is asked for, by name or else by number from 1.
fn find(header: &[String], wanted: &str) -> Result<usize, ReadError> {
    let mut named = header
        .iter()
        .enumerate()
        .filter(|(_, name)| *name == wanted)
        .map(|(place, _)| place);
    match (named.next(), named.next()) {
        (Some(place), None) => return Ok(place),
        (Some(_), Some(_)) => {
            return Err(ReadError::SameName {
                wanted: quoted(wanted.as_bytes()),
            });
        }
        (None, _) => (),
    }
    wanted
        .parse::<usize>()
        .ok()
        .and_then(|place| place.checked_sub(1))
        .filter(|place| *place < header.len())
        .ok_or_else(|| ReadError::NoColumn {
            wanted: quoted(wanted.as_bytes()),
            present: names(header.iter().map(String::as_str)),
        })
}

/// The only column, or the only one that has a number in the first row.
fn only_column(header: &[String], mut rows: Rows) -> Result<usize, ReadError> {
    if header.len() <= 1 {
        return if header.is_empty() {
            Err(ReadError::NoNumbers)
        } else {
            Ok(0)
        };
    }
    let mut numeric = Vec::new();
    rows.next(|place, field| {
        if is_number(&field) && place < header.len() {
            numeric.push(place);
        }
    })?;
    match numeric.as_slice() {
        [] => Err(ReadError::NoNumbers),
        [place] => Ok(*place),
        places => Err(ReadError::SeveralColumns {
            present: names(places.iter().map(|place| header[*place].as_str())),
        }),
    }
}

/// The rows of a file, from where it was read to.
#[derive(Clone)]
struct Rows<'a> {
    rest: &'a [u8],
    /// The number of the next line, from 1.
    line: usize,
    delimiter: u8,
}

impl<'a> Rows<'a> {
    fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        Self {
            rest: bytes,
            line: 1,
            delimiter,
        }
    }

    /// Hands every field of the next row to `field`, with its place from 0, and says how many there
    /// were; none at the end. Blank lines and lines that begin with `#` are passed over.
    fn next(
        &mut self,
        mut field: impl FnMut(usize, Cow<'a, [u8]>),
    ) -> Result<Option<usize>, ReadError> {
        self.pass_over();
        if self.rest.is_empty() {
            return Ok(None);
        }
        let mut place = 0;
        loop {
            let (text, ended) = self.field()?;
            field(place, text);
            place += 1;
            if ended {
                return Ok(Some(place));
            }
        }
    }

    /// Passes over blank lines and comments.
    fn pass_over(&mut self) {
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|byte| *byte == b'\n');
            let line = &self.rest[..end.unwrap_or(self.rest.len())];
            let is_blank = line.iter().all(|byte| matches!(byte, b' ' | b'\r'));
            if !is_blank && !line.starts_with(b"#") {
                return;
            }
            self.rest = &self.rest[end.map_or(self.rest.len(), |end| end + 1)..];
            self.line += 1;
        }
    }

    /// The next field, and whether the row ends with it.
    fn field(&mut self) -> Result<(Cow<'a, [u8]>, bool), ReadError> {
        let mut text: Cow<[u8]> = Cow::Borrowed(&[]);
        if let Some(inside) = self.rest.strip_prefix(b"\"") {
            let opened = self.line;
            self.rest = inside;
            loop {
                let close = self
                    .rest
                    .iter()
                    .position(|byte| *byte == b'"')
                    .ok_or(ReadError::Unclosed { line: opened })?;
                let part = &self.rest[..close];
                self.line += part.iter().filter(|byte| **byte == b'\n').count();
                self.rest = &self.rest[close + 1..];
                add(&mut text, part);
                let Some(rest) = self.rest.strip_prefix(b"\"") else {
                    break;
                };
                self.rest = rest;
                add(&mut text, b"\"");
            }
        }
        let end = self
            .rest
            .iter()
            .position(|byte| *byte == self.delimiter || *byte == b'\n');
        let part = &self.rest[..end.unwrap_or(self.rest.len())];
        let delimited = end.is_some_and(|end| self.rest[end] == self.delimiter);
        let part = if delimited {
            part
        } else {
            part.strip_suffix(b"\r").unwrap_or(part)
        };
        add(&mut text, part);
        self.rest = &self.rest[end.map_or(self.rest.len(), |end| end + 1)..];
        if !delimited {
            self.line += 1;
        }
        Ok((text, !delimited))
    }
}

/// Adds a part to a field, which stays borrowed as long as it has only one.
fn add<'a>(text: &mut Cow<'a, [u8]>, part: &'a [u8]) {
    if text.is_empty() {
        *text = Cow::Borrowed(part);
    } else if !part.is_empty() {
        text.to_mut().extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str, column: Option<&str>) -> Result<Series, ReadError> {
        let columns: Vec<String> = column.into_iter().map(str::to_owned).collect();
        let choice = Choice {
            columns: &columns,
            delimiters: None,
        };
        read(text.as_bytes(), choice).map(|mut series| series.remove(0))
    }

    #[test]
    fn quotes_line_ends_and_delimiters() {
        let text =
            "name,\"time, \"\"wall\"\"\",n\r\n\"a\nb\",1.5,1\r\n\r\nc,\"2.5\",2\r\nd,,3\r\ne\r\n";
        let found = values(text, Some("time, \"wall\"")).unwrap();
        assert_eq!((found.values, found.passed_over), (vec![1.5, 2.5], 2));
        assert_eq!(found.metric, "time, \"wall\"");
        assert_eq!(values("a;b\n1;x\n", None).unwrap().values, [1.0]);
        assert_eq!(values("a\tb\nx\t1\n", None).unwrap().metric, "b");
        assert_eq!(values("time\n1\n2", None).unwrap().values, [1.0, 2.0]);
        assert_eq!(values("# c\na,b\n1,2", Some("2")).unwrap().values, [2.0]);
        assert_eq!(values("a,\n1,2", Some("column 2")).unwrap().values, [2.0]);
    }

    #[test]
    fn a_first_row_of_numbers_is_no_header() {
        let found = values("3\n1\n2\n", None).unwrap();
        assert_eq!(
            (found.metric.as_str(), found.values),
            ("column 1", vec![3.0, 1.0, 2.0])
        );
        let found = values("1,,4\n2,3,5\n", Some("3")).unwrap();
        assert_eq!(found.values, [4.0, 5.0]);
        // One name is enough for a header.
        assert_eq!(values("n,2007\n1,2\n", Some("2007")).unwrap().values, [2.0]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let error = values("a,b\n1,2\n", None).unwrap_err();
        assert!(matches!(error, ReadError::SeveralColumns { .. }));
        let error = values("a,b\n1,2\n", Some("c")).unwrap_err();
        assert!(error.to_string().contains("\"a\", \"b\""), "{error}");
        assert!(matches!(
            values("a,a\n1,2\n", Some("a")),
            Err(ReadError::SameName { .. })
        ));
        assert_eq!(
            values("a,b\n\"x\ny\",2\nz,w\n", Some("b")).unwrap_err(),
            ReadError::NotANumber {
                line: 4,
                text: "\"w\"".to_owned()
            }
        );
        assert_eq!(
            values("a,b\n\"x,2\n", Some("b")),
            Err(ReadError::Unclosed { line: 2 })
        );
        assert_eq!(values("", None), Err(ReadError::NoNumbers));
        assert_eq!(values("a,b\nx,y\n", None), Err(ReadError::NoNumbers));
    }
}
