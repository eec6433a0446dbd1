//! Values that are not there: sets without a counterpart, places that were passed over, failed runs.

use super::{Looked, caveat, named, over_sets};
use crate::analysis::Caveat;
use crate::phrase;
use crate::samples::arrange::Arranged;

pub(super) fn unmatched(arranged: &Arranged) -> Option<Caveat> {
    if arranged.unmatched.is_empty() {
        return None;
    }
    let listed = named(&arranged.unmatched);
    caveat("unmatched", format!("Not compared: {listed}."))
}

pub(super) fn passed_over(sets: &[Looked]) -> Option<Caveat> {
    over_sets(
        sets,
        "passed-over",
        |looked| {
            let places = looked.set.series.passed_over;
            (places > 0).then(|| {
                let places = phrase::count(places as u64, "place");
                format!("{} ({places})", looked.name)
            })
        },
        |names| {
            format!(
                "Values are missing and were passed over: {names}. If those runs failed, what is left \
                 may be a selection."
            )
        },
    )
}

pub(super) fn notes(sets: &[Looked]) -> Vec<Caveat> {
    sets.iter()
        .flat_map(|looked| &looked.set.series.notes)
        .map(|note| Caveat {
            kind: "failed-runs",
            sentence: note.clone(),
        })
        .collect()
}
