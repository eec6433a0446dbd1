//! The short way through a line that is one plain decimal number, and nothing else.
//!
//! Most of ministat's inputs are millions of such lines. What this does not take is no error: the
//! general way ([`super::column`], [`super::number`]) reads it, and both give the same value.

/// The powers of ten that a double holds exactly.
const EXACT_POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The largest mantissa that a double and all integers below it hold exactly.
const LARGEST_EXACT_MANTISSA: u64 = 1 << 53;

/// Digits that always fit 64 bits.
const MOST_DIGITS: usize = 19;

/// The number on the first line of `text` and the line's length with its newline, when the line
/// is `[-]digits[.digits]` of at most 19 digits, with or without a carriage return.
#[inline]
pub(super) fn first_line(text: &[u8]) -> Option<(f64, usize)> {
    let start = usize::from(text.first() == Some(&b'-'));
    let mut mantissa: u64 = 0;
    let mut position = start;
    let mut byte = *text.get(position)?;
    while byte.is_ascii_digit() {
        mantissa = mantissa
            .wrapping_mul(10)
            .wrapping_add(u64::from(byte - b'0'));
        position += 1;
        byte = *text.get(position)?;
    }
    let mut digits = position - start;
    let mut decimals = 0;
    if byte == b'.' {
        position += 1;
        byte = *text.get(position)?;
        let fraction = position;
        while byte.is_ascii_digit() {
            mantissa = mantissa
                .wrapping_mul(10)
                .wrapping_add(u64::from(byte - b'0'));
            position += 1;
            byte = *text.get(position)?;
        }
        decimals = position - fraction;
        digits += decimals;
    }
    if digits == 0 || digits > MOST_DIGITS {
        return None;
    }
    let end = position;
    if byte == b'\r' {
        position += 1;
        byte = *text.get(position)?;
    }
    if byte != b'\n' {
        return None;
    }
    let magnitude = if mantissa <= LARGEST_EXACT_MANTISSA {
        // Both operands are exact, so the one division is correctly rounded (Clinger 1990).
        mantissa as f64 / EXACT_POWERS_OF_TEN[decimals]
    } else {
        std::str::from_utf8(text.get(start..end)?)
            .ok()?
            .parse()
            .ok()?
    };
    let value = if start == 1 { -magnitude } else { magnitude };
    Some((value, position + 1))
}

#[cfg(test)]
mod tests {
    use super::super::number;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn takes_whole_lines_only() {
        assert_eq!(first_line(b"12.5\n7"), Some((12.5, 5)));
        assert_eq!(first_line(b"-3\r\n"), Some((-3.0, 4)));
        assert_eq!(first_line(b".5\n"), Some((0.5, 3)));
        assert_eq!(first_line(b"5.\n"), Some((5.0, 3)));
        for other in [
            "",
            "1",
            "1.",
            "1\r",
            "\n",
            ".\n",
            "-\n",
            "1 \n",
            "1e5\n",
            "+1\n",
            "#\n",
            "1\r\r\n",
            "0x1\n",
            "12345678901234567890\n",
        ] {
            assert_eq!(first_line(other.as_bytes()), None, "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_general_way(text in "-?[0-9]{0,19}(\\.[0-9]{0,19})?") {
            let line = format!("{text}\n");
            if let Some((value, length)) = first_line(line.as_bytes()) {
                let (expected, used) = number::parse(text.as_bytes());
                prop_assert_eq!(value.to_bits(), expected.to_bits());
                prop_assert_eq!(used, text.len());
                prop_assert_eq!(length, line.len());
            }
        }
    }
}
