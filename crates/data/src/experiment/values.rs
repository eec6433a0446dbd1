//! Values of an experiment file: durations, sizes, shares, rates, words.
//!
//! Each function reads one value and says what is wrong with it; where it stands is the
//! caller's to know.

use std::time::Duration;

use toml::de::DeValue;

use super::suggest;
use crate::words::{BitRate, Bytes, Celsius, Level, Ratio};

/// What is wrong with a value. The caller puts the name of the key before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// What is wrong, as the rest of a sentence: "must be a whole number".
    pub predicate: String,
    /// A few words for the underlined text.
    pub label: String,
    /// What to do about it.
    pub remedy: String,
}

impl Fault {
    pub(super) fn new(
        predicate: impl Into<String>,
        label: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            predicate: predicate.into(),
            label: label.into(),
            remedy: remedy.into(),
        }
    }

    /// Something that this version does not have.
    pub(super) fn not_yet(what: &str, remedy: impl Into<String>) -> Self {
        Self::new(
            format!("asks for {what}, which this version cannot do yet"),
            "not yet",
            remedy,
        )
    }

    /// A value of the wrong type.
    fn type_of(expected: &str, found: &DeValue<'_>, remedy: &str) -> Self {
        Self::new(
            format!("must be {expected}"),
            format!("this is {}", describe(found)),
            remedy,
        )
    }
}

/// A value's type in words.
pub(super) fn describe(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A text in backquotes, cut where it is long.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() > LONGEST {
        let cut: String = text.chars().take(LONGEST).collect();
        format!("`{cut}…`")
    } else {
        format!("`{text}`")
    }
}

/// Any text that can be handed to a program: one without a NUL.
pub(super) fn text(value: &DeValue<'_>) -> Result<String, Fault> {
    let DeValue::String(text) = value else {
        return Err(Fault::type_of("a text", value, "write it in quotes"));
    };
    if text.contains('\0') {
        return Err(Fault::new(
            "must not hold the character NUL",
            "it is in here",
            "leave it out: no program can be given it",
        ));
    }
    Ok(text.clone().into_owned())
}

/// A text of one line that says something.
pub(super) fn line(value: &DeValue<'_>) -> Result<String, Fault> {
    let text = text(value)?;
    if text.trim().is_empty() {
        return Err(Fault::new(
            "must not be empty",
            "nothing is said here",
            "write a few words in one line",
        ));
    }
    if text.chars().any(char::is_control) {
        return Err(Fault::new(
            "must be one line",
            "it has a line break or another control character",
            "write a few words in one line",
        ));
    }
    Ok(text)
}

/// `true` or `false`.
pub(super) fn boolean(value: &DeValue<'_>) -> Result<bool, Fault> {
    match value {
        DeValue::Boolean(truth) => Ok(*truth),
        other => Err(Fault::type_of(
            "true or false",
            other,
            "write true or false, without quotes",
        )),
    }
}

/// A whole number of 64 signed bits.
fn integer(value: &DeValue<'_>) -> Option<Result<i64, Fault>> {
    let DeValue::Integer(digits) = value else {
        return None;
    };
    Some(
        i64::from_str_radix(digits.as_str(), digits.radix()).map_err(|_| {
            Fault::new(
                "is beyond what a whole number can be",
                "this does not fit into 64 bits",
                format!("write a number from {} to {}", i64::MIN, i64::MAX),
            )
        }),
    )
}

/// A finite number with a fraction.
fn fraction(value: &DeValue<'_>) -> Option<Result<f64, Fault>> {
    let DeValue::Float(digits) = value else {
        return None;
    };
    Some(
        digits
            .as_str()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| {
                Fault::new(
                    "must be a finite number",
                    "this is none",
                    "write a number such as 0.5",
                )
            }),
    )
}

/// A whole number within these bounds, both included.
pub(super) fn whole(value: &DeValue<'_>, least: i64, most: i64) -> Result<i64, Fault> {
    let bounds = if most == i64::MAX {
        format!("a whole number of at least {least}")
    } else {
        format!("a whole number from {least} to {most}")
    };
    let number = integer(value)
        .ok_or_else(|| Fault::type_of(&bounds, value, "write the digits without quotes"))??;
    if (least..=most).contains(&number) {
        Ok(number)
    } else {
        let nearest = number.clamp(least, most);
        Err(Fault::new(
            format!("must be {bounds}"),
            "out of range",
            format!("the nearest that is allowed is {nearest}"),
        ))
    }
}

/// A finite number, whole or not.
pub(super) fn number(value: &DeValue<'_>) -> Result<f64, Fault> {
    if let Some(whole) = integer(value) {
        return whole.map(|whole| whole as f64);
    }
    fraction(value)
        .ok_or_else(|| Fault::type_of("a number", value, "write the digits without quotes"))?
}

/// One of these words; `later` are known words that cannot be had yet.
pub(super) fn word<'w>(
    value: &DeValue<'_>,
    words: &[&'w str],
    later: &[&str],
) -> Result<&'w str, Fault> {
    let DeValue::String(text) = value else {
        return Err(Fault::type_of(
            "a word",
            value,
            &format!(
                "write one of {} in quotes",
                suggest::listed(words.iter().copied())
            ),
        ));
    };
    if let Some(word) = words.iter().find(|word| **word == text.as_ref()) {
        return Ok(word);
    }
    let listed = suggest::listed(words.iter().copied());
    if later.contains(&text.as_ref()) {
        return Err(Fault::not_yet(
            &quoted(text),
            format!("choose among {listed}"),
        ));
    }
    Err(Fault::new(
        format!("cannot be {}", quoted(text)),
        "not one of its words",
        suggest::remedy(text, words.iter().copied(), "choose among"),
    ))
}

