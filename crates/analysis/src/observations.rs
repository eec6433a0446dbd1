//! Which attempts count, and the values that they gave.

use std::collections::{BTreeMap, HashSet};

use knobstat_data::observation::Limit;
use knobstat_data::{Attempt, Metric, Outcome, Plan, Record, RunId};

use crate::analysis::RunCounts;

/// One accepted value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// Its block.
    pub block: usize,
    /// Its place in the order of execution.
    pub sequence: u64,
    /// The value; finite.
    pub value: f64,
    /// What held it down.
    pub limited_by: Option<Limit>,
    /// The step of its scale, where the workload or the stopwatch knows it.
    pub granularity: Option<f64>,
}

/// The accepted attempts: the first good one of every measured run, in the order of execution.
pub fn accepted<'a>(plan: &Plan, attempts: &'a [Attempt]) -> Vec<&'a Attempt> {
    let mut in_order: Vec<&Attempt> = attempts
        .iter()
        .filter(|attempt| attempt.is_observation() && attempt.treatment < plan.treatments.len())
        .collect();
    in_order.sort_by_key(|attempt| attempt.sequence);
    let mut seen: HashSet<&RunId> = HashSet::new();
    // A run has one cell; that no cell has two observations is made sure of all the same, since
    // records may be imported.
    let mut cells: HashSet<(usize, usize)> = HashSet::new();
    in_order.retain(|attempt| {
        seen.insert(&attempt.run) && cells.insert((attempt.block, attempt.treatment))
    });
    in_order
}

/// Every metric of a record: the metric of the verdicts first, as the experiment wants it, then
/// the workload's others, then whatever else the attempts hold.
pub fn metrics(record: &Record) -> Vec<Metric> {
    let chosen = &record.experiment.analysis.metric;
    let mut metrics = vec![chosen.clone()];
    let further = record
        .attempts
        .iter()
        .flat_map(|attempt| &attempt.result.metrics)
        .map(|value| &value.metric);
    for metric in record.experiment.workload.metrics.iter().chain(further) {
        if metrics.iter().all(|known| known.name != metric.name) {
            metrics.push(metric.clone());
        }
    }
    metrics
}

/// The accepted values of one metric, for each treatment of the plan, in the order of the blocks.
/// Values that are no finite numbers are left out.
pub fn values(plan: &Plan, attempts: &[Attempt], metric: &str) -> Vec<Vec<Observed>> {
    let mut values = vec![Vec::new(); plan.treatments.len()];
    for attempt in accepted(plan, attempts) {
        if let (Some(found), Some(of_treatment)) = (
            attempt.result.metric(metric),
            values.get_mut(attempt.treatment),
        ) && found.value.is_finite()
        {
            of_treatment.push(Observed {
                block: attempt.block,
                sequence: attempt.sequence,
                value: found.value,
                limited_by: found.limited_by,
                granularity: found
                    .granularity
                    .filter(|step| step.is_finite() && *step > 0.0),
            });
        }
    }
    for of_treatment in &mut values {
        of_treatment.sort_by_key(|observed: &Observed| observed.block);
    }
    values
}

/// What became of the measured attempts of every treatment of the plan.
pub fn counts(record: &Record) -> Vec<RunCounts> {
    let mut counts = vec![RunCounts::default(); record.plan.treatments.len()];
    let measured = record
        .attempts
        .iter()
        .filter(|attempt| attempt.warmup.is_none());
    for attempt in measured {
        if let Some(count) = counts.get_mut(attempt.treatment) {
            match attempt.result.outcome {
                Outcome::Ok => count.ok += 1,
                Outcome::Tainted(_) => count.tainted += 1,
                Outcome::Failed(_) => count.failed += 1,
                Outcome::Interrupted => count.interrupted += 1,
            }
        }
    }
    counts
}

/// The values of two treatments in the blocks that have both: (treatment, baseline).
pub fn pair(treatment: &[Observed], baseline: &[Observed]) -> Vec<(Observed, Observed)> {
    let by_block: BTreeMap<usize, &Observed> = baseline
        .iter()
        .map(|observed| (observed.block, observed))
        .collect();
    treatment
        .iter()
        .filter_map(|observed| {
            by_block
                .get(&observed.block)
                .map(|baseline| (*observed, **baseline))
        })
        .collect()
}
