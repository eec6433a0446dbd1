//! The cells of the factorial that the workload itself cannot take on this machine: which
//! parameters each has, and what becomes of those that the target says are lacking.

use std::collections::BTreeMap;

use knobstat_data::experiment::FactorKind;
use knobstat_data::messages::{LackingCell, WantedWorkload};
use knobstat_data::plan::{self, Plan};
use knobstat_data::record::Omission;
use knobstat_data::words::{Level, Treatment};
use knobstat_data::{Experiment, Parameters, Value};

use super::error::EngineError;

/// The different parameters that the treatments of an experiment have, and who has which.
#[derive(Default)]
pub(super) struct Cells {
    distinct: Vec<Parameters>,
    /// Each treatment that the file does not exclude, with the index of its parameters.
    treatments: Vec<(Treatment, usize)>,
}

impl Cells {
    /// The cells of an experiment; none where the workload's parameters are texts with
    /// placeholders, of which only running them tells.
    pub(super) fn of(experiment: &Experiment) -> Result<Self, EngineError> {
        let mut cells = Self {
            distinct: Vec::new(),
            treatments: Vec::new(),
        };
        if !experiment.workload.templates.is_empty() {
            return Ok(cells);
        }
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for treatment in plan::full_factorial(&experiment.factors) {
            let mut excluded = experiment.design.exclude.iter();
            if excluded.any(|partial| treatment.agrees_with(partial)) {
                continue;
            }
            let parameters = experiment.parameters_for(&treatment)?;
            let index = *known.entry(format!("{parameters:?}")).or_insert_with(|| {
                cells.distinct.push(parameters);
                cells.distinct.len() - 1
            });
            cells.treatments.push((treatment, index));
        }
        Ok(cells)
    }

    /// What a target is asked of them.
    pub(super) fn wanted(&self, kind: &str) -> WantedWorkload {
        WantedWorkload {
            kind: kind.to_owned(),
            cells: self.distinct.clone(),
        }
    }

    /// The levels that no treatment can have, where each that has it is lacking; and, where
    /// nothing at all can be had, the parameters that are to blame.
    pub(super) fn omissions(
        &self,
        experiment: &Experiment,
        lacking: &[LackingCell],
    ) -> Vec<Omission> {
        let lack_of = |index: usize| lacking.iter().find(|cell| cell.index == index);
        let parameters = experiment
            .factors
            .iter()
            .filter(|factor| factor.kind == FactorKind::Parameter);
        let mut omissions = Vec::new();
        for factor in parameters {
            for level in &factor.levels {
                let mut having = self
                    .treatments
                    .iter()
                    .filter(|(treatment, _)| treatment.level(&factor.name) == Some(level))
                    .map(|(_, index)| lack_of(*index));
                let Some(Some(first)) = having.next() else {
                    continue;
                };
                if first.parameter == factor.name
                    && having.all(|lack| lack.is_some_and(|lack| lack.parameter == factor.name))
                {
                    omissions.push(omission(first, level.clone()));
                }
            }
        }
        let is_lacking = |(_, index): &(Treatment, usize)| lack_of(*index).is_some();
        if omissions.is_empty() && self.treatments.iter().all(is_lacking) {
            omissions.extend(lacking.first().map(|first| {
                let given = self.distinct.get(first.index);
                let value = given.and_then(|parameters| parameters.get(&first.parameter));
                let level = match value {
                    Some(value) => level_of(value),
                    None if first.parameter == "kind" => Level::text(&experiment.workload.kind),
                    None => Level::text("unset"),
                };
                omission(first, level)
            }));
        }
        omissions
    }

    /// Strikes out each treatment that is lacking and not struck yet.
    pub(super) fn strike(&self, plan: &mut Plan, lacking: &[LackingCell]) {
        for cell in lacking {
            for (treatment, _) in self
                .treatments
                .iter()
                .filter(|(_, index)| *index == cell.index)
            {
                let planned = plan
                    .treatments
                    .iter_mut()
                    .find(|planned| planned.treatment == *treatment);
                if let Some(planned) = planned {
                    planned.omitted.get_or_insert_with(|| cell.reason.clone());
                }
            }
        }
    }
}

/// A parameter's value, as its author may have written it.
fn level_of(value: &Value) -> Level {
    match value {
        Value::Text(text) => Level::text(text.clone()),
        Value::Integer(whole) => Level::Integer(*whole),
        Value::Size(size) => Level::text(size.0.to_string()),
        other => Level::text(format!("{other:?}")),
    }
}

fn omission(cell: &LackingCell, level: Level) -> Omission {
    Omission {
        factor: cell.parameter.clone(),
        level,
        reason: cell.reason.clone(),
        remedy: cell.remedy.clone(),
    }
}
