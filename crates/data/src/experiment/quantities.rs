//! Quantities of an experiment file: durations, sizes, shares, temperatures, rates.

use std::time::Duration;

use thiserror::Error;
use toml::de::DeValue;

use super::values::{Fault, integer, number};
use crate::words::{BitRate, Bytes, Celsius, Ratio};

/// A number and the unit that follows it: `"1.5 GiB"` gives `("1.5", "GiB")`.
fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// `digits` times `unit`, exactly; digits are decimal with or without a fraction.
fn scaled(digits: &str, unit: u128) -> Option<u128> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    if digits.contains('.') && fraction.is_empty() {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let power = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let all_digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let product = all_digits.checked_mul(unit)?;
    (product % power == 0).then(|| product / power)
}

/// A text that is not the quantity that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("\"{text}\" is not {what}: {remedy}")]
pub struct QuantityError {
    /// The text as given.
    pub text: String,
    /// What it should have been.
    pub what: &'static str,
    /// How that is written.
    pub remedy: &'static str,
}

const DURATION_REMEDY: &str = "write a number and its unit (ns, us, ms, s, m, h), as in \"200ms\"";

/// A stretch of time as experiment files and the command line have it: `3s`, `200ms`, `2m`;
/// nothing at all included.
///
/// # Errors
/// Anything else, or more than 584 years.
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    let error = || QuantityError {
        text: text.to_owned(),
        what: "a duration",
        remedy: DURATION_REMEDY,
    };
    let (digits, unit) = split_unit(text);
    let nanoseconds = match unit {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return Err(error()),
    };
    scaled(digits, nanoseconds)
        .and_then(|nanoseconds| u64::try_from(nanoseconds).ok())
        .map(Duration::from_nanos)
        .ok_or_else(error)
}

/// A stretch of time: `"3s"`, `"200ms"`, `"2m"`; nothing at all included.
pub(super) fn duration(value: &DeValue<'_>) -> Result<Duration, Fault> {
    let DeValue::String(text) = value else {
        return Err(Fault::type_of("a duration", value, DURATION_REMEDY));
    };
    parse_duration(text)
        .map_err(|_| Fault::new("must be a duration", "not a duration", DURATION_REMEDY))
}

/// A stretch of time that is longer than nothing.
pub(super) fn positive_duration(value: &DeValue<'_>) -> Result<Duration, Fault> {
    let duration = duration(value)?;
    if duration.is_zero() {
        return Err(Fault::new(
            "must be longer than nothing",
            "no time at all",
            "write a longer duration, or leave the key out",
        ));
    }
    Ok(duration)
}

const SIZE_REMEDY: &str =
    "write bytes as in 64, or a unit (kB, KiB, MB, MiB, GB, GiB) as in \"4KiB\"";

/// A size as experiment files and the command line have it: `64`, `4KiB`.
///
/// # Errors
/// Anything else, parts of a byte included.
pub fn parse_size(text: &str) -> Result<Bytes, QuantityError> {
    let (digits, unit) = split_unit(text);
    let factor = match unit {
        "" | "B" => Some(1),
        "kB" => Some(1_000),
        "MB" => Some(1_000_000),
        "GB" => Some(1_000_000_000),
        "KiB" => Some(1 << 10),
        "MiB" => Some(1 << 20),
        "GiB" => Some(1 << 30),
        _ => None,
    };
    factor
        .and_then(|factor| scaled(digits, factor))
        .and_then(|bytes| u64::try_from(bytes).ok())
        .map(Bytes)
        .ok_or_else(|| QuantityError {
            text: text.to_owned(),
            what: "a size",
            remedy: SIZE_REMEDY,
        })
}

