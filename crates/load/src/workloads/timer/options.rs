//! What a survey of the timers is asked for.

use std::time::Duration;

use knobstat_data::Parameters;

use super::super::survey::Wanted;
use crate::parameters::{self, ParameterError};

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::workloads) struct Options {
    /// What every survey is asked for; the interval is from one wake-up to the next.
    pub wanted: Wanted,
    /// The timer slack; absent: as it is.
    pub timer_slack: Option<Duration>,
}

impl Options {
    /// What the parameters ask for.
    ///
    /// # Errors
    /// As [`Wanted::read`] says.
    pub(in crate::workloads) fn read(from: &Parameters) -> Result<Self, ParameterError> {
        Ok(Self {
            wanted: Wanted::read(from)?,
            timer_slack: parameters::duration(from, "timer_slack")?,
        })
    }
}
