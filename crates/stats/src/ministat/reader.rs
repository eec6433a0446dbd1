//! Bytes in, values out: lines through a buffer as C's `fgets` cuts them, one column of each.

use std::io::{self, Read};

use super::arithmetic;
use super::column::{Cell, Column};
use super::fast_decimal;

/// Bytes asked for at first: more than any line buffer.
const FIRST_CHUNK: usize = 16 * 1024;

/// Bytes asked for at most: so many that the calls do not count, so few that the cache holds them.
const LARGEST_CHUNK: usize = 256 * 1024;

/// The values of one input, in the order of the file.
#[derive(Debug, Clone, Default)]
pub(super) struct Values {
    /// The values themselves.
    pub(super) values: Vec<f64>,
    /// Their sum, added in this order.
    pub(super) sum: f64,
    /// The sum of their squares, added in this order.
    pub(super) sum_of_squares: f64,
    /// Whether a NaN, an infinity or a negative zero is among them: values for which the order
    /// of equals and the sign of a NaN can be seen in the output.
    pub(super) has_special: bool,
}

impl Values {
    /// Brings sums and flag up to date with the values from `start` on.
    fn account_from(&mut self, start: usize) {
        let mut sum = self.sum;
        let mut sum_of_squares = self.sum_of_squares;
        for &value in &self.values[start..] {
            sum += value;
            sum_of_squares += value * value;
        }
        self.sum = sum;
        self.sum_of_squares = sum_of_squares;
        let special = self.values[start..]
            .iter()
            .fold(false, |special, &value| special | is_special(value));
        self.has_special |= special;
    }

    /// Makes the sign of a NaN in the sums what the original's instructions leave.
    fn settle_special(&mut self) {
        if self.has_special {
            self.sum = arithmetic::sum(&self.values);
            self.sum_of_squares = arithmetic::sum_of_squares(&self.values);
        }
    }

    /// The values of memory.
    #[cfg(test)]
    pub(super) fn from_slice(values: &[f64]) -> Self {
        let mut collected = Self {
            values: values.to_vec(),
            ..Self::default()
        };
        collected.account_from(0);
        collected.settle_special();
        collected
    }
}

/// Whether `value` is a NaN, an infinity or a negative zero.
fn is_special(value: f64) -> bool {
    const NEGATIVE_ZERO: u64 = 1 << 63;
    const EXPONENT: u64 = 0x7ff << 52;
    let bits = value.to_bits();
    bits == NEGATIVE_ZERO || bits & EXPONENT == EXPONENT
}

/// Why an input gave no values.
#[derive(Debug)]
pub(super) enum ReadFailure {
    /// A token in the wanted column is no number.
    Invalid {
        /// As it stands in the input.
        token: Vec<u8>,
        /// The line, counted from 1 as a buffer of the original's size sees lines.
        line: u64,
    },
    /// Reading failed.
    Io(io::Error),
}

/// Reads `column` of every line of `input`. `line_buffer` is the size of the line buffer whose
/// cuts are reproduced; `memory` is empty and will hold the values.
pub(super) fn read(
    mut input: impl Read,
    column: &Column,
    line_buffer: usize,
    memory: Vec<f64>,
) -> Result<Values, ReadFailure> {
    let mut values = Values {
        values: memory,
        ..Values::default()
    };
    let mut buffer = vec![0; FIRST_CHUNK];
    let mut filled = 0;
    let mut line = 0;
    loop {
        let read = match input.read(&mut buffer[filled..]) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(ReadFailure::Io(error)),
        };
        filled += read;
        let at_end = read == 0;
        let lines = Lines {
            text: &buffer[..filled],
            longest: line_buffer - 1,
            at_end,
        };
        let known = values.values.len();
        let used = lines.collect(column, &mut line, &mut values.values)?;
        values.account_from(known);
        if at_end {
            break;
        }
        let was_full = filled == buffer.len();
        // What is left is shorter than a line buffer, so there is always room to read more.
        buffer.copy_within(used..filled, 0);
        filled -= used;
        if was_full && buffer.len() < LARGEST_CHUNK {
            buffer.resize(LARGEST_CHUNK, 0);
        }
    }
    values.settle_special();
    Ok(values)
}

