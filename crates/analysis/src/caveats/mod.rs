//! What a reader must know before believing a result: one kind of caveat a file.
//!
//! A further kind is a file with a `check` and a line in [`CHECKS`].

mod carry_over;
mod course;
mod design;
mod effects;
mod failures;
mod few_blocks;
mod limits;
mod machine;
mod omissions;
mod real_time;
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

/// One check: the caveats that it finds.
type Check = fn(&Context) -> Vec<Caveat>;

/// Every check, in the order in which their caveats are printed.
const CHECKS: [Check; 14] = [
    omissions::check,
    design::check,
    failures::check,
    limits::check,
    real_time::check,
    scale::check,
    few_blocks::check,
    course::check,
    carry_over::check,
    shape::check,
    taints::check,
    effects::check,
    stopwatch::check,
    machine::check,
];

/// The caveats of a record.
pub(crate) fn all(context: &Context) -> Vec<Caveat> {
    CHECKS.iter().flat_map(|check| check(context)).collect()
}
