//! What else differed between two treatments: evidence of other kinds than the metric.
//!
//! Shown as a hint at a cause, never as a verdict on the metric: differences within blocks, tested
//! as one family over all pieces of evidence that both treatments have.

use std::collections::BTreeMap;

use knobstat_data::experiment::Correction;
use knobstat_data::{Attempt, Unit};

use crate::family::adjust;
use crate::paired::{Looks, estimate};
use crate::phrase;
use crate::scale::decimal_step;

/// A change smaller than this share is not worth a line.
const WORTH_SAYING: f64 = 0.01;

/// No more than this many are shown.
const MOST: usize = 4;

/// A piece of evidence that differed.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceDifference {
    /// What was seen: `cpu.user_and_system`.
    pub key: String,
    /// Where it was seen.
    pub scope: String,
    /// The unit of both means.
    pub unit: Unit,
    /// The baseline's mean.
    pub baseline: f64,
    /// The treatment's mean.
    pub treatment: f64,
    /// The p-value of no difference, adjusted for all the evidence looked at.
    pub p_adjusted: f64,
}

/// Evidence of the accepted attempts of a treatment: block, key and scope to value.
type Seen<'a> = BTreeMap<(&'a str, &'a str), BTreeMap<usize, (f64, &'a Unit)>>;

fn seen<'a>(attempts: &[&'a Attempt], treatment: usize) -> Seen<'a> {
    let mut seen = Seen::new();
    for attempt in attempts {
        if attempt.treatment != treatment {
            continue;
        }
        for evidence in &attempt.result.evidence {
            if let Ok(value) = evidence.value
                && value.is_finite()
            {
                seen.entry((&evidence.key, &evidence.scope))
                    .or_default()
                    .insert(attempt.block, (value, &evidence.unit));
            }
        }
    }
    seen
}

/// The evidence that differs between two treatments, the surest first.
pub(crate) fn differing(
    attempts: &[&Attempt],
    treatment: usize,
    baseline: usize,
    alpha: f64,
) -> Vec<EvidenceDifference> {
    let (of_treatment, of_baseline) = (seen(attempts, treatment), seen(attempts, baseline));
    let mut candidates = Vec::new();
    for ((key, scope), values) in &of_treatment {
        let Some(others) = of_baseline.get(&(*key, *scope)) else {
            continue;
        };
        let (treated, base): (Vec<f64>, Vec<f64>) = values
            .iter()
            .filter_map(|(block, (value, _))| others.get(block).map(|(other, _)| (*value, *other)))
            .unzip();
        let step = decimal_step(treated.iter().chain(&base).copied());
        let (Ok(found), Some((_, unit))) = (
            estimate(&treated, &base, step, Looks::Once),
            values.values().next(),
        ) else {
            continue;
        };
        candidates.push((
            found.p(),
            EvidenceDifference {
                key: (*key).to_owned(),
                scope: (*scope).to_owned(),
                unit: (*unit).clone(),
                baseline: found.baseline_mean,
                treatment: found.treatment_mean,
                p_adjusted: 1.0,
            },
        ));
    }
    let p_values: Vec<Option<f64>> = candidates.iter().map(|(p, _)| Some(*p)).collect();
    let mut differing: Vec<EvidenceDifference> = candidates
        .into_iter()
        .zip(adjust(&p_values, Correction::Holm, alpha))
        .map(|((_, found), adjusted)| EvidenceDifference {
            p_adjusted: adjusted.p,
            ..found
        })
        .filter(|found| {
            let change = (found.treatment - found.baseline).abs();
            found.p_adjusted <= alpha && change > WORTH_SAYING * found.baseline.abs()
        })
        .collect();
    differing.sort_by(|a, b| a.p_adjusted.total_cmp(&b.p_adjusted));
    differing.truncate(MOST);
    differing
}

impl EvidenceDifference {
    /// "cpu.user_and_system 1.20 s instead of 1.50 s".
    pub fn words(&self) -> String {
        let scope = match self.scope.as_str() {
            "run" | "" => String::new(),
            scope => format!(" of {scope}"),
        };
        let unit = match self.unit.as_str() {
            "1" => String::new(),
            unit => format!(" {unit}"),
        };
        format!(
            "{}{scope} {}{unit} instead of {}{unit}",
            self.key,
            phrase::significant(self.treatment, 3),
            phrase::significant(self.baseline, 3)
        )
    }
}