/// A size within these bounds in bytes: `64`, `"64"` or `"4KiB"`.
pub(super) fn size(value: &DeValue<'_>, least: u64, most: u64) -> Result<Bytes, Fault> {
    let bytes = match value {
        DeValue::String(text) => {
            let parsed = parse_size(text);
            let parsed =
                parsed.map_err(|_| Fault::new("must be a size", "not a size", SIZE_REMEDY));
            parsed?.0
        }
        other => {
            let number =
                integer(other).ok_or_else(|| Fault::type_of("a size", other, SIZE_REMEDY))??;
            u64::try_from(number)
                .map_err(|_| Fault::new("must be a size", "less than nothing", SIZE_REMEDY))?
        }
    };
    if (least..=most).contains(&bytes) {
        Ok(Bytes(bytes))
    } else {
        Err(Fault::new(
            format!("must be from {least} to {most} bytes"),
            "out of range",
            format!(
                "the nearest that is allowed is {}",
                bytes.clamp(least, most)
            ),
        ))
    }
}

/// A share above nothing and below all: `"1%"`.
pub(super) fn share(value: &DeValue<'_>) -> Result<Ratio, Fault> {
    const REMEDY: &str = "write it in percent and in quotes, as in \"1%\"";
    let DeValue::String(text) = value else {
        return Err(Fault::type_of("a share", value, REMEDY));
    };
    let (digits, unit) = split_unit(text);
    let percent: f64 = digits
        .parse()
        .ok()
        .filter(|_| unit == "%")
        .ok_or_else(|| Fault::new("must be a share", "not a share", REMEDY))?;
    if percent > 0.0 && percent < 100.0 {
        Ok(Ratio::from_percent(percent))
    } else {
        Err(Fault::new(
            "must be above 0% and below 100%",
            "out of range",
            REMEDY,
        ))
    }
}

/// A temperature at which a package may well be: `"60C"`.
pub(super) fn temperature(value: &DeValue<'_>) -> Result<Celsius, Fault> {
    const REMEDY: &str = "write degrees Celsius in quotes, as in \"60C\"";
    let DeValue::String(text) = value else {
        return Err(Fault::type_of("a temperature", value, REMEDY));
    };
    let (digits, unit) = split_unit(text);
    let degrees: f64 = digits
        .parse()
        .ok()
        .filter(|_| matches!(unit, "C" | "°C"))
        .ok_or_else(|| Fault::new("must be a temperature", "not a temperature", REMEDY))?;
    if (1.0..=150.0).contains(&degrees) {
        Ok(Celsius(degrees))
    } else {
        Err(Fault::new(
            "must be from 1C to 150C",
            "out of range",
            REMEDY,
        ))
    }
}

/// A rate, as its author thinks of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Packets a second.
    Packets(f64),
    /// Bits a second.
    Bits(BitRate),
}

impl Rate {
    /// Whether it is above nothing, and within what a network can carry.
    fn is_sane(self) -> bool {
        let (Self::Packets(number) | Self::Bits(BitRate(number))) = self;
        number > 0.0 && number <= 1e15
    }
}

const RATE_REMEDY: &str =
    "write packets a second as in 10000, or bits a second (bit, kbit, Mbit, Gbit) as in \"50Mbit\"";

/// A text of bits a second with its unit: `50Mbit`.
fn bit_rate(text: &str) -> Option<BitRate> {
    let (digits, unit) = split_unit(text);
    let bits = match unit {
        "bit" => 1.0,
        "kbit" => 1e3,
        "Mbit" => 1e6,
        "Gbit" => 1e9,
        _ => return None,
    };
    let number: f64 = digits.parse().ok()?;
    Some(BitRate(number * bits))
}

/// A rate as the command line has it: packets a second, `10000`, or bits a second, `50Mbit`.
///
/// # Errors
/// Anything else, nothing at all and what no network carries included.
pub fn parse_rate(text: &str) -> Result<Rate, QuantityError> {
    let packets = || text.trim().parse().ok().map(Rate::Packets);
    bit_rate(text)
        .map(Rate::Bits)
        .or_else(packets)
        .filter(|rate| rate.is_sane())
        .ok_or_else(|| QuantityError {
            text: text.to_owned(),
            what: "a rate",
            remedy: RATE_REMEDY,
        })
}

