//! Commands: a text split into words as a shell splits it, without a shell.
//!
//! Spaces separate words; single quotes keep everything; double quotes keep everything but a
//! backslash before `"`, `\`, `$`, a backquote or a line break; a backslash elsewhere keeps the
//! next letter. Nothing is expanded: no variable, no pattern, no home directory. An unquoted
//! operator of the shell (`|`, `>`, `&&` and so on) is an error and never an argument.

use std::ops::Range;

use thiserror::Error;

/// Why a text is not a command.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SplitError {
    /// A quotation mark without its partner.
    #[error("has a quotation mark that is never closed")]
    Unclosed(Range<usize>),
    /// Nothing follows a backslash.
    #[error("ends in a backslash")]
    TrailingBackslash(Range<usize>),
    /// An operator that only a shell understands.
    #[error("has an operator of the shell, and no shell is run")]
    Operator(Range<usize>),
    /// No word at all.
    #[error("is empty")]
    Empty,
}

impl SplitError {
    /// The offending part of the text, in bytes.
    pub fn span(&self) -> Option<Range<usize>> {
        match self {
            Self::Unclosed(span) | Self::TrailingBackslash(span) | Self::Operator(span) => {
                Some(span.clone())
            }
            Self::Empty => None,
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Unclosed(_) => "close it, or put a backslash before it",
            Self::TrailingBackslash(_) => "write two backslashes for one, or leave it out",
            Self::Operator(_) => {
                "put quotes around it if it is an argument; what needs a shell is run by `sh -c '…'`, or with `shell = true` in [workload]"
            }
            Self::Empty => "name a program and its arguments",
        }
    }
}

/// The words of a command.
///
/// # Errors
/// When a quotation mark is not closed, a shell would be needed, or there is no word.
pub fn split(text: &str) -> Result<Vec<String>, SplitError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut word_start = 0;
    let mut plain = true;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if letter.is_whitespace() {
            if let Some(done) = word.take() {
                words.push(checked(done, plain, word_start..at)?);
            }
            plain = true;
            continue;
        }
        if word.is_none() {
            word_start = at;
        }
        let word = word.get_or_insert_default();
        match letter {
            '\'' => {
                plain = false;
                loop {
                    match letters.next() {
                        Some((_, '\'')) => break,
                        Some((_, kept)) => word.push(kept),
                        None => return Err(SplitError::Unclosed(at..at + 1)),
                    }
                }
            }
            '"' => {
                plain = false;
                loop {
                    match letters.next() {
                        Some((_, '"')) => break,
                        Some((_, '\\')) => match letters.next() {
                            Some((_, '\n')) => {}
                            Some((_, kept @ ('"' | '\\' | '$' | '`'))) => word.push(kept),
                            Some((_, other)) => word.extend(['\\', other]),
                            None => return Err(SplitError::Unclosed(at..at + 1)),
                        },
                        Some((_, kept)) => word.push(kept),
                        None => return Err(SplitError::Unclosed(at..at + 1)),
                    }
                }
            }
            '\\' => {
                plain = false;
                match letters.next() {
                    Some((_, '\n')) => {}
                    Some((_, kept)) => word.push(kept),
                    None => return Err(SplitError::TrailingBackslash(at..at + 1)),
                }
            }
            kept => word.push(kept),
        }
    }
    if let Some(done) = word {
        words.push(checked(done, plain, word_start..text.len())?);
    }
    if words.is_empty() {
        return Err(SplitError::Empty);
    }
    Ok(words)
}

/// The word, unless it is an operator that a shell would act on.
fn checked(word: String, plain: bool, span: Range<usize>) -> Result<String, SplitError> {
    let without_number = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let operator = matches!(word.as_str(), "|" | "||" | "&" | "&&" | ";" | "|&")
        || without_number.starts_with('>')
        || without_number.starts_with('<')
        || word.starts_with("&>")
        || (word.len() > 1 && word.ends_with(';'));
    if plain && operator {
        Err(SplitError::Operator(span))
    } else {
        Ok(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        for (text, expected) in [
            ("make -j2", vec!["make", "-j2"]),
            ("  a\t b\nc ", vec!["a", "b", "c"]),
            ("echo 'a b' \"c d\"", vec!["echo", "a b", "c d"]),
            ("a'b'\"c\"d", vec!["abcd"]),
            ("''", vec![""]),
            ("a\\ b \\'", vec!["a b", "'"]),
            (r#""a\"b\\c\d""#, vec![r#"a"b\c\d"#]),
            ("'a\\b'", vec!["a\\b"]),
            ("a\\\nb", vec!["ab"]),
            ("echo '|' \\; \">\"", vec!["echo", "|", ";", ">"]),
            ("grep a|b 'x;'", vec!["grep", "a|b", "x;"]),
            ("ä 'ö ü'", vec!["ä", "ö ü"]),
        ] {
            assert_eq!(
                split(text).as_deref(),
                Ok(expected.map_strings().as_slice()),
                "{text}"
            );
        }
    }

    trait MapStrings {
        fn map_strings(self) -> Vec<String>;
    }

    impl MapStrings for Vec<&str> {
        fn map_strings(self) -> Vec<String> {
            self.into_iter().map(str::to_owned).collect()
        }
    }

    #[test]
    fn what_needs_a_shell_or_does_not_close_is_refused() {
        assert_eq!(split(" "), Err(SplitError::Empty));
        assert_eq!(split("a 'b"), Err(SplitError::Unclosed(2..3)));
        assert_eq!(split("a \"b\\"), Err(SplitError::Unclosed(2..3)));
        assert_eq!(split("a\\"), Err(SplitError::TrailingBackslash(1..2)));
        assert_eq!(split("a | b"), Err(SplitError::Operator(2..3)));
        for text in [
            "a > b", "a >b", "a 2>&1", "a && b", "a; b", "a < b", "a &", "a &> b",
        ] {
            assert!(
                matches!(split(text), Err(SplitError::Operator(_))),
                "{text}"
            );
        }
    }
}
