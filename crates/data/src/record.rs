//! The record of an experiment: everything that the analysis and every export needs.

use serde::{Deserialize, Serialize};

use crate::words::{ExperimentId, Level, RequestId, UnixTime};
use crate::{Attempt, Experiment, Machine, Plan};

/// One experiment as it stands in the store: complete, self-contained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its identity.
    pub id: ExperimentId,
    /// What was asked for.
    pub request: RequestId,
    /// The experiment.
    pub experiment: Experiment,
    /// The file's text, as it was given.
    pub source: String,
    /// The machine that it ran on.
    pub machine: Machine,
    /// The plan, unavailable cells struck out.
    pub plan: Plan,
    /// Levels that this machine could not take.
    pub omitted: Vec<Omission>,
    /// When it began.
    pub started: UnixTime,
    /// When its last run ended, once it is done.
    pub finished: Option<UnixTime>,
    /// Every attempt, in the order of execution.
    pub attempts: Vec<Attempt>,
}

/// A level that was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omission {
    /// The factor.
    pub factor: String,
    /// The level.
    pub level: Level,
    /// Why this machine cannot take it.
    pub reason: String,
    /// What would make it available.
    pub remedy: Option<String>,
}
