//! Whether the treatment that ran just before explains part of a result.
//!
//! A hot machine, a full cache or a governor that lags hands something of one run to the next.
//! The values are explained by block, treatment and the treatment of the run before; the last of
//! these should explain nothing.

use std::collections::BTreeMap;

use knobstat_stats::anova::{Model, Observations, SumsOfSquares, Term, anova};

use super::{Context, SURPRISING};
use crate::analysis::Caveat;
use crate::phrase;

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    carried_over(context).map_or_else(Vec::new, |p| {
        vec![Caveat {
            kind: "carry-over",
            sentence: format!(
                "The treatment that ran just before explains part of a result (p = {}): \
                 something is handed from one run to the next, such as heat or a lagging \
                 governor. A longer settle, cool_below or warm-up runs would help.",
                phrase::probability(p)
            ),
        }]
    })
}

/// The p-value of the treatment before, where it is surprisingly small.
fn carried_over(context: &Context) -> Option<f64> {
    // The measured run before, whatever became of it: it ran all the same.
    let mut in_order: Vec<(u64, usize)> = context
        .record
        .attempts
        .iter()
        .filter(|attempt| attempt.warmup.is_none())
        .map(|attempt| (attempt.sequence, attempt.treatment))
        .collect();
    in_order.sort_unstable();
    let before: BTreeMap<u64, usize> = in_order
        .windows(2)
        .map(|pair| (pair[1].0, pair[0].1))
        .collect();
    let mut rows: Vec<(usize, usize, usize, f64)> = Vec::new();
    for (treatment, cell) in context.values.iter().enumerate() {
        for observed in cell {
            if let Some(previous) = before.get(&observed.sequence) {
                rows.push((treatment, *previous, observed.block, observed.value));
            }
        }
    }
    let column = |of: fn(&(usize, usize, usize, f64)) -> usize| {
        let mut known: Vec<usize> = rows.iter().map(of).collect();
        known.sort_unstable();
        known.dedup();
        rows.iter()
            .map(|row| known.binary_search(&of(row)).unwrap_or(0))
            .collect::<Vec<usize>>()
    };
    let values: Vec<f64> = rows.iter().map(|row| row.3).collect();
    let observations = Observations::new(vec![column(|row| row.0), column(|row| row.1)], &values);
    let model = Model::up_to_order(2, 1);
    let found = anova(
        &observations.ok()?,
        &model.ok()?,
        Some(&column(|row| row.2)),
        SumsOfSquares::Two,
    );
    let p = found.ok()?.term(Term::of(&[1]))?.p;
    (p <= SURPRISING).then_some(p)
}
