//! The scheduling priority of a workload.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How the scheduler is told to treat a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Priority {
    /// The ordinary policy with a nice value, -20 to 19.
    Nice(i8),
    /// SCHED_FIFO with a priority, 1 to 99.
    Fifo(u8),
}

/// Why a text is not a priority.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("\"{text}\" is not a priority: write \"nice:N\" (-20 to 19) or \"fifo:N\" (1 to 99)")]
pub struct PriorityError {
    /// The text as given.
    pub text: String,
}

impl FromStr for Priority {
    type Err = PriorityError;

    fn from_str(text: &str) -> Result<Self, PriorityError> {
        let error = || PriorityError {
            text: text.to_owned(),
        };
        match text.split_once(':').ok_or_else(error)? {
            ("nice", value) => value
                .parse()
                .ok()
                .filter(|nice| (-20..=19).contains(nice))
                .map(Self::Nice),
            ("fifo", value) => value
                .parse()
                .ok()
                .filter(|priority| (1..=99).contains(priority))
                .map(Self::Fifo),
            _ => None,
        }
        .ok_or_else(error)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nice(nice) => write!(f, "nice:{nice}"),
            Self::Fifo(priority) => write!(f, "fifo:{priority}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_keep_to_the_kernel_ranges() {
        assert_eq!("nice:-20".parse(), Ok(Priority::Nice(-20)));
        assert_eq!("fifo:99".parse(), Ok(Priority::Fifo(99)));
        for text in [
            "nice:20", "nice:-21", "fifo:0", "fifo:100", "rr:1", "5", "nice:", "fifo:x",
        ] {
            assert!(text.parse::<Priority>().is_err(), "{text}");
        }
    }
}
