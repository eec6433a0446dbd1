//! How an experiment ended, and with which exit code.

use knobstat_data::Record;
use knobstat_data::messages::Restoration;
use knobstat_data::words::AttemptId;

use super::error::EngineError;

/// How an experiment ended, this time.
#[derive(Debug)]
pub struct Ended {
    /// The record as it stands.
    pub record: Record,
    /// How it ended, or what it was broken off by.
    pub result: Result<Finish, EngineError>,
    /// What became of the settings, over all sessions.
    pub restoration: Restoration,
    /// Why putting back could not be followed to its end, where the experiment had ended by
    /// another error already.
    pub restore_error: Option<EngineError>,
}

/// How an experiment ended where nothing went wrong with the carrying out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Everything was done.
    Complete {
        /// How many attempts failed.
        failed_runs: usize,
        /// How many steps after the last run of a treatment failed.
        failed_steps: usize,
    },
    /// A run failed, and the experiment asked to stop then.
    Stopped {
        /// The attempt that failed.
        failed: AttemptId,
    },
    /// A signal asked for an end; the same request continues.
    Interrupted {
        /// The signal's number.
        signal: i32,
    },
    /// The machine is rebooting; the same request continues.
    Suspended,
}

impl Ended {
    /// The exit code of the program.
    pub fn exit_code(&self) -> u8 {
        if !self.restoration.failed.is_empty() || self.restore_error.is_some() {
            return 3;
        }
        match &self.result {
            Ok(finish) => finish.exit_code(),
            Err(error) => error.exit_code(),
        }
    }
}

impl Finish {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Complete {
                failed_runs: 0,
                failed_steps: 0,
            }
            | Self::Suspended => 0,
            Self::Complete { .. } | Self::Stopped { .. } => 1,
            Self::Interrupted { signal } => {
                u8::try_from(*signal).map_or(u8::MAX, |signal| signal.saturating_add(128))
            }
        }
    }
}
