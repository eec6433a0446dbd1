//! Runs that failed or were broken off.

use knobstat_data::observation::{BOOT_NOTE, Failure, Outcome};

use super::Context;
use crate::analysis::Caveat;
use crate::phrase;

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let failed: usize = context.counts.iter().map(|count| count.failed).sum();
    let mut caveats = Vec::new();
    if failed > 0 {
        let where_: Vec<String> = context
            .record
            .plan
            .treatments
            .iter()
            .zip(context.counts)
            .filter(|(_, count)| count.failed > 0)
            .map(|(planned, count)| format!("{} of {}", count.failed, planned.treatment))
            .collect();
        caveats.push(Caveat {
            kind: "failed-runs",
            sentence: format!(
                "{} failed ({}); what the others show may not hold for {}.",
                phrase::count(failed as u64, "run"),
                phrase::list(&where_, "and"),
                if failed == 1 { "it" } else { "them" },
            ),
        });
    }
    caveats.extend(boots(context));
    caveats
}

/// Boots that did not come up, and runs that the machine went away in: by the last reason heard.
fn boots(context: &Context) -> Option<Caveat> {
    let attempts = &context.record.attempts;
    let tried_again: usize = attempts
        .iter()
        .flat_map(|attempt| &attempt.result.notes)
        .filter(|note| note.starts_with(BOOT_NOTE))
        .count();
    let mut failed: u64 = 0;
    let mut last = None;
    for attempt in attempts {
        if let Outcome::Failed(Failure::Boot { reason }) = &attempt.result.outcome {
            failed += 1;
            last = Some(reason);
        }
    }
    if tried_again == 0 && failed == 0 {
        return None;
    }
    let of_runs = match last {
        Some(reason) => format!(
            "; {} had no boot in the end and {} left out of the comparison: {reason}",
            phrase::count(failed, "run"),
            if failed == 1 { "is" } else { "are" }
        ),
        None => String::new(),
    };
    Some(Caveat {
        kind: "failed-boots",
        sentence: format!(
            "The machine did not come up, or went away, {}{of_runs}.",
            match tried_again {
                1 => "once".to_owned(),
                times => format!("{times} times"),
            }
        ),
    })
}
