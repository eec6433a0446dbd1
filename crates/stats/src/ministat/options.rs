//! What the arguments ask for.

use std::ffi::{OsStr, OsString};

use super::Environment;
use super::column::Column;
use super::failure::Failure;
use super::getopt::{Lexeme, lex};
use super::integer;
use super::number;
use super::profile::Profile;
use super::quantiles::Confidence;
use super::sources::{Input, NamedInput};
use super::usage::Complaint;

/// More inputs than there are symbols cannot be told apart.
const MOST_SETS: usize = 7;

/// The plot's width where nothing else says one.
const DEFAULT_WIDTH: i32 = 74;

/// The width that a terminal gives to a plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    width: i32,
}

impl Terminal {
    /// `columns_variable` is the environment's `COLUMNS`: unless it is unset or empty it is the
    /// width as it stands. Otherwise the width is two less than the terminal's own `columns`.
    #[must_use]
    pub fn new(columns_variable: Option<&OsStr>, columns: Option<u16>) -> Self {
        let width = match (columns_variable, columns) {
            (Some(text), _) if !text.is_empty() => integer::parse(text.as_encoded_bytes()).0,
            (_, Some(columns)) if columns > 0 => i32::from(columns) - 2,
            _ => DEFAULT_WIDTH,
        };
        Self { width }
    }
}

/// The arguments, understood.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) profile: Profile,
    pub(super) column: Column,
    pub(super) confidence: Confidence,
    /// Whether to compare each set with the first (not with `-n`).
    pub(super) compare: bool,
    /// Whether to plot (neither with `-n` nor with `-A`).
    pub(super) plot: bool,
    /// `-q`: neither names nor a header.
    pub(super) quiet: bool,
    /// `-s`: a bar row for each set.
    pub(super) separate_bars: bool,
    /// Columns inside the plot's frame.
    pub(super) width: i32,
    /// At least one.
    pub(super) inputs: Vec<NamedInput>,
}

impl Options {
    /// Understands `arguments`.
    pub(super) fn parse(
        arguments: &[OsString],
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let lexemes = lex(arguments, environment.posixly_correct);
        let profile = profile_of(&lexemes);
        let complain = |complaint| Failure::Usage {
            complaint,
            profile: profile.unwrap_or_default(),
        };
        let profile = profile.ok_or(Complaint::UnknownProfile).map_err(complain)?;
        Self::understand(&lexemes, profile, environment).map_err(complain)
    }

