//! The value in the text of a setting's file.

use serde::{Deserialize, Serialize};

/// How a file shows its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The text is the value.
    #[default]
    Plain,
    /// The text is every choice, the one in force in brackets: `always [madvise] never`. What is
    /// written is the bare word.
    Bracketed,
}

impl Form {
    /// The form that a text appears to have: bracketed when it is several words of which exactly
    /// one is in brackets.
    pub fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let words = || text.split_whitespace();
        let bracketed = words().filter(|word| in_brackets(word).is_some()).count();
        if bracketed == 1 && words().count() > 1 {
            Self::Bracketed
        } else {
            Self::Plain
        }
    }

    /// The value in the text of a file, runs of white space made one space.
    ///
    /// A bracketed file of a laid-out tree holds the bare word after it was written; then that is
    /// the value.
    pub fn value(self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        if self == Self::Bracketed
            && let Some(word) = text.split_whitespace().find_map(in_brackets)
        {
            return word.to_owned();
        }
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Every choice that the text names, where it names them.
    pub fn choices(self, bytes: &[u8]) -> Option<Vec<String>> {
        if self == Self::Plain || Self::of(bytes) == Self::Plain {
            return None;
        }
        let text = String::from_utf8_lossy(bytes);
        Some(
            text.split_whitespace()
                .map(|word| in_brackets(word).unwrap_or(word).to_owned())
                .collect(),
        )
    }

    /// The bytes that put an old text back. A plain text is its own; of a bracketed one the kernel
    /// takes the bare word only.
    pub fn bytes_to_write_back(self, old: &[u8]) -> Vec<u8> {
        match self {
            Self::Plain => old.to_vec(),
            Self::Bracketed => line(&self.value(old)),
        }
    }
}

/// A value as a line, which is how `echo` writes it and what every such file of the kernel takes.
pub fn line(value: &str) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

fn in_brackets(word: &str) -> Option<&str> {
    word.strip_prefix('[')?.strip_suffix(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_is_the_word_in_brackets() {
        let text = b"always [madvise] never\n";
        assert_eq!(Form::of(text), Form::Bracketed);
        assert_eq!(Form::Bracketed.value(text), "madvise");
        assert_eq!(
            Form::Bracketed.choices(text).unwrap(),
            ["always", "madvise", "never"]
        );
        assert_eq!(Form::Bracketed.bytes_to_write_back(text), b"madvise\n");
        assert_eq!(Form::Bracketed.value(b"always\n"), "always");
        assert_eq!(Form::Bracketed.choices(b"always\n"), None);
    }

    #[test]
    fn a_plain_value_may_be_several_numbers() {
        let text = b"4096\t131072\t6291456\n";
        assert_eq!(Form::of(text), Form::Plain);
        assert_eq!(Form::Plain.value(text), "4096 131072 6291456");
        assert_eq!(Form::Plain.bytes_to_write_back(text), text);
        assert_eq!(Form::of(b"[tsc]\n"), Form::Plain);
    }
}