/// A level of a factor: any single value.
pub(super) fn level(value: &DeValue<'_>) -> Result<Level, Fault> {
    if let Some(whole) = integer(value) {
        return whole.map(Level::Integer);
    }
    if let Some(fraction) = fraction(value) {
        return fraction.map(Level::Number);
    }
    match value {
        DeValue::Boolean(truth) => Ok(Level::Boolean(*truth)),
        DeValue::String(_) => Ok(Level::Text(line(value)?)),
        other => Err(Fault::type_of(
            "a text, a number, or true or false",
            other,
            "write the level in quotes",
        )),
    }
}

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

/// A stretch of time: `"3s"`, `"200ms"`, `"2m"`; nothing at all included.
pub(super) fn duration(value: &DeValue<'_>) -> Result<Duration, Fault> {
    const REMEDY: &str = "write a number and its unit (ns, us, ms, s, m, h), as in \"200ms\"";
    let DeValue::String(text) = value else {
        return Err(Fault::type_of("a duration", value, REMEDY));
    };
    let (digits, unit) = split_unit(text);
    let nanoseconds = match unit {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return Err(Fault::new("must be a duration", "not a duration", REMEDY)),
    };
    scaled(digits, nanoseconds)
        .and_then(|nanoseconds| u64::try_from(nanoseconds).ok())
        .map(Duration::from_nanos)
        .ok_or_else(|| Fault::new("must be a duration", "not a duration", REMEDY))
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

/// A size within these bounds in bytes: `64`, `"64"` or `"4KiB"`.
pub(super) fn size(value: &DeValue<'_>, least: u64, most: u64) -> Result<Bytes, Fault> {
    const REMEDY: &str =
        "write bytes as in 64, or a unit (kB, KiB, MB, MiB, GB, GiB) as in \"4KiB\"";
    let bytes = match value {
        DeValue::String(text) => {
            let (digits, unit) = split_unit(text);
            let factor = match unit {
                "" | "B" => 1,
                "kB" => 1_000,
                "MB" => 1_000_000,
                "GB" => 1_000_000_000,
                "KiB" => 1 << 10,
                "MiB" => 1 << 20,
                "GiB" => 1 << 30,
                _ => return Err(Fault::new("must be a size", "not a size", REMEDY)),
            };
            scaled(digits, factor)
                .and_then(|bytes| u64::try_from(bytes).ok())
                .ok_or_else(|| Fault::new("must be a size", "not a size", REMEDY))?
        }
        other => {
            let number =
                integer(other).ok_or_else(|| Fault::type_of("a size", other, REMEDY))??;
            u64::try_from(number)
                .map_err(|_| Fault::new("must be a size", "less than nothing", REMEDY))?
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
pub(super) enum Rate {
    /// Packets a second.
    Packets(f64),
    /// Bits a second.
    Bits(BitRate),
}

/// A rate above nothing: packets a second as in `10000`, or bits a second as in `"50Mbit"`.
pub(super) fn rate(value: &DeValue<'_>) -> Result<Rate, Fault> {
    const REMEDY: &str = "write packets a second as in 10000, or bits a second (bit, kbit, Mbit, Gbit) as in \"50Mbit\"";
    let fault = || Fault::new("must be a rate", "not a rate", REMEDY);
    let rate = match value {
        DeValue::String(text) => {
            let (digits, unit) = split_unit(text);
            let bits = match unit {
                "bit" => 1.0,
                "kbit" => 1e3,
                "Mbit" => 1e6,
                "Gbit" => 1e9,
                _ => return Err(fault()),
            };
            let number: f64 = digits.parse().map_err(|_| fault())?;
            Rate::Bits(BitRate(number * bits))
        }
        DeValue::Integer(_) | DeValue::Float(_) => Rate::Packets(number(value)?),
        other => return Err(Fault::type_of("a rate", other, REMEDY)),
    };
    let (Rate::Packets(number) | Rate::Bits(BitRate(number))) = rate;
    if number > 0.0 && number <= 1e15 {
        Ok(rate)
    } else {
        Err(Fault::new(
            "must be above nothing, and within what a network can carry",
            "out of range",
            REMEDY,
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
    }

    #[test]
    fn whole_numbers_keep_to_their_bounds() {
        assert_eq!(whole(&value("0x10"), 1, 20), Ok(16));
        for text in ["0", "21", "1.0", "\"5\"", "99999999999999999999"] {
            assert!(whole(&value(text), 1, 20).is_err(), "{text}");
        }
    }

    #[test]
    fn levels_are_single_values() {
        assert_eq!(level(&value("64")), Ok(Level::Integer(64)));
        assert_eq!(level(&value("0.5")), Ok(Level::Number(0.5)));
        assert_eq!(level(&value("true")), Ok(Level::Boolean(true)));
        assert_eq!(level(&value("\"tsc\"")), Ok(Level::text("tsc")));
        for text in ["[1]", "{}", "nan", "\"\"", "\"a\\nb\"", "2007-07-01"] {
            assert!(level(&value(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn a_word_that_is_known_for_later_is_told_apart() {
        let words = ["holm", "none"];
        assert_eq!(word(&value("\"holm\""), &words, &["tukey"]), Ok("holm"));
        let later = word(&value("\"tukey\""), &words, &["tukey"]).unwrap_err();
        assert!(later.predicate.contains("yet"), "{later:?}");
        let near = word(&value("\"hlom\""), &words, &["tukey"]).unwrap_err();
        assert_eq!(near.remedy, "did you mean `holm`?");
    }
}
