//! Runs whose settings did not hold: how many, whose doing, and whether some treatments had more.

use std::collections::BTreeMap;

use knobstat_data::Outcome;

use super::Context;
use crate::analysis::Caveat;
use crate::phrase;

/// The chance below which unequal taint rates are no accident.
const UNLIKELY: f64 = 0.05;

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let tainted: usize = context.counts.iter().map(|count| count.tainted).sum();
    if tainted == 0 {
        return Vec::new();
    }
    let mut knobs: BTreeMap<&str, usize> = BTreeMap::new();
    let mut causes: Vec<&str> = Vec::new();
    for attempt in &context.record.attempts {
        if let (Outcome::Tainted(taints), None) = (&attempt.result.outcome, attempt.warmup) {
            for taint in taints {
                *knobs.entry(&taint.knob).or_default() += 1;
                if let Some(cause) = &taint.cause
                    && !causes.contains(&cause.as_str())
                {
                    causes.push(cause);
                }
            }
        }
    }
    let names: Vec<&str> = knobs.keys().copied().collect();
    let cause = if causes.is_empty() {
        String::new()
    } else {
        format!(" ({})", causes.join("; "))
    };
    let mut caveats = vec![Caveat {
        kind: "tainted-runs",
        sentence: format!(
            "In {} a setting did not hold: {}{cause}. {} left out and repeated where repeats \
             were left.",
            phrase::count(tainted as u64, "run"),
            phrase::list(&names, "and"),
            if tainted == 1 { "It is" } else { "They are" },
        ),
    }];
    caveats.extend(unequal(context));
    caveats
}

/// Whether one treatment had more than its share: the chance that the worst one has at least so
/// many of all taints, were each run as likely to be hit, times the number of treatments.
fn unequal(context: &Context) -> Option<Caveat> {
    let taking_part: Vec<(usize, usize, usize)> = context
        .counts
        .iter()
        .enumerate()
        .map(|(index, count)| (index, count.tainted, count.ok + count.tainted))
        .filter(|(_, _, runs)| *runs > 0)
        .collect();
    let all_tainted: usize = taking_part.iter().map(|(_, tainted, _)| tainted).sum();
    let all_runs: usize = taking_part.iter().map(|(_, _, runs)| runs).sum();
    if taking_part.len() < 2 {
        return None;
    }
    let (index, tainted, runs, chance) = taking_part
        .iter()
        .map(|(index, tainted, runs)| {
            let chance = at_least(*tainted, *runs, all_tainted, all_runs);
            (*index, *tainted, *runs, chance)
        })
        .min_by(|a, b| a.3.total_cmp(&b.3))?;
    (chance * taking_part.len() as f64 <= UNLIKELY).then(|| Caveat {
        kind: "unequal-taints",
        sentence: format!(
            "Settings did not hold more often in one treatment than in the others: in {tainted} \
             of {runs} runs of {}, against {} of {} elsewhere. The runs that are left of it may \
             be a selection.",
            context.record.plan.treatments[index].treatment,
            all_tainted - tainted,
            all_runs - runs,
        ),
    })
}

/// The chance of at least `hits` of `all_hits` falling on `cells` of `all_cells` (the
/// hypergeometric tail of Fisher's exact test).
fn at_least(hits: usize, cells: usize, all_hits: usize, all_cells: usize) -> f64 {
    let logarithm_of_choices = |n: usize, k: usize| -> f64 {
        (1..=k.min(n))
            .map(|i| ((n - k + i) as f64 / i as f64).ln())
            .sum()
    };
    (hits..=all_hits.min(cells))
        .filter(|hits| all_hits - hits <= all_cells - cells)
        .map(|hits| {
            (logarithm_of_choices(cells, hits)
                + logarithm_of_choices(all_cells - cells, all_hits - hits)
                - logarithm_of_choices(all_cells, all_hits))
            .exp()
        })
        .sum::<f64>()
        .min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_that_of_the_exact_test() {
        // Three of three hits among 4 of 8 cells: C(4,3) C(4,0) / C(8,3) = 4/56.
        assert!((at_least(3, 4, 3, 8) - 4.0 / 56.0).abs() < 1e-12);
        assert!((at_least(0, 4, 3, 8) - 1.0).abs() < 1e-12);
    }
}
