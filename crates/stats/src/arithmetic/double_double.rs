//! Numbers held as the unevaluated sum of two doubles, about 31 decimal digits.
//!
//! The error-free transformations are those of Dekker (1971) and Knuth (TAOCP 2, 4.2.2); the
//! product uses a fused multiply-add.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::str::FromStr;

use thiserror::Error;

/// A number of about 106 bits: `high` is the nearest double, `low` what it leaves over.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DoubleDouble {
    high: f64,
    low: f64,
}

/// A string that is not a finite decimal number.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is not a decimal number; write it as 12, -0.5 or 1.5e-3")]
pub struct ParseDecimalError {
    text: String,
}

/// The sum of two doubles and its rounding error, both exact (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let virtual_b = sum - a;
    (sum, (a - (sum - virtual_b)) + (b - virtual_b))
}

/// The same where `|a| >= |b|` (Dekker).
fn quick_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

impl DoubleDouble {
    /// Zero.
    pub const ZERO: Self = Self {
        high: 0.0,
        low: 0.0,
    };

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        self.high
    }

    /// The sum of many doubles, correct to about 31 digits of the sum of their magnitudes.
    pub fn sum(values: impl IntoIterator<Item = f64>) -> Self {
        values
            .into_iter()
            .fold(Self::ZERO, |sum, value| sum + Self::from(value))
    }

    /// The square root; zero for what is not positive.
    pub fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return Self::ZERO;
        }
        // One Newton step on the double's root (Karp and Markstein 1997).
        let root = libm::sqrt(self.high);
        let rest = self - Self::from(root) * Self::from(root);
        Self::from(root) + Self::from(rest.high / (2.0 * root))
    }

    fn renormalised(high: f64, low: f64) -> Self {
        let (high, low) = quick_two_sum(high, low);
        Self { high, low }
    }

    fn power_of_ten(exponent: u32) -> Self {
        let mut result = Self::from(1.0);
        let mut base = Self::from(10.0);
        let mut rest = exponent;
        while rest > 0 {
            if rest & 1 == 1 {
                result = result * base;
            }
            base = base * base;
            rest >>= 1;
        }
        result
    }
}

impl From<f64> for DoubleDouble {
    fn from(value: f64) -> Self {
        Self {
            high: value,
            low: 0.0,
        }
    }
}

impl Add for DoubleDouble {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, high_error) = two_sum(self.high, other.high);
        let (low, low_error) = two_sum(self.low, other.low);
        let (high, carry) = quick_two_sum(high, high_error + low);
        Self::renormalised(high, carry + low_error)
    }
}

impl Neg for DoubleDouble {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            high: -self.high,
            low: -self.low,
        }
    }
}

impl Sub for DoubleDouble {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = self.high * other.high;
        let error = libm::fma(self.high, other.high, -product);
        Self::renormalised(
            product,
            error + (self.high * other.low + self.low * other.high),
        )
    }
}

impl Div for DoubleDouble {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * Self::from(first);
        let second = rest.high / other.high;
        let rest = rest - other * Self::from(second);
        let third = rest.high / other.high;
        Self::renormalised(first, second) + Self::from(third)
    }
}

impl PartialOrd for DoubleDouble {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match self.high.partial_cmp(&other.high) {
            Some(Ordering::Equal) => self.low.partial_cmp(&other.low),
            order => order,
        }
    }
}

impl FromStr for DoubleDouble {
    type Err = ParseDecimalError;

    /// Reads a decimal number without first rounding it to a double: of `1000000000000.4` the
    /// double keeps 0.400024…, this type 0.4 to 18 more digits. Up to 30 significant digits count.
    fn from_str(text: &str) -> Result<Self, ParseDecimalError> {
        let failure = || ParseDecimalError {
            text: text.to_owned(),
        };
        let trimmed = text.trim();
        // The double decides the grammar and the range.
        let nearest: f64 = trimmed.parse().map_err(|_| failure())?;
        if !nearest.is_finite() {
            return Err(failure());
        }
        let (digits, exponent) = match trimmed.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i64>().map_err(|_| failure())?),
            None => (trimmed, 0),
        };
        let mut value = Self::ZERO;
        let (mut scale, mut significant, mut after_point) = (exponent, 0, false);
        for byte in digits.bytes() {
            match byte {
                b'.' => after_point = true,
                b'0'..=b'9' => {
                    if significant < 30 {
                        value = value * Self::from(10.0) + Self::from(f64::from(byte - b'0'));
                        significant += usize::from(significant > 0 || byte != b'0');
                        scale -= i64::from(after_point);
                    } else {
                        scale += i64::from(!after_point);
                    }
                }
                _ => {}
            }
        }
        // Far powers of ten leave the range in which two doubles are exact: the double will do.
        if scale.unsigned_abs() > 250 {
            return Ok(Self::from(nearest));
        }
        let power = Self::power_of_ten(scale.unsigned_abs() as u32);
        let magnitude = if scale < 0 {
            value / power
        } else {
            value * power
        };
        if !magnitude.high.is_finite() || !magnitude.low.is_finite() {
            return Ok(Self::from(nearest));
        }
        Ok(if trimmed.starts_with('-') {
            -magnitude
        } else {
            magnitude
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_keeps_what_the_double_loses() {
        let value: DoubleDouble = "1000000000000.4".parse().unwrap();
        let rest = value - DoubleDouble::from(1e12);
        assert!((rest.to_f64() - 0.4).abs() < 1e-17);
        let value: DoubleDouble = "-1.5E-3".parse().unwrap();
        assert_eq!(value.to_f64(), -0.0015);
        assert_eq!("0.00".parse::<DoubleDouble>().unwrap().to_f64(), 0.0);
        let long: DoubleDouble = "123456789012345678901234567890123456789".parse().unwrap();
        assert_eq!(long.to_f64(), 123456789012345678901234567890123456789.0);
        assert_eq!("1e300".parse::<DoubleDouble>().unwrap().to_f64(), 1e300);
    }

    #[test]
    fn what_is_no_decimal_number_is_an_error() {
        for text in ["", "nan", "inf", "1e400", "0x10", "1,5", "1 2"] {
            assert!(text.parse::<DoubleDouble>().is_err(), "{text}");
        }
    }

    #[test]
    fn arithmetic_holds_thirty_digits() {
        let third = DoubleDouble::from(1.0) / DoubleDouble::from(3.0);
        let error = third * DoubleDouble::from(3.0) - DoubleDouble::from(1.0);
        assert!(error.to_f64().abs() < 1e-31);
        let root = DoubleDouble::from(2.0).sqrt();
        assert!((root * root - DoubleDouble::from(2.0)).to_f64().abs() < 1e-31);
        let sum = DoubleDouble::sum([1e16, 1.0, -1e16]);
        assert_eq!(sum.to_f64(), 1.0);
    }
}
