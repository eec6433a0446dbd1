//! Whether enough is known to stop: the question that is asked after every block of an
//! experiment with a stop rule.

use knobstat_data::{Attempt, Experiment, Plan};

use crate::analysis::{Comparison, Verdict};
use crate::comparisons::compare;
use crate::observations::values;

/// Whether these attempts are enough by the experiment's stop rule. Without a rule nothing is
/// ever enough, and the planned blocks decide.
///
/// With a half-width, every comparison's interval must be as narrow as that share of the
/// baseline's mean; with a margin, every comparison must be different, or equivalent within it;
/// with both, either will do for each comparison.
pub fn enough(experiment: &Experiment, plan: &Plan, attempts: &[Attempt]) -> bool {
    let Some(stop) = experiment.design.stop else {
        return false;
    };
    let values = values(plan, attempts, &experiment.analysis.metric.name);
    let comparisons = compare(experiment, plan, attempts, &values);
    let narrow = |comparison: &Comparison| {
        stop.half_width.is_some_and(|wanted| {
            comparison
                .percent_interval
                .is_some_and(|interval| interval.half_width() <= wanted.percent())
        })
    };
    let decided =
        |comparison: &Comparison| stop.margin.is_some() && comparison.verdict != Verdict::Undecided;
    !comparisons.is_empty()
        && comparisons
            .iter()
            .all(|comparison| narrow(comparison) || decided(comparison))
}
