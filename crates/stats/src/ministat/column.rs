//! Which part of a line is the number wanted: `strtok`'s delimiters, comments, the column.

use super::number;
use super::profile::Profile;

/// What a line holds for the wanted column.
#[derive(Debug, PartialEq)]
pub(super) enum Cell<'a> {
    /// Its number.
    Number(f64),
    /// Nothing: the line is blank, too short, or a comment begins before the column.
    Absent,
    /// A token that is no number.
    Invalid(&'a [u8]),
}

/// How to find the wanted column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// Counted from 1.
    number: usize,
    is_delimiter: [bool; 256],
    comma_is_decimal_point: bool,
}

impl Column {
    /// Column `number`, counted from 1, of tokens that any of `delimiters` separate.
    pub(super) fn new(number: usize, delimiters: &[u8], profile: Profile) -> Self {
        let mut is_delimiter = [false; 256];
        for &delimiter in delimiters {
            is_delimiter[usize::from(delimiter)] = true;
        }
        Self {
            number,
            is_delimiter,
            comma_is_decimal_point: profile.comma_is_decimal_point(),
        }
    }

    /// Whether a line that is a plain decimal number is exactly the wanted token.
    pub(super) fn takes_plain_lines(&self) -> bool {
        self.number == 1
            && !b"0123456789-."
                .iter()
                .any(|&byte| self.is_delimiter[usize::from(byte)])
    }

    /// The wanted cell of `line`. The line's end, and white space before it, do not count; nor
    /// does anything after a NUL.
    pub(super) fn cell<'a>(&self, line: &'a [u8]) -> Cell<'a> {
        let end = line
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(line.len());
        let trailing = line[..end]
            .iter()
            .rev()
            .take_while(|&&byte| number::is_space(byte))
            .count();
        let mut tokens = line[..end - trailing]
            .split(|&byte| self.is_delimiter[usize::from(byte)])
            .filter(|token| !token.is_empty());
        for _ in 1..self.number {
            match tokens.next() {
                None => return Cell::Absent,
                Some(token) if token.first() == Some(&b'#') => return Cell::Absent,
                Some(_) => {}
            }
        }
        match tokens.next() {
            None => Cell::Absent,
            Some(token) if token.first() == Some(&b'#') => Cell::Absent,
            Some(token) => self.number_of(token),
        }
    }

    fn number_of<'a>(&self, token: &'a [u8]) -> Cell<'a> {
        let (value, used) = match token.iter().position(|&byte| byte == b',') {
            Some(comma) if self.comma_is_decimal_point => {
                let mut with_point = token.to_vec();
                with_point[comma] = b'.';
                number::parse(&with_point)
            }
            _ => number::parse(token),
        };
        if used == token.len() {
            Cell::Number(value)
        } else {
            Cell::Invalid(token)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(number: usize, delimiters: &str, line: &str) -> Cell<'static> {
        let line: &'static [u8] = line.to_owned().leak().as_bytes();
        Column::new(number, delimiters.as_bytes(), Profile::Debian2015).cell(line)
    }

    #[test]
    fn tokens_are_those_of_strtok() {
        assert_eq!(cell(1, " \t", " \t 12 \r\n"), Cell::Number(12.0));
        assert_eq!(cell(2, " \t", "1\t 2"), Cell::Number(2.0));
        assert_eq!(cell(2, ",", "1,,,2"), Cell::Number(2.0));
        assert_eq!(cell(2, ",", ",1, 2\n"), Cell::Number(2.0));
        assert_eq!(cell(2, ",", "1, 2 ,3"), Cell::Invalid(b" 2 "));
        assert_eq!(cell(3, " \t", "1 2\n"), Cell::Absent);
        assert_eq!(cell(1, " \t", "\n"), Cell::Absent);
        assert_eq!(cell(1, " \t", ""), Cell::Absent);
        assert_eq!(cell(1, " \t", "3\0x"), Cell::Number(3.0));
        assert_eq!(cell(1, " \t", "\x003"), Cell::Absent);
    }

    #[test]
    fn a_comment_ends_the_line_at_or_before_the_column() {
        assert_eq!(cell(1, " \t", "# 3"), Cell::Absent);
        assert_eq!(cell(2, " \t", "3 # 4"), Cell::Absent);
        assert_eq!(cell(3, " \t", "#3 4 5"), Cell::Absent);
        assert_eq!(cell(1, " \t", "3 # x"), Cell::Number(3.0));
        assert_eq!(cell(1, " \t", "3#x"), Cell::Invalid(b"3#x"));
    }

    #[test]
    fn the_newest_reads_the_first_comma_as_a_point() {
        let newest = Column::new(1, b" ", Profile::Newest);
        assert_eq!(newest.cell(b"-1,5"), Cell::Number(-1.5));
        assert_eq!(newest.cell(b"1,5,2"), Cell::Invalid(b"1,5,2"));
        assert_eq!(newest.cell(b"1.5,2"), Cell::Invalid(b"1.5,2"));
        assert_eq!(cell(1, " ", "1,5"), Cell::Invalid(b"1,5"));
    }
}
