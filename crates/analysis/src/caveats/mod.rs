//! What a reader must know before believing a result: one kind of caveat a file.
//!
//! A further kind is a file with a `check` and a line in [`CHECKS`].

mod carry_over;
mod design;
mod drift;
mod failures;
mod limits;
mod machine;
mod omissions;
mod scale;
mod shape;
mod stopwatch;
mod taints;

use knobstat_data::Record;

use crate::analysis::{Caveat, Comparison, RunCounts};
use crate::observations::Observed;

/// What a check may look at.
pub(crate) struct Context<'a> {
    /// The record.
    pub(crate) record: &'a Record,
    /// The accepted values of the metric of the verdicts, by treatment of the plan.
    pub(crate) values: &'a [Vec<Observed>],
    /// Attempts by outcome, by treatment of the plan.
    pub(crate) counts: &'a [RunCounts],
    /// The comparisons, judged.
    pub(crate) comparisons: &'a [Comparison],
    /// Why main effects and interactions were not tested, where they were not.
    pub(crate) effects_untested: Option<&'a str>,
}

/// A health check speaks when what it saw has at most this probability in a healthy experiment.
const SURPRISING: f64 = 0.01;

/// A value's distance from its treatment's mean, as a share of that mean.
struct Residual {
    sequence: u64,
    share: f64,
}

/// What the treatments leave unexplained, in the order of execution.
fn residuals(values: &[Vec<Observed>]) -> Vec<Residual> {
    let mut residuals: Vec<Residual> = values
        .iter()
        .flat_map(|cell| {
            let mean = cell.iter().map(|observed| observed.value).sum::<f64>() / cell.len() as f64;
            cell.iter().map(move |observed| Residual {
                sequence: observed.sequence,
                share: (observed.value - mean) / mean.abs(),
            })
        })
        .filter(|residual| residual.share.is_finite())
        .collect();
    residuals.sort_by_key(|residual| residual.sequence);
    residuals
}

/// One check: the caveats that it finds.
type Check = fn(&Context) -> Vec<Caveat>;

/// Every check, in the order in which their caveats are printed.
const CHECKS: [Check; 11] = [
    omissions::check,
    design::check,
    failures::check,
    limits::check,
    scale::check,
    drift::check,
    carry_over::check,
    shape::check,
    taints::check,
    stopwatch::check,
    machine::check,
];

/// The caveats of a record.
pub(crate) fn all(context: &Context) -> Vec<Caveat> {
    CHECKS.iter().flat_map(|check| check(context)).collect()
}
