//! Runs that failed or were broken off.

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
    caveats
}
