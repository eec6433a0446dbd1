//! A parameter of a machine file: its value, where it comes from, and how it was come by.

use std::fmt;

use serde::Deserialize;

/// A value that does not stand without its origin.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter<T> {
    /// The value, its unit included.
    pub value: T,
    /// How it was come by.
    pub how: Origin,
    /// Where it comes from, or why it is what it is.
    pub source: String,
}

/// How a parameter was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A published figure, or one that follows from how the thing is built.
    Structural,
    /// Taken from one cell or one column of the data that the machine is to reproduce.
    ReadOff,
    /// Searched for: the value that reproduces the data best.
    Fitted,
    /// Neither published nor to be seen in the data.
    Assumed,
}

impl Origin {
    /// The word of the machine file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Structural => "structural",
            Self::ReadOff => "read-off",
            Self::Fitted => "fitted",
            Self::Assumed => "assumed",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A parameter as a table of all of them shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Where it stands in the file: `cores.turbo`.
    pub path: String,
    /// Its value as written.
    pub value: String,
    /// How it was come by.
    pub how: Origin,
    /// Where it comes from.
    pub source: String,
}

/// Every parameter of a machine file's text, in the order of their paths.
///
/// # Errors
/// The text is no TOML.
pub fn list(source: &str) -> Result<Vec<Listed>, toml::de::Error> {
    let table: toml::Table = toml::from_str(source)?;
    let mut found = Vec::new();
    walk("", &toml::Value::Table(table), &mut found);
    Ok(found)
}

fn walk(path: &str, value: &toml::Value, found: &mut Vec<Listed>) {
    let below = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    match value {
        toml::Value::Table(table) => {
            let origin = table.get("how").and_then(|how| how.clone().try_into().ok());
            let source = table.get("source").and_then(toml::Value::as_str);
            match (table.get("value"), origin, source) {
                (Some(value), Some(how), Some(source)) => found.push(Listed {
                    path: path.to_owned(),
                    value: shown(value),
                    how,
                    source: source.to_owned(),
                }),
                _ => {
                    for (name, value) in table {
                        walk(&below(name), value, found);
                    }
                }
            }
        }
        toml::Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let name = item
                    .get("name")
                    .and_then(toml::Value::as_str)
                    .map_or_else(|| index.to_string(), str::to_owned);
                walk(&below(&name), item, found);
            }
        }
        _ => {}
    }
}

/// A value as a reader wants to see it: texts without quotes, lists with commas.
fn shown(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        toml::Value::Integer(whole) => whole.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(truth) => truth.to_string(),
        toml::Value::Datetime(_) | toml::Value::Table(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_listed_with_their_paths() {
        let source = r#"
            [z]
            a = { value = "2us", how = "fitted", source = "the search" }
            [[clocks]]
            name = "tsc"
            step = { value = ["1ns", "2ns"], how = "read-off", source = "a column" }
        "#;
        let listed = list(source).unwrap();
        let paths: Vec<&str> = listed.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, ["clocks.tsc.step", "z.a"]);
        assert_eq!(listed[0].value, "1ns, 2ns");
        assert_eq!(listed[1].how, Origin::Fitted);
    }
}
