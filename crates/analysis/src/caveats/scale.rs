//! Comparisons whose error is bounded by the scale and not measured, and differences that are finer
//! than the scale.

use knobstat_stats::health::{Coarseness, granularity};

use super::Context;
use crate::analysis::{Caveat, Comparison, Method};
use crate::phrase;
use crate::verdict::Verdict;

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let bounded = context
        .comparisons
        .iter()
        .filter(|comparison| comparison.method == Some(Method::PairedTOnScale))
        .count();
    if bounded > 0 {
        caveats.push(Caveat {
            kind: "error-bounded-by-scale",
            sentence: format!(
                "In {} the repeats vary less than the step of the scale that they were read from; \
                 the error there is taken as the most that the scale could hide, and nothing finer \
                 than its step is claimed.",
                phrase::count(bounded as u64, "comparison")
            ),
        });
    }
    let finer = context
        .comparisons
        .iter()
        .filter(|comparison| is_finer_than_its_scale(context, comparison))
        .count();
    if finer > 0 {
        caveats.push(Caveat {
            kind: "finer-than-scale",
            sentence: format!(
                "In {} the difference is smaller than the step in which the values move: it is one \
                 of averages, which no single run shows. A finer clock or a longer workload would \
                 show it.",
                phrase::count(finer as u64, "comparison")
            ),
        });
    }
    caveats
}

/// Whether a difference that was found is smaller than the step in which the values of both cells
/// plainly move.
fn is_finer_than_its_scale(context: &Context, comparison: &Comparison) -> bool {
    let (Verdict::Different, Some(difference)) =
        (comparison.judged.verdict, comparison.judged.difference)
    else {
        return false;
    };
    let cells = [comparison.treatment, comparison.baseline];
    let observed = cells.iter().flat_map(|cell| &context.values[*cell]);
    let values: Vec<f64> = observed.clone().map(|seen| seen.value).collect();
    let known = observed
        .filter_map(|seen| seen.granularity)
        .reduce(f64::max);
    match known {
        Some(step) => step > difference.abs(),
        None => granularity(&values).is_ok_and(|seen| {
            seen.against(f64::INFINITY, Some(difference)) == Coarseness::CoarserThanEffect
        }),
    }
}
