//! Where ranks cannot tell, were not asked, or say something else than the means.

use knobstat_stats::planning::smallest_reachable_n;

use super::{caveat, named};
use crate::analysis::Caveat;
use crate::samples::compare::Question;
use crate::samples::findings::Comparison;
use crate::samples::rank::MOST_VALUES;

/// Too few values for the rank test to reach the level, whatever it sees.
pub(super) fn few_values(comparisons: &[Vec<Comparison>], question: Question) -> Option<Caveat> {
    let all = || comparisons.iter().flatten();
    let level = question.confidence.alpha();
    let reachable = smallest_reachable_n(level, all().count().max(1)).ok()?;
    let needed = if question.paired {
        reachable.signed_rank
    } else {
        reachable.mann_whitney
    };
    let few = all()
        .filter(|comparison| {
            comparison.judged.p.is_some() && comparison.n.min(comparison.baseline_n) < needed
        })
        .count();
    if few == 0 {
        return None;
    }
    caveat(
        "few-values",
        format!(
            "{} on fewer than {needed} {}: too few for the rank test to reach the level, so that \
             the verdict rests on the t test, which takes the values to be about normal.",
            if few == 1 {
                "One comparison rests".to_owned()
            } else {
                format!("{few} comparisons rest")
            },
            if question.paired {
                "pairs"
            } else {
                "values of each"
            },
        ),
    )
}

pub(super) fn ranks_disagree(
    comparisons: &[Vec<Comparison>],
    question: Question,
) -> Option<Caveat> {
    let alpha = question.confidence.alpha();
    let mut finds = Vec::new();
    let mut misses = Vec::new();
    for comparison in comparisons.iter().flatten() {
        let (Some(p), Some(rank)) = (comparison.judged.p_adjusted, comparison.rank) else {
            continue;
        };
        let name = if comparison.at.is_empty() {
            comparison.set.clone()
        } else {
            format!("{} of {}", comparison.at, comparison.set)
        };
        match (p <= alpha, rank.p_adjusted <= alpha) {
            (false, true) => finds.push(name),
            // With few values the ranks cannot agree, which is said elsewhere.
            (true, false) if comparison.n.min(comparison.baseline_n) >= 8 => misses.push(name),
            _ => (),
        }
    }
    let mut parts = Vec::new();
    if !finds.is_empty() {
        parts.push(format!(
            "The rank test finds a difference where the test of the means does not: {}.",
            named(&finds)
        ));
    }
    if !misses.is_empty() {
        parts.push(format!(
            "The rank test finds no difference where the test of the means does: {}.",
            named(&misses)
        ));
    }
    if parts.is_empty() {
        return None;
    }
    parts.push("Look at the plot: a few far values may move the means.".to_owned());
    caveat("tests-disagree", parts.join(" "))
}

pub(super) fn many_values(comparisons: &[Vec<Comparison>]) -> Option<Caveat> {
    let many = comparisons
        .iter()
        .flatten()
        .any(|comparison| comparison.n + comparison.baseline_n > MOST_VALUES);
    if !many {
        return None;
    }
    caveat(
        "no-rank-test",
        format!("The rank test is left out where there are more than {MOST_VALUES} values."),
    )
}
