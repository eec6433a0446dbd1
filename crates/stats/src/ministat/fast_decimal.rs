//! The short way through a line that is one plain decimal number, and nothing else.
//!
//! Most of ministat's inputs are millions of such lines. What this does not take is no error: the
//! general way ([`super::column`], [`super::number`]) reads it, and both give the same value.

/// The powers of ten that a double holds exactly.
const EXACT_POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The powers of ten that a chunk of digits can need.
const POWERS_OF_TEN: [u64; 9] = [
    1,
    10,
    100,
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
];

/// The largest mantissa that a double and all integers below it hold exactly.
const LARGEST_EXACT_MANTISSA: u64 = 1 << 53;

/// Digits that always fit 64 bits.
const MOST_DIGITS: usize = 19;

/// The number on the first line of `text` and the line's length with its newline, when the line
/// is `[-]digits[.digits]` of at most 19 digits, with or without a carriage return, and followed
/// by a few bytes more.
#[inline]
pub(super) fn first_line(text: &[u8]) -> Option<(f64, usize)> {
    // Where the next line begins depends on nothing that is computed below, so the processor can
    // read it meanwhile.
    let newline = find_newline(text)?;
    let start = usize::from(text.first() == Some(&b'-'));
    let (mut mantissa, mut digits) = append_digits(0, text.get(start..)?)?;
    let mut position = start + digits;
    let mut decimals = 0;
    if text.get(position) == Some(&b'.') {
        (mantissa, decimals) = append_digits(mantissa, text.get(position + 1..)?)?;
        position += 1 + decimals;
        digits += decimals;
    }
    if digits == 0 || digits > MOST_DIGITS {
        return None;
    }
    if position != newline && !(position + 1 == newline && text.get(position) == Some(&b'\r')) {
        return None;
    }
    let magnitude = match quotient(mantissa, decimals) {
        Some(magnitude) => magnitude,
        None => std::str::from_utf8(text.get(start..position)?)
            .ok()?
            .parse()
            .ok()?,
    };
    let value = if start == 1 { -magnitude } else { magnitude };
    Some((value, newline + 1))
}

/// Where the first newline of `text` is, looked for in the lanes of one integer; `None` near the
/// end of `text` and when the line is too long to be a number.
#[inline]
fn find_newline(text: &[u8]) -> Option<usize> {
    const LONGEST: usize = 24;
    let mut position = 0;
    while position < LONGEST {
        let eight = text.get(position..)?.first_chunk()?;
        let lanes = u64::from_le_bytes(*eight) ^ 0x0a0a_0a0a_0a0a_0a0a;
        // The top bit of the first lane that is zero is set; a borrow can only reach lanes after.
        let zeros = lanes.wrapping_sub(0x0101_0101_0101_0101) & !lanes & 0x8080_8080_8080_8080;
        if zeros != 0 {
            return Some(position + (zeros.trailing_zeros() / 8) as usize);
        }
        position += 8;
    }
    None
}

/// Appends the digits at the start of `text` to `mantissa`, and says how many there are. `None`
/// near the end of `text`. The mantissa is wrong after more than 19 digits.
#[inline]
fn append_digits(mut mantissa: u64, text: &[u8]) -> Option<(u64, usize)> {
    let mut position = 0;
    loop {
        let eight = text.get(position..)?.first_chunk()?;
        let (value, count) = leading_digits(*eight);
        mantissa = mantissa
            .wrapping_mul(POWERS_OF_TEN[count])
            .wrapping_add(value);
        position += count;
        if count < 8 {
            return Some((mantissa, position));
        }
    }
}

/// The number that the digits at the start of `text` write, and how many they are: eight bytes
/// at once, in the lanes of one integer (Lemire 2018, "Quickly parsing eight digits").
#[inline]
fn leading_digits(text: [u8; 8]) -> (u64, usize) {
    let lanes = u64::from_le_bytes(text) ^ 0x3030_3030_3030_3030;
    // The top bit of the first lane above 9 is set; a carry can only reach lanes after it.
    let others = (lanes.wrapping_add(0x7676_7676_7676_7676) | lanes) & 0x8080_8080_8080_8080;
    let bits = others.trailing_zeros() & !7;
    // The digits move up, so that zeros lead them.
    let digits = lanes.checked_shl(64 - bits).unwrap_or(0);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let even = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let odd = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    (even.wrapping_add(odd) >> 32, (bits / 8) as usize)
}

