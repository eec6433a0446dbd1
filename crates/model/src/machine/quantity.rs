//! Quantities of a machine file: a number and its unit in one text, as in `"20us"`.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

/// One number of a kind of quantity, in the base unit that the simulation counts in.
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $expected:literal, [$(($unit:literal, $factor:expr)),+ $(,)?]) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $name(pub f64);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                const UNITS: &[(&str, f64)] = &[$(($unit, $factor)),+];
                deserializer
                    .deserialize_str(WithUnit { units: UNITS, expected: $expected })
                    .map(Self)
            }
        }
    };
}

quantity! {
    /// A stretch of time, in nanoseconds.
    Time, "a time such as \"20us\" (ns, us, ms, s)",
    [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)]
}
quantity! {
    /// A frequency, in gigahertz: cycles a nanosecond.
    Frequency, "a frequency such as \"2.93GHz\" (MHz, GHz)",
    [("MHz", 1e-3), ("GHz", 1.0)]
}
quantity! {
    /// An amount of work, in cycles.
    Cycles, "an amount of work such as \"35Gcycles\" (Mcycles, Gcycles)",
    [("Mcycles", 1e6), ("Gcycles", 1e9)]
}
quantity! {
    /// A rate of a link, in bits a nanosecond.
    LinkRate, "a rate such as \"1Gbit/s\" (Mbit/s, Gbit/s)",
    [("Mbit/s", 1e-3), ("Gbit/s", 1.0)]
}
quantity! {
    /// A number of bytes.
    ByteCount, "a size such as \"110592B\" (B, KiB, MiB)",
    [("B", 1.0), ("KiB", 1024.0), ("MiB", 1_048_576.0)]
}
quantity! {
    /// A cost that grows with the size of a datagram, in nanoseconds a byte.
    TimePerByte, "a time for each byte such as \"0.2ns/B\" (ns/B, us/B)",
    [("ns/B", 1.0), ("us/B", 1e3)]
}
quantity! {
    /// A share; 1 is all of it.
    Share, "a share such as \"12%\" (%, ppm)",
    [("%", 0.01), ("ppm", 1e-6)]
}
quantity! {
    /// How often something happens, in times a second.
    PerSecond, "a frequency of events such as \"8/s\" (/s)",
    [("/s", 1.0)]
}

/// Reads a number that is followed by one of these units.
struct WithUnit {
    units: &'static [(&'static str, f64)],
    expected: &'static str,
}

impl Visitor<'_> for WithUnit {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<f64, E> {
        let wrong = || E::custom(format!("\"{text}\" is not {}", self.expected));
        let place = text
            .find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | '-'))
            .ok_or_else(wrong)?;
        let (number, unit) = text.split_at(place);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let (_, factor) = self
            .units
            .iter()
            .find(|(name, _)| *name == unit.trim_start())
            .ok_or_else(wrong)?;
        Some(number * factor)
            .filter(|value| value.is_finite())
            .ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Result<Time, String> {
        let document = format!("value = \"{text}\"");
        let table: std::collections::BTreeMap<String, Time> =
            toml::from_str(&document).map_err(|error| error.to_string())?;
        Ok(table["value"])
    }

    #[test]
    fn a_number_and_a_unit_are_a_quantity() {
        assert_eq!(time("20us"), Ok(Time(20_000.0)));
        assert_eq!(time("1.5 ms"), Ok(Time(1_500_000.0)));
        assert_eq!(time("-3ns"), Ok(Time(-3.0)));
    }

    #[test]
    fn anything_else_is_refused_with_an_example() {
        for wrong in [
            "20",
            "us",
            "",
            "20 parsec",
            "1e999s",
            "1.2.3us",
            "µs",
            "20uss",
        ] {
            let message = time(wrong).expect_err(wrong);
            assert!(
                message.contains("a time such as \"20us\""),
                "{wrong}: {message}"
            );
        }
    }
}
