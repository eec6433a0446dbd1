//! Single runs that something other than the thing under test held down.

use super::Context;
use crate::analysis::Caveat;
use crate::{censoring, phrase};

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let single: usize = context
        .values
        .iter()
        .filter(|cell| censoring::limit(cell).is_none())
        .map(|cell| censoring::limited(cell))
        .sum();
    if single == 0 {
        return Vec::new();
    }
    vec![Caveat {
        kind: "limited-runs",
        sentence: format!(
            "{} in treatments that were not limited otherwise {} held down by the link, the \
             receiver or the pacer; {} as measured, and {} mean may be too low.",
            phrase::count(single as u64, "run"),
            if single == 1 { "was" } else { "were" },
            if single == 1 {
                "it counts"
            } else {
                "they count"
            },
            if single == 1 { "its" } else { "their" },
        ),
    }]
}
