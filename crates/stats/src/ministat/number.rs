//! Floating-point numbers as C's `strtod` reads them in the C locale.

use super::hexadecimal;

/// How many bytes at the start of `text` are white space to C's `isspace`.
pub(super) fn skip_space(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| is_space(byte)).count()
}

/// C's `isspace` in the C locale.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The number at the start of `text`, correctly rounded, and how many bytes belong to it, leading
/// white space included (0: there is none, and the number is 0).
pub(super) fn parse(text: &[u8]) -> (f64, usize) {
    let mut start = skip_space(text);
    let sign = text.get(start);
    let negative = sign == Some(&b'-');
    if negative || sign == Some(&b'+') {
        start += 1;
    }
    let (magnitude, length) = parse_magnitude(&text[start..]);
    if length == 0 {
        return (0.0, 0);
    }
    let value = if negative { -magnitude } else { magnitude };
    (value, start + length)
}

/// The same without space or sign.
fn parse_magnitude(text: &[u8]) -> (f64, usize) {
    if starts_with_ignoring_case(text, b"inf") {
        let length = if starts_with_ignoring_case(text, b"infinity") {
            8
        } else {
            3
        };
        return (f64::INFINITY, length);
    }
    if starts_with_ignoring_case(text, b"nan") {
        return (f64::NAN.copysign(1.0), 3 + nan_payload(&text[3..]));
    }
    if let Some(number) = hexadecimal::parse(text) {
        return number;
    }
    let length = decimal_length(text);
    let value = std::str::from_utf8(&text[..length])
        .ok()
        .and_then(|decimal| decimal.parse().ok());
    value.map_or((0.0, 0), |value| (value, length))
}

fn starts_with_ignoring_case(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// The length of a parenthesised payload after `nan`, or 0.
fn nan_payload(text: &[u8]) -> usize {
    let Some((b'(', rest)) = text.split_first() else {
        return 0;
    };
    let word = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    if rest.get(word) == Some(&b')') {
        word + 2
    } else {
        0
    }
}

/// How many bytes of `text` are `digits[.digits][e[sign]digits]`, or 0 without a digit.
fn decimal_length(text: &[u8]) -> usize {
    let whole = count_digits(text);
    let mut length = whole;
    if text.get(whole) == Some(&b'.') {
        let fraction = count_digits(&text[whole + 1..]);
        if whole + fraction == 0 {
            return 0;
        }
        length += 1 + fraction;
    } else if whole == 0 {
        return 0;
    }
    length + exponent_length(&text[length..], b'e')
}

fn count_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The length of an exponent that starts with `letter` in either case, or 0 without a digit.
pub(super) fn exponent_length(text: &[u8], letter: u8) -> usize {
    if !text
        .first()
        .is_some_and(|first| first.eq_ignore_ascii_case(&letter))
    {
        return 0;
    }
    let sign = usize::from(matches!(text.get(1), Some(b'+' | b'-')));
    match count_digits(&text[1 + sign..]) {
        0 => 0,
        digits => 1 + sign + digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, value: f64, length: usize) {
        let (parsed, used) = parse(text.as_bytes());
        assert_eq!(
            (parsed.to_bits(), used),
            (value.to_bits(), length),
            "{text:?} gave {parsed}"
        );
    }

    #[test]
    fn reads_as_strtod_does() {
        check("12.5", 12.5, 4);
        check(" \x0b-.5x", -0.5, 5);
        check("1.", 1.0, 2);
        check(".", 0.0, 0);
        check("-", 0.0, 0);
        check("+-1", 0.0, 0);
        check("- 1", 0.0, 0);
        check("", 0.0, 0);
        check("1e", 1.0, 1);
        check("1e+", 1.0, 1);
        check("1.e2", 100.0, 4);
        check("1E-2z", 0.01, 4);
        check("1e999", f64::INFINITY, 5);
        check("1e99999999999999999999999", f64::INFINITY, 25);
        check("0e99999999999999999999999", 0.0, 25);
        check("1e-99999999999999999999999", 0.0, 26);
        check("-0", -0.0, 2);
        check("INF", f64::INFINITY, 3);
        check("-infinitY", f64::NEG_INFINITY, 9);
        check("infin", f64::INFINITY, 3);
        check("5e-324", 5e-324, 6);
        check("2.4703282292062327e-324", 0.0, 23);
        check("9007199254740993", 9_007_199_254_740_992.0, 16);
        check("0x10", 16.0, 4);
        check("0x", 0.0, 1);
        check("0xg", 0.0, 1);
        check("0x.", 0.0, 1);
        check("0x1p", 1.0, 3);
        check("0X1.8P+1", 3.0, 8);
    }

    #[test]
    fn nan_keeps_its_sign_and_takes_a_payload() {
        for (text, length) in [
            ("nan", 3),
            ("NaN(x_1)", 8),
            ("nan()", 5),
            ("nan(", 3),
            ("nan(-)", 3),
        ] {
            let (value, used) = parse(text.as_bytes());
            assert!(value.is_nan() && value.is_sign_positive(), "{text}");
            assert_eq!(used, length, "{text}");
        }
        let (value, used) = parse(b"-nan");
        assert!(value.is_nan() && value.is_sign_negative());
        assert_eq!(used, 4);
    }

    proptest! {
        #[test]
        fn every_printed_number_is_read_back(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            for text in [format!("{value}"), format!("{value:e}"), format!("{value:?}")] {
                let (parsed, used) = parse(text.as_bytes());
                prop_assert_eq!(parsed.to_bits(), bits);
                prop_assert_eq!(used, text.len());
            }
        }

        #[test]
        fn the_length_is_the_longest_number(text in "[ +-]?[0-9.eEx+a-]{0,12}") {
            let bytes = text.as_bytes();
            let (value, used) = parse(bytes);
            prop_assert!(used <= bytes.len());
            let is_decimal = |candidate: &str| {
                candidate.bytes().all(|byte| b"0123456789.eE+-".contains(&byte))
                    && candidate.parse::<f64>().is_ok()
            };
            let trimmed = text.trim_start();
            let longest = (1..=trimmed.len())
                .rev()
                .find(|&length| is_decimal(&trimmed[..length]));
            if !text.contains('x') {
                prop_assert_eq!(
                    longest.map_or(0, |length| length + text.len() - trimmed.len()),
                    used
                );
                if let Some(length) = longest {
                    prop_assert_eq!(Ok(value), trimmed[..length].parse::<f64>());
                }
            }
        }
    }
}