/// `mantissa / 10^decimals`, correctly rounded, or `None` when the quick ways cannot tell.
#[inline]
fn quotient(mantissa: u64, decimals: usize) -> Option<f64> {
    if mantissa <= LARGEST_EXACT_MANTISSA {
        // Both operands are exact, so the one division is correctly rounded (Clinger 1990).
        return Some(mantissa as f64 / EXACT_POWERS_OF_TEN[decimals]);
    }
    if decimals == 0 {
        return Some(mantissa as f64);
    }
    let Reciprocal { inverse, shift } = RECIPROCALS[decimals];
    let mantissa_shift = mantissa.leading_zeros();
    // Q = mantissa * 2^mantissa_shift * 2^62 / (10^decimals * 2^shift) is at least 2^61 and less
    // than 2^63. The inverse is less than 1 too small, so the product is less than 1/2 below Q,
    // and its whole part less than 3/2.
    let product = u128::from(mantissa << mantissa_shift) * u128::from(inverse);
    let low = (product >> 65) as i64;
    let (rounded, bound) = (low as f64, low.checked_add(2)? as f64);
    // Rounding is monotone: what lies between two numbers that round alike rounds as they do.
    if rounded != bound {
        return None;
    }
    let exponent = i64::from(shift) - i64::from(mantissa_shift) - 62;
    Some(rounded * f64::from_bits(((1023 + exponent) as u64) << 52))
}

/// 1 / 10^k in 64 bits.
#[derive(Clone, Copy)]
struct Reciprocal {
    /// The whole part of 2^127 / (10^k * 2^shift).
    inverse: u64,
    /// The leading zeros of 10^k in 64 bits.
    shift: u32,
}

/// The reciprocals of 10^k. That of 1 does not fit and is not used.
const RECIPROCALS: [Reciprocal; MOST_DIGITS + 1] = {
    let mut reciprocals = [Reciprocal {
        inverse: 0,
        shift: 0,
    }; MOST_DIGITS + 1];
    let mut power: u64 = 1;
    let mut k = 1;
    while k <= MOST_DIGITS {
        power *= 10;
        let shift = power.leading_zeros();
        reciprocals[k] = Reciprocal {
            inverse: ((1_u128 << 127) / (power << shift) as u128) as u64,
            shift,
        };
        k += 1;
    }
    reciprocals
};

#[cfg(test)]
mod tests {
    use super::super::number;
    use super::*;
    use proptest::prelude::*;

    /// What follows a line in these tests.
    const MORE: &str = "1234567\n";

    fn first(line: &str) -> Option<(f64, usize)> {
        first_line(format!("{line}{MORE}").as_bytes())
    }

    #[test]
    fn takes_whole_lines_only() {
        assert_eq!(first("12.5\n"), Some((12.5, 5)));
        assert_eq!(first("-3\r\n"), Some((-3.0, 4)));
        assert_eq!(first(".5\n"), Some((0.5, 3)));
        assert_eq!(first("5.\n"), Some((5.0, 3)));
        assert_eq!(first("0000000000000000012\n"), Some((12.0, 20)));
        for other in [
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
            "1234567\u{e9}\n",
            "1:\n",
            "1/\n",
        ] {
            assert_eq!(first(other), None, "{other:?}");
        }
        for unfinished in ["", "1", "1.", "1\r", "12345678", "-"] {
            assert_eq!(first_line(unfinished.as_bytes()), None, "{unfinished:?}");
        }
    }

    proptest! {
        #[test]
        fn quotients_are_correctly_rounded(mantissa in 1_u64..10_000_000_000_000_000_000, decimals in 0..=MOST_DIGITS) {
            if let Some(value) = quotient(mantissa, decimals) {
                let exact = format!("{mantissa}e-{decimals}").parse::<f64>();
                prop_assert_eq!(Ok(value), exact);
            }
        }

        /// Mantissas that are, or are next to, halfway between two doubles.
        #[test]
        fn halfway_quotients_are_correctly_rounded(
            odd in (1_u64 << 53)..(1 << 54),
            shift in 0_u32..9,
            decimals in 0..=MOST_DIGITS,
            off in 0_u64..3,
        ) {
            let mantissa = ((odd | 1) << shift) - 1 + off;
            if let Some(value) = quotient(mantissa, decimals) {
                let exact = format!("{mantissa}e-{decimals}").parse::<f64>();
                prop_assert_eq!(Ok(value), exact);
            }
        }

        #[test]
        fn digits_are_counted_and_read(text in prop::array::uniform8(
            prop_oneof![3 => b'0'..=b'9', 1 => any::<u8>()]
        )) {
            let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let value = text[..count]
                .iter()
                .fold(0, |value, &digit| value * 10 + u64::from(digit - b'0'));
            prop_assert_eq!(leading_digits(text), (value, count));
        }

        #[test]
        fn agrees_with_the_general_way(text in "-?[0-9]{0,19}(\\.[0-9]{0,19})?") {
            let line = format!("{text}\n");
            let taken = first(&line);
            let digits = text.bytes().filter(u8::is_ascii_digit).count();
            prop_assert!(taken.is_some() || !(1..=MOST_DIGITS).contains(&digits));
            if let Some((value, length)) = taken {
                let (expected, used) = number::parse(text.as_bytes());
                prop_assert_eq!(value.to_bits(), expected.to_bits());
                prop_assert_eq!(used, text.len());
                prop_assert_eq!(length, line.len());
            }
        }
    }
}
