//! The plan: blocks, their boots, and the runs of each boot in their order.

use serde::{Deserialize, Serialize};

use crate::words::{RunId, Setting, Treatment};

/// What is to be run, in which order. Drawn from a seed over the full factorial as written;
/// cells that the machine cannot take are struck out afterwards, so that the order of the rest
/// is the same on every machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The seed that the order was drawn from.
    pub seed: u64,
    /// Every treatment of the factorial, in the order as written, the last factor fastest.
    pub treatments: Vec<PlannedTreatment>,
    /// The blocks that were planned. Further blocks are drawn when they are needed.
    pub blocks: Vec<Block>,
}

/// One treatment of the factorial and whether it takes part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTreatment {
    /// Its levels.
    pub treatment: Treatment,
    /// Why it does not take part: excluded by the file, or a level that the machine lacks.
    pub omitted: Option<String>,
}

/// One randomised pass over all treatments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Its index, from 0.
    pub index: usize,
    /// Its boots, in order; one where nothing needs a reboot.
    pub boots: Vec<Boot>,
}

/// A stretch of runs between two reboots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boot {
    /// Its index within the block, from 0.
    pub index: usize,
    /// The settings that this boot has; empty where nothing needs a reboot.
    pub settings: Vec<Setting>,
    /// Its runs, in order.
    pub runs: Vec<PlannedRun>,
}

/// A planned cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// Its identity, known before anything has run.
    pub id: RunId,
    /// The treatment's index in [`Plan::treatments`].
    pub treatment: usize,
    /// The index of a warm-up run; absent for a measured one.
    pub warmup: Option<u32>,
}
