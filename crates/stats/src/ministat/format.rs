//! C's `%g`, to the byte.

/// `value` as `%.{precision}g` prints it; `precision` at least 1. `sign_of_nan`: whether a
/// negative NaN is `-nan`, as in glibc, or `nan`, as in FreeBSD.
pub(super) fn general(value: f64, precision: usize, sign_of_nan: bool) -> String {
    if value.is_nan() {
        let signed = sign_of_nan && value.is_sign_negative();
        return if signed { "-nan" } else { "nan" }.to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    // Exactly `precision` digits, rounded half to even from the exact binary value, as C does.
    let scientific = format!("{value:.*e}", precision - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    match usize::try_from(exponent) {
        Ok(whole) if whole >= precision => with_exponent(mantissa, exponent),
        Err(_) if exponent < -4 => with_exponent(mantissa, exponent),
        _ => {
            let decimals = i32::try_from(precision).unwrap_or(i32::MAX) - 1 - exponent;
            let decimals = usize::try_from(decimals).unwrap_or(0);
            without_trailing_zeros(&format!("{value:.decimals$}")).to_owned()
        }
    }
}

fn with_exponent(mantissa: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!(
        "{}e{sign}{:02}",
        without_trailing_zeros(mantissa),
        exponent.unsigned_abs()
    )
}

fn without_trailing_zeros(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prints_as_c_does() {
        for (value, precision, expected) in [
            (0.0, 6, "0"),
            (-0.0, 6, "-0"),
            (1.0, 6, "1"),
            (100_000.0, 6, "100000"),
            (1_000_000.0, 6, "1e+06"),
            (999_999.5, 6, "1e+06"),
            (999_998.5, 6, "999998"),
            (0.0001, 6, "0.0001"),
            (0.00001, 6, "1e-05"),
            (0.000_099_999_96, 6, "0.0001"),
            (12_345_678.5, 8, "12345678"),
            (12_345_679.5, 8, "12345680"),
            (123_456_785.0, 8, "1.2345678e+08"),
            (0.5, 1, "0.5"),
            (2.5, 1, "2"),
            (25.0, 1, "2e+01"),
            (-1.25e-7, 2, "-1.2e-07"),
            (1e100, 8, "1e+100"),
            (f64::MAX, 8, "1.7976931e+308"),
            (5e-324, 8, "4.9406565e-324"),
            (f64::INFINITY, 8, "inf"),
            (f64::NEG_INFINITY, 8, "-inf"),
        ] {
            assert_eq!(general(value, precision, true), expected);
        }
        assert_eq!(general(-f64::NAN.abs(), 8, true), "-nan");
        assert_eq!(general(-f64::NAN.abs(), 8, false), "nan");
        assert_eq!(general(f64::NAN.abs(), 8, true), "nan");
    }

    proptest! {
        #[test]
        fn what_is_printed_is_as_near_as_its_digits_allow(bits in any::<u64>(), precision in 1_usize..=17) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let text = general(value, precision, true);
            let digits = text
                .split('e')
                .next()
                .unwrap_or_default()
                .trim_start_matches(['-', '0', '.'])
                .bytes()
                .filter(u8::is_ascii_digit)
                .count();
            prop_assert!(digits <= precision, "{}", text);
            if let Ok(parsed) = text.parse::<f64>() && parsed.is_finite() {
                // Parsing adds half an ulp, the smallest subnormal at most.
                let tolerance = value.abs() * 0.5 * 10_f64.powi(1 - precision as i32) * 1.000_001
                    + value.abs() * f64::EPSILON
                    + 5e-324;
                prop_assert!((parsed - value).abs() <= tolerance, "{} {}", text, value);
            }
        }
    }
}
