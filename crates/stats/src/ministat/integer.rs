//! Whole numbers as C's `strtol` and `atoi` read them in base 10.

use super::number::skip_space;

/// The number at the start of `text`, as an `int` that was assigned a `long`, and how many bytes
/// belong to it (0: there is none, and the number is 0). Out of range saturates the `long`.
pub(super) fn parse(text: &[u8]) -> (i32, usize) {
    let mut position = skip_space(text);
    let sign = text.get(position);
    let negative = sign == Some(&b'-');
    if negative || sign == Some(&b'+') {
        position += 1;
    }
    let digits = text[position..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits == 0 {
        return (0, 0);
    }
    let mut long: i64 = 0;
    for &digit in &text[position..position + digits] {
        let digit = i64::from(digit - b'0');
        long = long.saturating_mul(10);
        long = if negative {
            long.saturating_sub(digit)
        } else {
            long.saturating_add(digit)
        };
    }
    // C assigns the long to an int: the low 32 bits are kept.
    (long as i32, position + digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_strtol_does() {
        assert_eq!(parse(b"40"), (40, 2));
        assert_eq!(parse(b" \t-7x"), (-7, 4));
        assert_eq!(parse(b"+12"), (12, 3));
        assert_eq!(parse(b"x"), (0, 0));
        assert_eq!(parse(b"  "), (0, 0));
        assert_eq!(parse(b"-"), (0, 0));
        assert_eq!(parse(b""), (0, 0));
        assert_eq!(parse(b"+-3"), (0, 0));
        assert_eq!(parse(b"4294967297"), (1, 10));
        assert_eq!(parse(b"99999999999999999999"), (-1, 20));
        assert_eq!(parse(b"-99999999999999999999"), (0, 21));
    }
}