/// A stretch of input that begins at the beginning of a line.
struct Lines<'a> {
    text: &'a [u8],
    /// The most bytes a line can have, its newline included.
    longest: usize,
    /// Whether the input ends here, so that a last line needs no newline.
    at_end: bool,
}

impl Lines<'_> {
    /// Appends the values of all complete lines and returns how many bytes those have.
    fn collect(
        &self,
        column: &Column,
        line: &mut u64,
        values: &mut Vec<f64>,
    ) -> Result<usize, ReadFailure> {
        let plain = column.takes_plain_lines();
        let mut position = 0;
        loop {
            let rest = &self.text[position..];
            if plain && let Some((value, length)) = fast_decimal::first_line(rest) {
                // A plain number is far shorter than any line buffer.
                *line += 1;
                values.push(value);
                position += length;
                continue;
            }
            let Some(length) = self.line_length(rest) else {
                return Ok(position);
            };
            *line += 1;
            match column.cell(&rest[..length]) {
                Cell::Number(value) => values.push(value),
                Cell::Absent => {}
                Cell::Invalid(token) => {
                    return Err(ReadFailure::Invalid {
                        token: token.to_vec(),
                        line: *line,
                    });
                }
            }
            position += length;
        }
    }

    /// The length of the first line of `rest`, or `None` when it is not complete yet.
    fn line_length(&self, rest: &[u8]) -> Option<usize> {
        let window = &rest[..rest.len().min(self.longest)];
        if let Some(newline) = window.iter().position(|&byte| byte == b'\n') {
            return Some(newline + 1);
        }
        let complete = window.len() == self.longest || (self.at_end && !window.is_empty());
        complete.then_some(window.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile::Profile;
    use super::*;

    /// Gives its bytes in pieces of a few sizes.
    struct Dribble<'a> {
        rest: &'a [u8],
        step: usize,
    }

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.rest.len().min(self.step).min(buffer.len());
            let (now, later) = self.rest.split_at(length);
            buffer[..length].copy_from_slice(now);
            self.rest = later;
            Ok(length)
        }
    }

    fn read_all(text: &[u8]) -> Result<Vec<f64>, (Vec<u8>, u64)> {
        let column = Column::new(1, b" \t", Profile::Debian2015);
        let mut results = [1, 2, 3, 7, usize::MAX].map(|step| {
            match read(Dribble { rest: text, step }, &column, 8192, Vec::new()) {
                Ok(values) => Ok(values.values),
                Err(ReadFailure::Invalid { token, line }) => Err((token, line)),
                Err(ReadFailure::Io(error)) => panic!("{error}"),
            }
        });
        for pair in results.windows(2) {
            assert_eq!(pair[0], pair[1], "the size of reads does not matter");
        }
        std::mem::replace(&mut results[0], Ok(Vec::new()))
    }

    #[test]
    fn reads_lines_of_every_kind() {
        let text = b"1\n2.5 x\n\n# no\n-3\r\n0x10\n1e2\n 7\n8";
        assert_eq!(
            read_all(text),
            Ok(vec![1.0, 2.5, -3.0, 16.0, 100.0, 7.0, 8.0])
        );
        assert_eq!(read_all(b""), Ok(vec![]));
        assert_eq!(read_all(b"1\nabc 2\n"), Err((b"abc".to_vec(), 2)));
    }

    #[test]
    fn a_line_longer_than_the_buffer_is_several() {
        let mut text = b"1 ".to_vec();
        text.extend(std::iter::repeat_n(b' ', 8300));
        text.extend(b"9\n2\n");
        assert_eq!(read_all(&text), Ok(vec![1.0, 9.0, 2.0]));
        let mut text = b"1 ".to_vec();
        text.extend(std::iter::repeat_n(b'x', 8190));
        text.extend(b"\n2\n");
        assert_eq!(read_all(&text), Err((b"x".to_vec(), 2)));
    }

    #[test]
    fn a_read_error_is_kept() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let column = Column::new(1, b" ", Profile::Newest);
        assert!(matches!(
            read(Broken, &column, 1024, Vec::new()),
            Err(ReadFailure::Io(_))
        ));
    }
}
