//! The plan: blocks, their boots, and the runs of each boot in their order.
//!
//! Drawn from a seed over the full factorial as written; cells that the machine cannot take are
//! struck out afterwards, so that the order of the rest is the same on every machine. Blocks are
//! not kept but drawn when they are asked for: each depends on the seed and its own index alone,
//! so a plan of ten million runs costs no more than its treatments, and further blocks (for
//! repeats, or because not enough is known yet) can be drawn without end.

mod boots;
mod factorial;
mod order;
mod random;

use serde::{Deserialize, Serialize};

use crate::Experiment;
use crate::experiment::{FactorKind, Order};
use crate::record::Omission;
use crate::words::{ExperimentId, RunId, Setting, Treatment};

pub use factorial::full_factorial;
pub use random::Generator;

/// What is to be run, in which order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The experiment whose plan it is; the identities of its runs come from it.
    pub experiment: ExperimentId,
    /// The seed that the order is drawn from.
    pub seed: u64,
    /// How many blocks are planned.
    pub replicates: u32,
    /// The order of the runs within a block.
    pub order: Order,
    /// How many warm-up runs precede each measured run.
    pub warmup_runs: u32,
    /// The factors whose change of level needs a reboot.
    pub boot_factors: Vec<String>,
    /// Every treatment of the factorial, in the order as written, the last factor fastest.
    pub treatments: Vec<PlannedTreatment>,
}

/// One treatment of the factorial and whether it takes part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTreatment {
    /// Its levels.
    pub treatment: Treatment,
    /// Why it does not take part: excluded by the file, or a level that the machine lacks.
    pub omitted: Option<String>,
}

/// One randomised pass over all treatments that take part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Its index, from 0.
    pub index: usize,
    /// Its boots, in order; one where nothing needs a reboot, none where no treatment takes part.
    pub boots: Vec<Boot>,
}

/// A stretch of runs between two reboots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boot {
    /// Its index within the block as drawn, from 0. Indices of boots that were struck out whole
    /// are missing, so that the identities of the other runs stay as they are.
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
    /// The index of its block.
    pub block: usize,
    /// The index of its boot within the block.
    pub boot: usize,
    /// The treatment's index in [`Plan::treatments`].
    pub treatment: usize,
    /// The index of a warm-up run; absent for a measured one.
    pub warmup: Option<u32>,
}

/// The plan of an experiment: its full factorial, what its file excludes left out, in the order
/// of the seed.
pub fn draw(experiment: &Experiment, id: &ExperimentId, seed: u64) -> Plan {
    let treatments = full_factorial(&experiment.factors)
        .into_iter()
        .map(|treatment| {
            let excluded = experiment
                .design
                .exclude
                .iter()
                .find(|partial| treatment.agrees_with(partial));
            PlannedTreatment {
                omitted: excluded
                    .map(|partial| format!("excluded by the experiment file ({partial})")),
                treatment,
            }
        })
        .collect();
    let boot_factors = experiment
        .factors
        .iter()
        .filter(|factor| matches!(factor.kind, FactorKind::Knob(scope) if scope.needs_boot()))
        .map(|factor| factor.name.clone())
        .collect();
    Plan {
        experiment: id.clone(),
        seed,
        replicates: experiment.design.replicates,
        order: experiment.design.order,
        warmup_runs: experiment.workload.warmup_runs,
        boot_factors,
        treatments,
    }
}

impl Plan {
    /// The block of this index, one of those planned or a further one.
    pub fn block(&self, index: usize) -> Block {
        let mut groups = boots::group_by_boot(
            self.treatments.iter().map(|planned| &planned.treatment),
            &self.boot_factors,
        );
        order::arrange(&mut groups, self.order, self.seed, index);
        let boots = groups
            .into_iter()
            .enumerate()
            .map(|(boot, group)| Boot {
                index: boot,
                settings: group.settings,
                runs: group
                    .treatments
                    .into_iter()
                    .filter(|&treatment| self.treatments[treatment].omitted.is_none())
                    .flat_map(|treatment| self.runs_of(index, boot, treatment))
                    .collect(),
            })
            .filter(|boot| !boot.runs.is_empty())
            .collect();
        Block { index, boots }
    }

    /// The warm-up runs of a cell and then its measured run.
    fn runs_of(
        &self,
        block: usize,
        boot: usize,
        treatment: usize,
    ) -> impl Iterator<Item = PlannedRun> + '_ {
        (0..self.warmup_runs)
            .map(Some)
            .chain([None])
            .map(move |warmup| PlannedRun {
                id: RunId::of(&self.experiment, block, boot, treatment, warmup),
                block,
                boot,
                treatment,
                warmup,
            })
    }

    /// The planned blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        (0..self.replicates as usize).map(|index| self.block(index))
    }

    /// The runs of the planned blocks, warm-up runs included, in order.
    pub fn runs(&self) -> impl Iterator<Item = PlannedRun> + '_ {
        self.blocks()
            .flat_map(|block| block.boots)
            .flat_map(|boot| boot.runs)
    }

    /// How many runs a block has, warm-up runs included.
    pub fn runs_per_block(&self) -> u64 {
        self.participating().count() as u64 * (u64::from(self.warmup_runs) + 1)
    }

    /// The treatments that take part, with their indices, in the order as written.
    pub fn participating(&self) -> impl Iterator<Item = (usize, &Treatment)> + '_ {
        self.treatments
            .iter()
            .enumerate()
            .filter(|(_, planned)| planned.omitted.is_none())
            .map(|(index, planned)| (index, &planned.treatment))
    }

    /// Strikes out every treatment that has one of these levels. What was left out already keeps
    /// its reason; the order of the rest stays as it was drawn.
    pub fn strike(&mut self, omissions: &[Omission]) {
        for planned in &mut self.treatments {
            if planned.omitted.is_some() {
                continue;
            }
            let lacking = omissions.iter().find(|omission| {
                planned.treatment.level(&omission.factor) == Some(&omission.level)
            });
            planned.omitted = lacking.map(|omission| {
                format!(
                    "{}={}: {}",
                    omission.factor, omission.level, omission.reason
                )
            });
        }
    }
}

#[cfg(test)]
mod tests;
