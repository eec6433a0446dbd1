//! Why there is no report, with the bytes and the exit code that say so.

use std::error::Error;
use std::fmt;
use std::io;

use super::plot::PlotFailure;
use super::profile::Profile;
use super::reader::ReadFailure;
use super::usage::Complaint;

/// Why ministat gives no report.
#[derive(Debug)]
pub enum Failure {
    /// The arguments are wrong.
    Usage {
        /// In what way.
        complaint: Complaint,
        /// Whose usage to show.
        profile: Profile,
    },
    /// An input cannot be opened.
    CannotOpen {
        /// The operand.
        name: Vec<u8>,
        /// Why.
        reason: io::Error,
        /// Decides the exit code.
        profile: Profile,
    },
    /// Reading an input failed midway. (The original takes that for its end.)
    CannotRead {
        /// The input.
        name: Vec<u8>,
        /// Why.
        reason: io::Error,
    },
    /// The report cannot be written: the disk is full, say. (The original does not notice.)
    CannotWrite {
        /// Why.
        reason: io::Error,
    },
    /// A token of the wanted column is no number.
    InvalidData {
        /// The input.
        name: Vec<u8>,
        /// As it stands there.
        token: Vec<u8>,
        /// Counted from 1.
        line: u64,
        /// Decides the wording.
        profile: Profile,
    },
    /// An input has fewer than three values.
    TooFewPoints {
        /// The input.
        name: Vec<u8>,
    },
    /// The plot cannot be drawn; the original crashes, or draws values in wrong places.
    Plot(PlotFailure),
}

impl Failure {
    pub(super) fn reading(name: &[u8], failure: ReadFailure, profile: Profile) -> Self {
        let name = name.to_vec();
        match failure {
            ReadFailure::Invalid { token, line } => Self::InvalidData {
                name,
                token,
                line,
                profile,
            },
            ReadFailure::Io(reason) => Self::CannotRead { name, reason },
        }
    }

    /// The exit code: 1 or 2.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::CannotOpen { profile, .. } => profile.cannot_open_exit_code(),
            _ => 2,
        }
    }

    /// What standard error gets, line ends included. Names and tokens are bytes, of no encoding.
    #[must_use]
    pub fn message(&self) -> Vec<u8> {
        match self {
            Self::Usage { complaint, profile } => complaint.message(*profile),
            Self::CannotOpen { name, reason, .. } => cannot("open", name, reason),
            Self::CannotRead { name, reason } => cannot("read", name, reason),
            Self::CannotWrite { reason } => cannot("write", b"standard output", reason),
            Self::InvalidData {
                name,
                token,
                line,
                profile,
            } => match profile {
                Profile::Debian2015 => [
                    format!("ministat: Invalid data on line {line} in ").as_bytes(),
                    name,
                    b"\n",
                ]
                .concat(),
                Profile::Newest => [
                    b"Invalid data \"".as_slice(),
                    token,
                    format!("\" on line {line} in ").as_bytes(),
                    name,
                    b"\n",
                ]
                .concat(),
            },
            Self::TooFewPoints { name } => [
                b"Dataset ".as_slice(),
                name,
                b" must contain at least 3 data points\n",
            ]
            .concat(),
            Self::Plot(failure) => format!("ministat: {failure}\n").into_bytes(),
        }
    }
}

/// What could not be done, with what, and why.
fn cannot(verb: &str, name: &[u8], reason: &io::Error) -> Vec<u8> {
    [
        format!("ministat: Cannot {verb} ").as_bytes(),
        name,
        format!(": {}\n", reason_of(reason)).as_bytes(),
    ]
    .concat()
}

/// The system's words for an error, without the number that Rust adds.
fn reason_of(error: &io::Error) -> String {
    let words = error.to_string();
    match error.raw_os_error() {
        Some(number) => words
            .trim_end_matches(&format!(" (os error {number})"))
            .to_owned(),
        None => words,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.message();
        formatter.write_str(String::from_utf8_lossy(&message).trim_end())
    }
}

impl Error for Failure {}

impl From<PlotFailure> for Failure {
    fn from(failure: PlotFailure) -> Self {
        Self::Plot(failure)
    }
}
