//! A level: one value of a factor.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One value of a factor, as its author wrote it in the experiment file.
///
/// Two levels are the same level when their canonical texts are the same, so the integer `64`
/// and the text `"64"` name one level; files, journals and the kernel all speak text.
#[derive(Clone, Debug)]
pub enum Level {
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A finite number with a fraction.
    Number(f64),
    /// Anything else, a duration or a size included.
    Text(String),
}

impl Level {
    /// A level of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The level as a number, where it is one or reads as one.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Boolean(_) => None,
            Self::Integer(whole) => Some(*whole as f64),
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(truth) => f.pad(if *truth { "true" } else { "false" }),
            Self::Integer(whole) => f.pad(&whole.to_string()),
            Self::Number(number) => f.pad(&number.to_string()),
            Self::Text(text) => f.pad(text),
        }
    }
}

impl PartialEq for Level {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            _ => self.to_string() == other.to_string(),
        }
    }
}

impl Eq for Level {}

impl Hash for Level {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_string().hash(state);
    }
}

impl PartialOrd for Level {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Numbers by size and before text, text by its letters: the order of a table's rows.
impl Ord for Level {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.as_number(), other.as_number()) {
            (Some(a), Some(b)) => a
                .total_cmp(&b)
                .then_with(|| self.to_string().cmp(&other.to_string())),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => self.to_string().cmp(&other.to_string()),
        }
    }
}

impl From<&str> for Level {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Level {
    fn from(whole: i64) -> Self {
        Self::Integer(whole)
    }
}

impl From<bool> for Level {
    fn from(truth: bool) -> Self {
        Self::Boolean(truth)
    }
}

/// The same shape for formats that do not describe themselves (the frames of the seam).
#[derive(Serialize, Deserialize)]
enum Tagged {
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            match self {
                Self::Boolean(truth) => serializer.serialize_bool(*truth),
                Self::Integer(whole) => serializer.serialize_i64(*whole),
                Self::Number(number) => serializer.serialize_f64(*number),
                Self::Text(text) => serializer.serialize_str(text),
            }
        } else {
            match self.clone() {
                Self::Boolean(truth) => Tagged::Boolean(truth),
                Self::Integer(whole) => Tagged::Integer(whole),
                Self::Number(number) => Tagged::Number(number),
                Self::Text(text) => Tagged::Text(text),
            }
            .serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(PlainLevel)
        } else {
            Ok(match Tagged::deserialize(deserializer)? {
                Tagged::Boolean(truth) => Self::Boolean(truth),
                Tagged::Integer(whole) => Self::Integer(whole),
                Tagged::Number(number) => Self::Number(number),
                Tagged::Text(text) => Self::Text(text),
            })
        }
    }
}

struct PlainLevel;

impl Visitor<'_> for PlainLevel {
    type Value = Level;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a boolean, a number or a text")
    }

    fn visit_bool<E: de::Error>(self, truth: bool) -> Result<Level, E> {
        Ok(Level::Boolean(truth))
    }

    fn visit_i64<E: de::Error>(self, whole: i64) -> Result<Level, E> {
        Ok(Level::Integer(whole))
    }

    fn visit_u64<E: de::Error>(self, whole: u64) -> Result<Level, E> {
        i64::try_from(whole)
            .map(Level::Integer)
            .map_err(|_| E::custom("a whole number beyond 64 signed bits"))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Level, E> {
        Ok(Level::Number(number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Level, E> {
        Ok(Level::Text(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_its_text_are_one_level() {
        assert_eq!(Level::Integer(64), Level::text("64"));
        assert_ne!(Level::Integer(64), Level::text("064"));
        assert_eq!(Level::Boolean(true), Level::text("true"));
    }

    #[test]
    fn sizes_sort_as_numbers_and_names_as_text() {
        let mut levels = [1280, 64, 512, 128].map(Level::Integer);
        levels.sort();
        assert_eq!(levels, [64, 128, 512, 1280].map(Level::Integer));
        assert!(Level::Integer(9) < Level::text("C1"));
    }

    #[test]
    fn frames_keep_the_kind_of_a_level() {
        for level in [
            Level::Boolean(false),
            Level::Integer(-3),
            Level::Number(0.5),
            Level::text("tsc"),
        ] {
            let bytes = postcard::to_stdvec(&level).unwrap();
            let back: Level = postcard::from_bytes(&bytes).unwrap();
            assert_eq!(format!("{level:?}"), format!("{back:?}"));
        }
    }
}
