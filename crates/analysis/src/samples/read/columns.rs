//! A number a line, or columns of numbers between blanks: what ministat reads.
//!
//! Blank lines and what follows a `#` are passed over. A line that ends before the wanted column is
//! passed over and counted.

use super::error::{ReadError, quoted};
use super::number::number;
use super::{Choice, lines};
use crate::samples::series::Series;

/// What separates columns, where nothing else is asked for.
const BLANKS: &[u8] = b" \t";

pub(super) fn read(bytes: &[u8], choice: Choice) -> Result<Vec<Series>, ReadError> {
    let delimiters = choice.delimiters.map_or(BLANKS, str::as_bytes);
    if choice.columns.is_empty() {
        return Ok(vec![column(bytes, 1, String::new(), delimiters)?]);
    }
    choice
        .columns
        .iter()
        .map(|wanted| {
            let place = wanted
                .parse::<usize>()
                .ok()
                .filter(|place| *place > 0)
                .ok_or_else(|| ReadError::NoSuchNumber {
                    wanted: quoted(wanted.as_bytes()),
                })?;
            let name = match choice.columns {
                [_] => String::new(),
                _ => format!("column {place}"),
            };
            column(bytes, place, name, delimiters)
        })
        .collect()
}

/// The column at this place, from 1.
fn column(
    bytes: &[u8],
    place: usize,
    name: String,
    delimiters: &[u8],
) -> Result<Series, ReadError> {
    let breaks = bytes.iter().filter(|byte| **byte == b'\n').count();
    let mut series = Series::new(String::new(), name);
    series.values.reserve_exact(breaks + 1);
    for (line, text) in lines(bytes) {
        match wanted(text, place, delimiters) {
            Token::Found(token) => series.values.push(number(token, line)?),
            Token::Missing => series.passed_over += 1,
            Token::Nothing => (),
        }
    }
    if series.values.is_empty() && series.passed_over > 0 {
        return Err(ReadError::NoColumn {
            wanted: place.to_string(),
            present: vec![format!("fewer in all of its {} lines", series.passed_over)],
        });
    }
    Ok(series)
}

/// What a line has in a column.
enum Token<'a> {
    Found(&'a [u8]),
    /// The line ends before the column.
    Missing,
    /// The line is blank or a comment.
    Nothing,
}

fn wanted<'a>(line: &'a [u8], place: usize, delimiters: &[u8]) -> Token<'a> {
    let mut tokens = line
        .split(|byte| delimiters.contains(byte))
        .filter(|token| !token.trim_ascii().is_empty());
    for before in 1..=place {
        match tokens.next() {
            Some(token) if token.trim_ascii_start().starts_with(b"#") => {
                return if before == 1 {
                    Token::Nothing
                } else {
                    Token::Missing
                };
            }
            Some(token) if before == place => return Token::Found(token),
            Some(_) => (),
            None if before == 1 => return Token::Nothing,
            None => return Token::Missing,
        }
    }
    Token::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str, column: &str, delimiters: Option<&str>) -> Result<Series, ReadError> {
        let columns = [column.to_owned()];
        let choice = Choice {
            columns: &columns,
            delimiters,
        };
        read(text.as_bytes(), choice).map(|mut series| series.remove(0))
    }

    #[test]
    fn blanks_comments_and_line_ends_are_passed_over() {
        let found = values("# s\r\n1 10\r\n\r\n  2\t 20 # x\n3\n4 #40\n5 50", "2", None).unwrap();
        assert_eq!(found.values, [10.0, 20.0, 50.0]);
        assert_eq!(found.passed_over, 2);
        assert_eq!(values("1\n2", "1", None).unwrap().values, [1.0, 2.0]);
        assert_eq!(
            values("a;1\nb;2", "2", Some(";")).unwrap().values,
            [1.0, 2.0]
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        assert!(matches!(
            values("1\n", "2", None),
            Err(ReadError::NoColumn { .. })
        ));
        assert!(matches!(
            values("1\n", "0", None),
            Err(ReadError::NoSuchNumber { .. })
        ));
        let error = values("1\n1,5\n", "1", None).unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
        assert!(error.to_string().contains("-d ','"), "{error}");
        assert!(values("1\nnan\n", "1", None).is_err());
        assert!(values("1\n", "18446744073709551616", None).is_err());
        assert!(values("1\n", "18446744073709551615", None).is_err());
    }
}