    fn understand(
        lexemes: &[Lexeme<'_>],
        profile: Profile,
        environment: &Environment,
    ) -> Result<Self, Complaint> {
        let mut column = 1;
        let mut delimiters: &[u8] = b" \t";
        let mut confidence = None;
        let (mut no_tests, mut no_plot, mut quiet, mut separate_bars) =
            (false, false, false, false);
        let mut width = environment
            .terminal
            .map_or(DEFAULT_WIDTH, |terminal| terminal.width);
        let mut operands = Vec::new();
        for lexeme in lexemes {
            match *lexeme {
                Lexeme::Flag(b'A') => no_plot = true,
                Lexeme::Flag(b'n') => no_tests = true,
                Lexeme::Flag(b'q') if profile.has_quiet() => quiet = true,
                Lexeme::Flag(b's') => separate_bars = true,
                Lexeme::Value(b'C', text) => column = column_number(text)?,
                Lexeme::Value(b'c', text) => confidence = Some(level(text, confidence)?),
                Lexeme::Value(b'd', []) => return Err(Complaint::EmptyDelimiters),
                Lexeme::Value(b'd', text) => delimiters = text,
                Lexeme::Value(b'w', text) => width = plot_width(text)?,
                Lexeme::MissingValue(option) => return Err(Complaint::MissingValue(option)),
                Lexeme::Flag(option) | Lexeme::Value(option, _) => {
                    return Err(Complaint::InvalidOption(option));
                }
                Lexeme::Compat(_) => {}
                Lexeme::Operand(operand) => operands.push(operand),
            }
        }
        if operands.len() > MOST_SETS {
            return Err(Complaint::TooManySets);
        }
        Ok(Self {
            profile,
            column: Column::new(column, delimiters, profile),
            confidence: confidence.unwrap_or_default(),
            compare: !no_tests,
            plot: !no_tests && !no_plot,
            quiet,
            separate_bars,
            width,
            inputs: named_inputs(&operands, profile),
        })
    }

    /// Whether statistics are computed with, beyond being printed.
    pub(super) fn needs_exact_statistics(&self) -> bool {
        self.plot || (self.compare && self.inputs.len() > 1)
    }
}

/// The last `--compat`; `None` when one is wrong.
fn profile_of(lexemes: &[Lexeme<'_>]) -> Option<Profile> {
    let mut profile = Profile::default();
    for lexeme in lexemes {
        if let Lexeme::Compat(name) = lexeme {
            profile = Profile::from_name((*name)?)?;
        }
    }
    Some(profile)
}

fn named_inputs(operands: &[&OsStr], profile: Profile) -> Vec<NamedInput> {
    if operands.is_empty() {
        return vec![NamedInput {
            input: Input::StandardInput,
            name: b"<stdin>".to_vec(),
        }];
    }
    operands
        .iter()
        .map(|operand| {
            let input = Input::from_operand(operand);
            let name = match input {
                Input::StandardInput => profile.name_of_dash().as_bytes(),
                Input::File(_) => operand.as_encoded_bytes(),
            };
            NamedInput {
                name: name.to_vec(),
                input,
            }
        })
        .collect()
}

/// A whole number that is all of `text`; nothing at all is 0, as C has it.
fn whole_number(text: &[u8]) -> Option<i32> {
    let (number, used) = integer::parse(text);
    (used == text.len()).then_some(number)
}

fn column_number(text: &[u8]) -> Result<usize, Complaint> {
    let number = whole_number(text).ok_or(Complaint::InvalidColumn)?;
    match usize::try_from(number) {
        Ok(column) if column > 0 => Ok(column),
        _ => Err(Complaint::ColumnNotPositive),
    }
}

fn plot_width(text: &[u8]) -> Result<i32, Complaint> {
    let width = whole_number(text).ok_or(Complaint::InvalidWidth)?;
    if width < 0 {
        return Err(Complaint::NegativeWidth);
    }
    Ok(width)
}

/// The confidence level `text`, or the one already chosen when `text` is a number but no level.
fn level(text: &[u8], chosen: Option<Confidence>) -> Result<Confidence, Complaint> {
    let (percent, used) = number::parse(text);
    if used != text.len() {
        return Err(Complaint::InvalidConfidence);
    }
    Confidence::from_percent(percent)
        .or(chosen)
        .ok_or(Complaint::UnknownConfidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(arguments: &[&str]) -> Result<Options, Complaint> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        match Options::parse(&arguments, &Environment::default()) {
            Ok(options) => Ok(options),
            Err(Failure::Usage { complaint, .. }) => Err(complaint),
            Err(other) => panic!("{other}"),
        }
    }

    fn complaint(arguments: &[&str]) -> Complaint {
        parse(arguments).expect_err("a complaint")
    }

    #[test]
    fn defaults() {
        let options = parse(&[]).expect("options");
        assert_eq!(options.profile, Profile::Newest);
        assert_eq!(options.width, 74);
        assert_eq!(options.confidence.percent(), 95.0);
        assert!(options.plot && options.compare && !options.quiet && !options.separate_bars);
        assert_eq!(options.inputs.len(), 1);
        assert_eq!(options.inputs[0].name, b"<stdin>");
    }

    #[test]
    fn a_bad_level_after_a_good_one_is_ignored() {
        let percent = |arguments: &[&str]| parse(arguments).map(|o| o.confidence.percent());
        assert_eq!(percent(&["-c", "99", "-c", "91"]), Ok(99.0));
        assert_eq!(percent(&["-c", "0x5f", "-c", ""]), Ok(95.0));
        assert_eq!(
            percent(&["-c", "91", "-c", "99"]),
            Err(Complaint::UnknownConfidence)
        );
        assert_eq!(
            percent(&["-c", "99", "-c", "9x"]),
            Err(Complaint::InvalidConfidence)
        );
        assert_eq!(percent(&["-c", " 9.95e1"]), Ok(99.5));
    }

    #[test]
    fn complaints() {
        assert_eq!(complaint(&["-x"]), Complaint::InvalidOption(b'x'));
        assert_eq!(complaint(&["--help"]), Complaint::InvalidOption(b'-'));
        assert_eq!(complaint(&["-n", "-w"]), Complaint::MissingValue(b'w'));
        assert_eq!(complaint(&["-C", "1x"]), Complaint::InvalidColumn);
        assert_eq!(complaint(&["-C", ""]), Complaint::ColumnNotPositive);
        assert_eq!(
            complaint(&["-C", "4294967296"]),
            Complaint::ColumnNotPositive
        );
        assert_eq!(complaint(&["-w", "40x"]), Complaint::InvalidWidth);
        assert_eq!(
            complaint(&["-w", "99999999999999999999"]),
            Complaint::NegativeWidth
        );
        assert_eq!(complaint(&["-d", ""]), Complaint::EmptyDelimiters);
        assert_eq!(complaint(&["a"; 8]), Complaint::TooManySets);
        assert_eq!(complaint(&["--compat", "2014"]), Complaint::UnknownProfile);
        assert_eq!(complaint(&["--compat"]), Complaint::UnknownProfile);
        assert_eq!(
            complaint(&["--compat", "2015", "-q"]),
            Complaint::InvalidOption(b'q')
        );
    }

    #[test]
    fn a_profile_holds_for_options_before_it() {
        assert_eq!(
            complaint(&["-q", "--compat=2015"]),
            Complaint::InvalidOption(b'q')
        );
        assert!(parse(&["-q", "--compat=2015", "--compat=newest"]).is_ok());
    }

    #[test]
    fn the_terminal_gives_the_width() {
        let width = |variable: Option<&str>, columns| {
            Terminal::new(variable.map(OsStr::new), columns).width
        };
        assert_eq!(width(None, Some(80)), 78);
        assert_eq!(width(Some(""), Some(80)), 78);
        assert_eq!(width(Some("40"), Some(80)), 40);
        assert_eq!(width(Some("x"), Some(80)), 0);
        assert_eq!(width(None, Some(0)), 74);
        assert_eq!(width(None, None), 74);
        assert_eq!(width(None, Some(1)), -1);
    }

    proptest! {
        #[test]
        fn any_arguments_are_understood_or_complained_about(
            arguments in prop::collection::vec("[-a-zA-Z0-9.=, ]{0,8}", 0..10),
            posixly_correct: bool,
        ) {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let environment = Environment { posixly_correct, ..Environment::default() };
            match Options::parse(&arguments, &environment) {
                Ok(options) => prop_assert!((1..=MOST_SETS).contains(&options.inputs.len())),
                Err(failure) => {
                    prop_assert_eq!(failure.exit_code(), 2);
                    prop_assert!(!failure.message().is_empty());
                }
            }
        }

        #[test]
        fn the_last_value_of_an_option_counts(widths in prop::collection::vec(0..500_i32, 1..5)) {
            let arguments: Vec<String> = widths.iter().map(|width| format!("-w{width}")).collect();
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            prop_assert_eq!(parse(&arguments).map(|options| options.width).ok(), widths.last().copied());
        }
    }
}
