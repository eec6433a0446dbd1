//! A number as a decimal text.

use super::error::{ReadError, quoted};

/// The number that a piece of a line reads as; blanks around it are passed over.
///
/// # Errors
/// When it is no number, or not a finite one.
pub(super) fn number(token: &[u8], line: usize) -> Result<f64, ReadError> {
    let value = std::str::from_utf8(token.trim_ascii())
        .ok()
        .and_then(|text| text.parse::<f64>().ok())
        .ok_or_else(|| ReadError::NotANumber {
            line,
            text: quoted(token),
        })?;
    finite(value, token, line)
}

/// Whether a piece of a line reads as a number, finite or not.
pub(super) fn is_number(token: &[u8]) -> bool {
    !matches!(number(token, 0), Err(ReadError::NotANumber { .. }))
}

fn finite(value: f64, token: &[u8], line: usize) -> Result<f64, ReadError> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(ReadError::NotFinite {
            line,
            text: quoted(token),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_and_nothing_else() {
        for (text, value) in [
            ("1", 1.0),
            (" -2.50 ", -2.5),
            ("1e3", 1000.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e-999", 0.0),
        ] {
            assert_eq!(number(text.as_bytes(), 1), Ok(value), "{text}");
        }
        for text in ["", "x", "1,5", "0x10", "1 2", "1_000", "--1", "\u{661}"] {
            let error = number(text.as_bytes(), 7);
            assert!(
                matches!(error, Err(ReadError::NotANumber { line: 7, .. })),
                "{text} {error:?}"
            );
        }
        for text in ["inf", "-Infinity", "NaN", "1e999"] {
            let error = number(text.as_bytes(), 7);
            assert!(
                matches!(error, Err(ReadError::NotFinite { line: 7, .. })),
                "{text} {error:?}"
            );
        }
        assert!(number(b"\xff1", 1).is_err());
    }
}
