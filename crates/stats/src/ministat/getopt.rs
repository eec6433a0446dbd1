//! Splits arguments the way the C library's permuting `getopt` does for `AC:c:d:nqsw:`.
//!
//! Knows which options take a value and nothing of what any of them means.

use std::ffi::{OsStr, OsString};

/// One thing found among the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lexeme<'a> {
    /// An option without a value; possibly one that does not exist.
    Flag(u8),
    /// An option with its value, attached or in the next argument.
    Value(u8, &'a [u8]),
    /// An option whose value is missing.
    MissingValue(u8),
    /// `--compat NAME` or `--compat=NAME`, the one option ministat does not have.
    Compat(Option<&'a [u8]>),
    /// Anything that is no option.
    Operand(&'a OsStr),
}

fn takes_value(option: u8) -> bool {
    matches!(option, b'C' | b'c' | b'd' | b'w')
}

/// The lexemes of `arguments` in order. Operands do not end the options unless
/// `posixly_correct`; `--` always does.
pub(super) fn lex(arguments: &[OsString], posixly_correct: bool) -> Vec<Lexeme<'_>> {
    let mut lexemes = Vec::with_capacity(arguments.len());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let bytes = argument.as_encoded_bytes();
        match bytes {
            b"--" => break,
            b"--compat" => lexemes.push(Lexeme::Compat(
                rest.next().map(|value| value.as_encoded_bytes()),
            )),
            _ if bytes.starts_with(b"--compat=") => {
                lexemes.push(Lexeme::Compat(bytes.get(b"--compat=".len()..)));
            }
            [b'-', cluster @ ..] if !cluster.is_empty() => {
                lex_cluster(cluster, &mut rest, &mut lexemes);
            }
            _ => {
                lexemes.push(Lexeme::Operand(argument));
                if posixly_correct {
                    break;
                }
            }
        }
    }
    lexemes.extend(rest.map(|argument| Lexeme::Operand(argument)));
    lexemes
}

/// One argument of options, its dash removed, as in `-nw40`.
fn lex_cluster<'a>(
    mut cluster: &'a [u8],
    rest: &mut std::slice::Iter<'a, OsString>,
    lexemes: &mut Vec<Lexeme<'a>>,
) {
    while let Some((&option, after)) = cluster.split_first() {
        if !takes_value(option) {
            lexemes.push(Lexeme::Flag(option));
            cluster = after;
            continue;
        }
        lexemes.push(if !after.is_empty() {
            Lexeme::Value(option, after)
        } else if let Some(value) = rest.next() {
            Lexeme::Value(option, value.as_encoded_bytes())
        } else {
            Lexeme::MissingValue(option)
        });
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn owned(arguments: &[&str]) -> Vec<OsString> {
        arguments.iter().map(OsString::from).collect()
    }

    #[test]
    fn options_after_operands_are_options() {
        let arguments = owned(&["a", "-nw40", "b", "-c", "-95", "--", "-n"]);
        assert_eq!(
            lex(&arguments, false),
            [
                Lexeme::Operand("a".as_ref()),
                Lexeme::Flag(b'n'),
                Lexeme::Value(b'w', b"40"),
                Lexeme::Operand("b".as_ref()),
                Lexeme::Value(b'c', b"-95"),
                Lexeme::Operand("-n".as_ref()),
            ]
        );
        assert_eq!(
            lex(&arguments, true).last(),
            Some(&Lexeme::Operand("-n".as_ref()))
        );
        assert_eq!(lex(&arguments, true).len(), 7);
    }

    #[test]
    fn a_value_may_look_like_the_end_of_options() {
        let arguments = owned(&["-w", "--", "-", "-C"]);
        assert_eq!(
            lex(&arguments, false),
            [
                Lexeme::Value(b'w', b"--"),
                Lexeme::Operand("-".as_ref()),
                Lexeme::MissingValue(b'C'),
            ]
        );
    }

    #[test]
    fn compat_is_the_only_long_option() {
        let arguments = owned(&["--compat=2015", "--compat", "newest", "--compact"]);
        assert_eq!(
            lex(&arguments, false)[..3],
            [
                Lexeme::Compat(Some(b"2015")),
                Lexeme::Compat(Some(b"newest")),
                Lexeme::Flag(b'-'),
            ]
        );
        assert_eq!(lex(&owned(&["--compat"]), false), [Lexeme::Compat(None)]);
    }

    proptest! {
        /// What was written as operands comes out as operands, in order, wherever options stand.
        #[test]
        fn operands_survive_permutation(
            pieces in prop::collection::vec(
                prop_oneof![
                    "[a-z][a-z-]{0,5}".prop_map(|operand| (true, vec![operand])),
                    "-[Ansq]{1,4}".prop_map(|flags| (false, vec![flags])),
                    ("-[Ansq]{0,2}[Ccdw]", "[-a-z0-9]{0,5}")
                        .prop_map(|(option, value)| (false, vec![option, value])),
                    ("-[Ansq]{0,2}[Ccdw]", "[-a-z0-9]{1,5}")
                        .prop_map(|(option, value)| (false, vec![option + &value])),
                ],
                0..12,
            )
        ) {
            let arguments: Vec<OsString> =
                pieces.iter().flat_map(|piece| &piece.1).map(OsString::from).collect();
            let expected: Vec<&str> = pieces
                .iter()
                .filter(|piece| piece.0)
                .map(|piece| piece.1[0].as_str())
                .collect();
            let operands: Vec<&str> = lex(&arguments, false)
                .iter()
                .filter_map(|lexeme| match lexeme {
                    Lexeme::Operand(operand) => operand.to_str(),
                    _ => None,
                })
                .collect();
            prop_assert_eq!(operands, expected);
        }
    }
}
