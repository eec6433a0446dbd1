//! A metric: a measured quantity with a unit and a better direction.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The unit of a metric or of a piece of evidence, as it is printed: `s`, `Mbit/s`, `1/s`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Unit(Cow<'static, str>);

impl Unit {
    /// Seconds.
    pub const SECONDS: Self = Self(Cow::Borrowed("s"));
    /// Millions of bits a second.
    pub const MEGABITS_PER_SECOND: Self = Self(Cow::Borrowed("Mbit/s"));
    /// Packets a second.
    pub const PACKETS_PER_SECOND: Self = Self(Cow::Borrowed("packets/s"));
    /// A plain count.
    pub const COUNT: Self = Self(Cow::Borrowed("1"));
    /// Bytes.
    pub const BYTES: Self = Self(Cow::Borrowed("B"));
    /// A share between nothing and all, printed in percent.
    pub const SHARE: Self = Self(Cow::Borrowed("%"));
    /// Degrees Celsius.
    pub const CELSIUS: Self = Self(Cow::Borrowed("C"));
    /// Nanoseconds.
    pub const NANOSECONDS: Self = Self(Cow::Borrowed("ns"));
    /// Millionths of a joule.
    pub const MICROJOULES: Self = Self(Cow::Borrowed("uJ"));

    /// A unit by its printed name.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self(name.into())
    }

    /// The printed name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better: a throughput.
    Higher,
    /// Less is better: a time.
    Lower,
}

impl fmt::Display for Better {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
        })
    }
}

/// A measured quantity: its name, its unit, which way is better and who held the stopwatch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// The name by which the experiment file asks for it.
    pub name: String,
    /// The unit of its values.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// Whether the workload took the time itself, by a clock that may be the thing under test.
    pub self_timed: bool,
}
