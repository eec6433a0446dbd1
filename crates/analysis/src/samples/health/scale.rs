//! The step of the scale that values were read from.

use knobstat_stats::health::{Coarseness, granularity};
use knobstat_stats::summary::Moments;

use super::{Looked, caveat, over_sets};
use crate::analysis::Caveat;
use crate::phrase;
use crate::samples::findings::Comparison;

pub(super) fn on_scale(comparisons: &[Vec<Comparison>]) -> Option<Caveat> {
    let bounded = comparisons
        .iter()
        .flatten()
        .filter(|comparison| comparison.method.is_some_and(|method| method.is_on_scale()))
        .count();
    if bounded == 0 {
        return None;
    }
    caveat(
        "error-bounded-by-scale",
        format!(
            "In {} values vary less than the step of the scale that they were read from; the \
             error there is taken as the most that the scale could hide, and nothing finer than its \
             step is claimed.",
            phrase::count(bounded as u64, "comparison")
        ),
    )
}

/// Values that move in steps as coarse as their spread, whatever the step.
pub(super) fn coarse(sets: &[Looked]) -> Option<Caveat> {
    over_sets(
        sets,
        "coarse-scale",
        |looked| {
            let sd = Moments::of(&looked.sampled).ok()?.sd?;
            let found = granularity(&looked.sampled).ok()?;
            let step = found.step?;
            (found.n > found.distinct && found.against(sd, None) == Coarseness::CoarserThanSpread)
                .then(|| format!("{} (steps of {})", looked.name, phrase::short(step, 3)))
        },
        |names| {
            format!(
                "Values move in steps that are coarser than their spread, as those of a coarse \
                 clock do: {names}. Means and intervals are rough there."
            )
        },
    )
}
