//! Where a source of numbers comes from, where that is known.

use knobstat_data::Record;

/// When and on which machine an experiment ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The experiment's id.
    pub experiment: String,
    /// When it began, in UTC.
    pub started: String,
    /// When its last run ended, once it is done.
    pub finished: Option<String>,
    /// The machine's stable identity.
    pub machine: String,
    /// The kernel's release.
    pub kernel: Option<String>,
}

impl Origin {
    /// The origin of a record's values.
    pub fn of(record: &Record) -> Self {
        Self {
            experiment: record.id.to_string(),
            started: record.started.to_string(),
            finished: record.finished.map(|moment| moment.to_string()),
            machine: record.machine.id.clone(),
            kernel: record.machine.kernel.clone(),
        }
    }

    /// When it ran, in words.
    pub(super) fn when(&self) -> String {
        match &self.finished {
            Some(finished) => format!("{} to {finished}", self.started),
            None => format!("since {}, unfinished", self.started),
        }
    }
}
