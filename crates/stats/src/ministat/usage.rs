//! What ministat answers to arguments it does not understand.

use std::fmt;

use super::profile::Profile;

/// What is wrong with the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Complaint {
    /// An option that does not exist.
    InvalidOption(u8),
    /// An option that stands last and needs a value.
    MissingValue(u8),
    /// `--compat` without, or with an unknown, name.
    UnknownProfile,
    /// `-C` is no whole number.
    InvalidColumn,
    /// `-C` is zero or less.
    ColumnNotPositive,
    /// `-c` is no number.
    InvalidConfidence,
    /// `-c` is not one of the six levels.
    UnknownConfidence,
    /// `-d` is empty.
    EmptyDelimiters,
    /// `-w` is no whole number.
    InvalidWidth,
    /// `-w` is less than zero.
    NegativeWidth,
    /// More than seven inputs.
    TooManySets,
}

impl fmt::Display for Complaint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::InvalidOption(_) | Self::MissingValue(_) => "Unknown option",
            Self::UnknownProfile => "Option --compat takes 2015 or newest",
            Self::InvalidColumn => "Invalid column number.",
            Self::ColumnNotPositive => "Column number should be positive.",
            Self::InvalidConfidence => "Not a floating point number",
            Self::UnknownConfidence => "No support for confidence level",
            Self::EmptyDelimiters => "Can't use empty delimiter string",
            Self::InvalidWidth => "Invalid width, not a number.",
            Self::NegativeWidth => "Unable to move beyond left margin.",
            Self::TooManySets => "Too many datasets.",
        })
    }
}

impl Complaint {
    /// The complaint and the usage of `profile`, as the program prints them.
    pub(super) fn message(self, profile: Profile) -> Vec<u8> {
        let mut message = Vec::new();
        let from_getopt = match self {
            Self::InvalidOption(option) => Some(("invalid option", option)),
            Self::MissingValue(option) => Some(("option requires an argument", option)),
            _ => None,
        };
        if let Some((words, option)) = from_getopt {
            message.extend(format!("ministat: {words} -- '").bytes());
            message.push(option);
            message.extend(b"'\n");
        }
        message.extend(format!("{self}\n").bytes());
        message.extend(usage(profile).bytes());
        message
    }
}

/// The lines that follow every complaint.
fn usage(profile: Profile) -> String {
    let (flags, quiet) = if profile.has_quiet() {
        (
            "Anqs",
            "\t-q : suppress printing summary-statistics headers and data-set names\n",
        )
    } else {
        ("Ans", "")
    };
    format!(
        "Usage: ministat [-C column] [-c confidence] [-d delimiter(s)] [-{flags}] [-w width] \
         [file [file ...]]\n\
         \tconfidence = {{80%, 90%, 95%, 98%, 99%, 99.5%}}\n\
         \t-A : print statistics only. suppress the graph.\n\
         \t-C : column number to extract (starts and defaults to 1)\n\
         \t-d : delimiter(s) string, default to \" \\t\"\n\
         \t-n : print summary statistics only, no graph/test\n\
         {quiet}\
         \t-s : print avg/median/stddev bars on separate lines\n\
         \t-w : width of graph/test output (default 74 or terminal width)\n"
    )
}
