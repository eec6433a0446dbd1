//! Values of an experiment file: texts, numbers, words, levels.
//!
//! Each function reads one value and says what is wrong with it; where it stands is the
//! caller's to know.

use toml::de::DeValue;

use super::suggest;
use crate::words::Level;

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
    pub(super) fn type_of(expected: &str, found: &DeValue<'_>, remedy: &str) -> Self {
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
pub(super) fn integer(value: &DeValue<'_>) -> Option<Result<i64, Fault>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> DeValue<'_> {
        DeValue::parse(text).unwrap().into_inner()
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
