//! Comparisons whose error is bounded by the scale and not measured.

use super::Context;
use crate::analysis::{Caveat, Method};
use crate::phrase;

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let bounded = context
        .comparisons
        .iter()
        .filter(|comparison| comparison.method == Some(Method::PairedTOnScale))
        .count();
    if bounded == 0 {
        return Vec::new();
    }
    vec![Caveat {
        kind: "error-bounded-by-scale",
        sentence: format!(
            "In {} the repeats vary less than the step of the scale that they were read from; \
             the error there is taken as the most that the scale could hide, and nothing finer \
             than its step is claimed.",
            phrase::count(bounded as u64, "comparison")
        ),
    }]
}
