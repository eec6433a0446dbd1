//! Whether the comparisons have blocks enough for "undecided" to mean anything.

use knobstat_stats::distributions::{Probability, StudentT};

use super::Context;
use crate::analysis::{Caveat, Method};
use crate::phrase;
use crate::verdict::Verdict;

/// A difference of so many times its own spread between blocks is more than most effects are.
const MUCH: f64 = 5.0;

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let mut comparisons = context.comparisons.iter();
    if comparisons.all(|one| one.judged.verdict != Verdict::Undecided) {
        return Vec::new();
    }
    let own_error = context
        .comparisons
        .iter()
        .filter(|one| matches!(one.method, Some(Method::PairedT | Method::PairedTOnScale)));
    let Some(fewest) = own_error.map(|one| one.pairs).min() else {
        return Vec::new();
    };
    let family = context.comparisons.len();
    let alpha = 1.0 - context.record.experiment.analysis.confidence.0;
    let Some(needed) = needed(fewest, alpha / family as f64) else {
        return Vec::new();
    };
    let spreads = needed / (fewest as f64).sqrt();
    if spreads <= MUCH {
        return Vec::new();
    }
    vec![Caveat {
        kind: "few-blocks",
        sentence: format!(
            "With {} and {} only differences of more than {} times their own spread between \
             blocks can be told (|t| > {}): what is undecided here may well differ. More \
             replicates would help most.",
            phrase::count(fewest as u64, "block"),
            phrase::count(family as u64, "comparison"),
            phrase::significant(spreads, 2),
            phrase::significant(needed, 3)
        ),
    }]
}

/// The |t| that the first verdict takes.
fn needed(blocks: usize, alpha: f64) -> Option<f64> {
    let tail = Probability::new(alpha / 2.0).ok()?;
    let t = StudentT::new(blocks.checked_sub(1)? as f64).ok()?;
    Some(t.upper_quantile(tail))
}
