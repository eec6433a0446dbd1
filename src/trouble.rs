//! What went wrong, as a person reads it: one sentence of cause, one of remedy, an exit code.

use std::fmt;

/// The exit codes with which the program ends by an error; `knobstat --help` lists them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done, but some runs failed.
    RunsFailed,
    /// The request is wrong.
    Request,
    /// A setting could not be put back.
    NotPutBack,
    /// The store or the disk failed.
    Disk,
    /// Another experiment runs on this machine.
    Busy,
    /// A program is there and cannot be executed.
    NotExecutable,
    /// A program is missing.
    Missing,
    /// A signal asked for the end.
    Signal(i32),
}

impl Exit {
    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::RunsFailed => 1,
            Self::Request => 2,
            Self::NotPutBack => 3,
            Self::Disk => 4,
            Self::Busy => 5,
            Self::NotExecutable => 126,
            Self::Missing => 127,
            Self::Signal(signal) => {
                u8::try_from(signal).map_or(u8::MAX, |signal| signal.saturating_add(128))
            }
        }
    }
}

/// Why the program ends without having done what it was asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The exit code.
    pub exit: Exit,
    /// One sentence of cause, or a rendered excerpt of an experiment file.
    pub cause: String,
    /// One sentence of remedy; empty where the cause says it.
    pub remedy: String,
}

impl Trouble {
    /// A trouble with its remedy.
    pub fn new(exit: Exit, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            exit,
            cause: cause.into(),
            remedy: remedy.into(),
        }
    }

    /// The request is wrong.
    pub fn request(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Exit::Request, cause, remedy)
    }

    /// The store or the disk failed.
    pub fn disk(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Exit::Disk, cause, remedy)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "knobstat: {}", self.cause.trim_end())?;
        if !self.remedy.is_empty() {
            write!(f, "\n  {}", self.remedy)?;
        }
        Ok(())
    }
}