/// A rate above nothing: packets a second as in `10000`, or bits a second as in `"50Mbit"`.
pub(super) fn rate(value: &DeValue<'_>) -> Result<Rate, Fault> {
    let rate = match value {
        DeValue::String(text) => bit_rate(text)
            .map(Rate::Bits)
            .ok_or_else(|| Fault::new("must be a rate", "not a rate", RATE_REMEDY))?,
        DeValue::Integer(_) | DeValue::Float(_) => Rate::Packets(number(value)?),
        other => return Err(Fault::type_of("a rate", other, RATE_REMEDY)),
    };
    if rate.is_sane() {
        Ok(rate)
    } else {
        Err(Fault::new(
            "must be above nothing, and within what a network can carry",
            "out of range",
            RATE_REMEDY,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> DeValue<'_> {
        DeValue::parse(text).unwrap().into_inner()
    }

    #[test]
    fn durations_are_exact() {
        for (text, nanoseconds) in [
            ("\"3s\"", 3_000_000_000),
            ("\"200ms\"", 200_000_000),
            ("\"2m\"", 120_000_000_000),
            ("\"0.1s\"", 100_000_000),
            ("\"1.5 h\"", 5_400_000_000_000),
            ("\"7us\"", 7_000),
            ("\"0s\"", 0),
            ("\"584y\"", u64::MAX),
        ] {
            let read = duration(&value(text));
            if nanoseconds == u64::MAX {
                assert!(read.is_err(), "{text}");
            } else {
                assert_eq!(read, Ok(Duration::from_nanos(nanoseconds)), "{text}");
            }
        }
        for text in [
            "3",
            "\"3\"",
            "\"\"",
            "\"s\"",
            "\".s\"",
            "\"1.s\"",
            "\".5s\"",
            "\"1.2.3s\"",
            "\"-1s\"",
            "\"0.5ns\"",
            "\"1e3s\"",
            "\"99999999999999999999999999999999999999999999s\"",
            "true",
        ] {
            assert!(duration(&value(text)).is_err(), "{text}");
        }
        assert!(positive_duration(&value("\"0ms\"")).is_err());
    }

    #[test]
    fn sizes_know_their_units() {
        for (text, bytes) in [
            ("64", 64),
            ("\"64\"", 64),
            ("\"4KiB\"", 4096),
            ("\"1.5 kB\"", 1500),
            ("\"1MiB\"", 1 << 20),
        ] {
            assert_eq!(size(&value(text), 1, u64::MAX), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["0", "65508", "\"70000\"", "-1", "\"4K\"", "1.5", "\"0.3B\""] {
            assert!(size(&value(text), 1, 65_507).is_err(), "{text}");
        }
    }

    #[test]
    fn shares_and_temperatures_have_bounds() {
        assert_eq!(share(&value("\"1%\"")), Ok(Ratio(0.01)));
        assert_eq!(share(&value("\"0.5 %\"")), Ok(Ratio(0.005)));
        for text in [
            "1", "0.01", "\"1\"", "\"0%\"", "\"100%\"", "\"%\"", "\"-1%\"",
        ] {
            assert!(share(&value(text)).is_err(), "{text}");
        }
        assert_eq!(temperature(&value("\"60C\"")), Ok(Celsius(60.0)));
        for text in ["60", "\"60\"", "\"0C\"", "\"151C\"", "\"60F\""] {
            assert!(temperature(&value(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_are_of_packets_or_of_bits() {
        assert_eq!(rate(&value("10_000")), Ok(Rate::Packets(10_000.0)));
        assert_eq!(rate(&value("\"50Mbit\"")), Ok(Rate::Bits(BitRate(5e7))));
        for text in [
            "0", "-5", "\"50\"", "\"50MB\"", "nan", "inf", "\"0bit\"", "true",
        ] {
            assert!(rate(&value(text)).is_err(), "{text}");
        }
        assert_eq!(parse_rate("1e4"), Ok(Rate::Packets(10_000.0)));
        assert_eq!(parse_rate("50Mbit"), Ok(Rate::Bits(BitRate(5e7))));
        for text in ["50M", "0", "-5", "nan", "inf", "0bit", "", "1e300"] {
            let error = parse_rate(text).unwrap_err().to_string();
            assert!(error.contains("50Mbit"), "{error}");
        }
    }
}
