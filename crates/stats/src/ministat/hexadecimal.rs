//! Hexadecimal floating-point numbers of C's `strtod`, rounded half to even.

use super::number::exponent_length;

/// The hexadecimal number at the start of `text` and its length, when `0x` and at least one
/// hexadecimal digit are there.
pub(super) fn parse(text: &[u8]) -> Option<(f64, usize)> {
    let [b'0', b'x' | b'X', digits @ ..] = text else {
        return None;
    };
    let mut mantissa: u64 = 0;
    let mut lost_bits = false;
    let mut exponent: i64 = 0;
    let mut any_digit = false;
    let mut in_fraction = false;
    let mut length = 0;
    for &byte in digits {
        match char::from(byte).to_digit(16) {
            Some(digit) => {
                any_digit = true;
                if mantissa >> 60 == 0 {
                    mantissa = mantissa << 4 | u64::from(digit);
                    exponent -= if in_fraction { 4 } else { 0 };
                } else {
                    lost_bits |= digit != 0;
                    exponent += if in_fraction { 0 } else { 4 };
                }
            }
            None if byte == b'.' && !in_fraction => in_fraction = true,
            None => break,
        }
        length += 1;
    }
    if !any_digit {
        return None;
    }
    let rest = &digits[length..];
    let suffix = exponent_length(rest, b'p');
    exponent = exponent.saturating_add(decimal_exponent(&rest[..suffix]));
    Some((compose(mantissa, lost_bits, exponent), 2 + length + suffix))
}

/// The value of `p[sign]digits`, saturated; 0 for nothing.
fn decimal_exponent(suffix: &[u8]) -> i64 {
    let negative = suffix.get(1) == Some(&b'-');
    let magnitude =
        suffix
            .iter()
            .filter(|byte| byte.is_ascii_digit())
            .fold(0_i64, |value, &digit| {
                value
                    .saturating_mul(10)
                    .saturating_add(i64::from(digit - b'0'))
            });
    if negative { -magnitude } else { magnitude }
}

/// `mantissa * 2^exponent`, and a little more when `lost_bits`, rounded half to even.
fn compose(mantissa: u64, lost_bits: bool, exponent: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let shift = mantissa.leading_zeros();
    let mantissa = mantissa << shift;
    // The value is 1.xxx * 2^scale.
    let scale = exponent.saturating_add(63 - i64::from(shift));
    if scale > 1023 {
        return f64::INFINITY;
    }
    // A double keeps 53 bits, fewer below the smallest normal number.
    let kept = if scale >= -1022 {
        53
    } else {
        53 - (-1022 - scale)
    };
    if kept < 0 {
        return 0.0;
    }
    let dropped = u32::try_from(64 - kept).unwrap_or(64);
    let wide = u128::from(mantissa);
    let unit = 1_u128 << dropped;
    let mut whole = wide >> dropped;
    let remainder = wide & (unit - 1);
    let half = unit >> 1;
    if remainder > half || remainder == half && (lost_bits || whole & 1 == 1) {
        whole += 1;
    }
    // Adding, not joining, lets a carry out of the mantissa raise the exponent, up to infinity.
    let biased = if scale >= -1022 {
        (scale + 1022).unsigned_abs()
    } else {
        0
    };
    f64::from_bits((biased << 52) + whole as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str) -> f64 {
        let (value, length) = parse(text.as_bytes()).expect("a hexadecimal number");
        assert_eq!(length, text.len());
        value
    }

    #[test]
    fn rounds_half_to_even() {
        assert_eq!(value("0x1.00000000000008"), 1.0);
        assert_eq!(value("0x1.00000000000018"), 1.0 + 4.0 * f64::EPSILON / 2.0);
        assert_eq!(value("0x1.000000000000080000000001"), 1.0 + f64::EPSILON);
        assert_eq!(value("0x1.fffffffffffff8"), 2.0);
        assert_eq!(value("0x1.fffffffffffffp1023"), f64::MAX);
        assert_eq!(value("0x1.fffffffffffff8p1023"), f64::INFINITY);
        assert_eq!(value("0x1p1024"), f64::INFINITY);
        assert_eq!(value("0x1p-1074"), f64::from_bits(1));
        assert_eq!(value("0x1p-1075"), 0.0);
        assert_eq!(value("0x1.8p-1075"), f64::from_bits(1));
        assert_eq!(value("0x3p-1075"), f64::from_bits(2));
        assert_eq!(value("0x1p-1076"), 0.0);
        assert_eq!(value("0x0.fffffffffffff8p-1022"), f64::MIN_POSITIVE);
        assert_eq!(value("0x0p99999999999999999999"), 0.0);
        assert_eq!(value("0x1p-99999999999999999999"), 0.0);
        assert_eq!(value("0x100000000000000000000000"), 2_f64.powi(92));
        assert_eq!(value("0x.0000000000000000000000001p100"), 1.0);
    }

    proptest! {
        #[test]
        fn a_double_written_in_hexadecimal_is_read_back(bits in 0_u64..0x7ff0_0000_0000_0000) {
            let (fraction, biased) = (bits & ((1 << 52) - 1), (bits >> 52) as i64);
            let (whole, exponent) = if biased == 0 { (0, -1022) } else { (1, biased - 1023) };
            let text = format!("0x{whole}.{fraction:013x}p{exponent}");
            prop_assert_eq!(parse(text.as_bytes()), Some((f64::from_bits(bits), text.len())));
        }

        /// Conversions of integers round half to even in hardware: the reference.
        #[test]
        fn a_wide_integer_rounds_as_a_conversion_does(wide in any::<u128>(), cut in 0_u32..128) {
            let integer = wide >> cut;
            let text = format!("0x{integer:x}");
            prop_assert_eq!(parse(text.as_bytes()), Some((integer as f64, text.len())));
        }
    }
}
