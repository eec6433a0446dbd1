//! What else differed between two treatments: evidence of other kinds than the metric.
//!
//! Shown as a hint at a cause, never as a verdict on the metric: differences within blocks, tested
//! as one family over all pieces of evidence and all comparisons. Many pieces of evidence differ
//! with every real effect, and few say why: what merely restates the metric, or tells of the
//! harness and of the machine's other load, is left out, and what can be a cause comes first.

use std::collections::BTreeMap;

use knobstat_data::experiment::Correction;
use knobstat_data::{Attempt, Unit};

use crate::family::adjust;
use crate::paired::{Looks, estimate};
use crate::phrase;
use crate::scale::decimal_step;

/// A change smaller than this share is not worth a line.
const WORTH_SAYING: f64 = 0.05;

/// No more than this many are shown.
const MOST: usize = 3;

/// Evidence that changes by the metric's own factor, or its inverse, to within this share of the
/// change restates it: the timer interrupts of a run that is 10 % shorter are 10 % fewer.
const RESTATES: f64 = 0.25;

/// Evidence whose names begin so can be a cause.
const CAUSES: [&str; 14] = [
    "frequency",
    "temperature",
    "throttle",
    "energy",
    "power",
    "idle.",
    "interrupts.",
    "softirqs.",
    "context_switches.",
    "migrations",
    "faults.",
    "cache",
    "instructions",
    "perf.",
];

/// Evidence whose names begin so tells of the harness, of other load, or of how something was
/// measured.
const NO_HINTS: [&str; 7] = [
    "harness.",
    "run_queue.",
    "pressure.",
    "cpu.stolen",
    "cpu.split_step",
    "cpu.number",
    "memory.peak_at_most",
];

fn begins_with_one_of(key: &str, beginnings: &[&str]) -> bool {
    beginnings
        .iter()
        .any(|beginning| key.starts_with(beginning))
}

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

/// Evidence on how the measuring went. It is no cause of anything, and each piece of it would
/// make the others harder to tell from chance.
const ON_THE_MEASURING: [&str; 5] = ["stopwatch.", "clock.", "evidence.", "harness.", "output."];

/// Evidence of the accepted attempts of a treatment: block, key and scope to value.
type Seen<'a> = BTreeMap<(&'a str, &'a str), BTreeMap<usize, (f64, &'a Unit)>>;

fn seen<'a>(attempts: &[&'a Attempt], treatment: usize) -> Seen<'a> {
    let mut seen = Seen::new();
    for attempt in attempts {
        if attempt.treatment != treatment {
            continue;
        }
        for evidence in &attempt.result.evidence {
            let key = &evidence.key;
            if ON_THE_MEASURING
                .iter()
                .any(|prefix| key.starts_with(prefix))
            {
                continue;
            }
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

/// How many times larger one number is than another, as a logarithm without a sign; endless where
/// only one of them is zero.
fn change(of: f64, against: f64) -> f64 {
    if of == against {
        0.0
    } else {
        let change = (of / against).abs().ln().abs();
        if change.is_nan() { 0.0 } else { change }
    }
}

/// What is looked for.
pub(crate) struct Search {
    /// The means of the metric, of the treatment and of its baseline.
    pub(crate) metric: Option<(f64, f64)>,
    /// The error rate over all evidence and all comparisons.
    pub(crate) alpha: f64,
    /// How many comparisons there are.
    pub(crate) comparisons: usize,
}

impl Search {
    fn restates(&self, found: &EvidenceDifference) -> bool {
        let of_evidence = change(found.treatment, found.baseline);
        self.metric.is_some_and(|(treatment, baseline)| {
            let of_metric = change(treatment, baseline);
            (of_evidence - of_metric).abs() <= RESTATES * of_metric
        })
    }
}

/// The evidence that differs between two treatments: what can be a cause first, then the larger
/// change; each piece once, where it differs most.
pub(crate) fn differing(
    attempts: &[&Attempt],
    treatment: usize,
    baseline: usize,
    search: &Search,
) -> Vec<EvidenceDifference> {
    let (of_treatment, of_baseline) = (seen(attempts, treatment), seen(attempts, baseline));
    let mut candidates = Vec::new();
    for ((key, scope), values) in &of_treatment {
        let Some(others) = of_baseline.get(&(*key, *scope)) else {
            continue;
        };
        if begins_with_one_of(key, &NO_HINTS) {
            continue;
        }
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
        .zip(adjust(&p_values, Correction::Holm, search.alpha))
        .map(|((_, found), adjusted)| EvidenceDifference {
            p_adjusted: (adjusted.p * search.comparisons as f64).min(1.0),
            ..found
        })
        .filter(|found| {
            found.p_adjusted <= search.alpha
                && change(found.treatment, found.baseline) > WORTH_SAYING.ln_1p()
                && !search.restates(found)
        })
        .collect();
    let rank = |found: &EvidenceDifference| !begins_with_one_of(&found.key, &CAUSES);
    differing.sort_by(|a, b| {
        let change = |found: &EvidenceDifference| change(found.treatment, found.baseline);
        rank(a)
            .cmp(&rank(b))
            .then(change(b).total_cmp(&change(a)))
            .then_with(|| (&a.key, &a.scope).cmp(&(&b.key, &b.scope)))
    });
    let mut named: Vec<String> = Vec::new();
    differing.retain(|found| {
        let is_new = !named.contains(&found.key);
        named.push(found.key.clone());
        is_new
    });
    differing
}

/// The first few, without those that a cause tells already.
pub(crate) fn foremost(
    mut differing: Vec<EvidenceDifference>,
    is_told: impl Fn(&str) -> bool,
) -> Vec<EvidenceDifference> {
    differing.retain(|found| !is_told(&found.key));
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

#[cfg(test)]
mod tests {
    use super::*;
    use knobstat_data::observation::RunResult;
    use knobstat_data::words::{AttemptId, ExperimentId, RequestId, RunId, UnixTime};
    use knobstat_data::{Evidence, Outcome};

    /// Attempts of two treatments in six blocks, each with this evidence: key, scope, the baseline's
    /// value and the treatment's.
    fn found(evidence: &[(&str, &str, f64, f64)]) -> Vec<String> {
        let experiment = ExperimentId::of(&RequestId::of("a", "b"), [0; 16]);
        let mut attempts = Vec::new();
        for block in 0..6 {
            for treatment in 0..2 {
                let wobble = [0.99, 1.0, 1.005, 0.998, 1.002, 0.995][(block + treatment) % 6];
                let mut result = RunResult::bare(Outcome::Ok);
                result.evidence = evidence
                    .iter()
                    .map(|(key, scope, of_baseline, of_treatment)| Evidence {
                        key: (*key).to_owned(),
                        scope: (*scope).to_owned(),
                        unit: Unit::COUNT,
                        value: Ok(wobble
                            * if treatment == 0 {
                                of_baseline
                            } else {
                                of_treatment
                            }),
                    })
                    .collect();
                attempts.push(Attempt {
                    id: AttemptId::from_random([0; 16]),
                    run: RunId::of(&experiment, block, 0, treatment, None),
                    block,
                    boot: 0,
                    treatment,
                    warmup: None,
                    sequence: 0,
                    started: UnixTime(0),
                    finished: UnixTime(1),
                    result,
                });
            }
        }
        let attempts: Vec<&Attempt> = attempts.iter().collect();
        let search = Search {
            metric: Some((90.0, 100.0)),
            alpha: 0.05,
            comparisons: 1,
        };
        foremost(differing(&attempts, 1, 0, &search), |key| {
            key == "pacer.waits"
        })
        .into_iter()
        .map(|found| format!("{} of {}", found.key, found.scope))
        .collect()
    }

    #[test]
    fn causes_come_before_consequences_and_no_more_than_three() {
        let shown = found(&[
            ("cpu.user_and_system", "run", 100.0, 50.0),
            ("frequency", "cpu0", 2900.0, 3500.0),
            ("frequency", "cpu1", 2900.0, 3400.0),
            ("idle.C6.time", "cpu1", 0.5, 2.5),
            ("interrupts.timer", "cpu1", 1000.0, 250.0),
            ("packets", "run", 10.0, 90.0),
        ]);
        assert_eq!(
            shown,
            [
                "idle.C6.time of cpu1",
                "interrupts.timer of cpu1",
                "frequency of cpu0"
            ]
        );
    }

    #[test]
    fn what_restates_the_metric_or_tells_of_other_load_is_left_out() {
        // The metric is 10 % lower: so is what grows with the time, and its inverse higher.
        let shown = found(&[
            ("interrupts.timer", "cpu0", 1000.0, 900.0),
            ("requests_per_second", "run", 90.0, 100.0),
            ("run_queue.slices", "leader", 10.0, 20.0),
            ("pressure.cpu.some", "machine", 10.0, 20.0),
            ("harness.context_switches", "agent", 2.0, 4.0),
            ("pacer.waits", "sender", 10.0, 20.0),
            ("faults.minor", "run", 1000.0, 1030.0),
            ("context_switches.voluntary", "run", 100.0, 300.0),
        ]);
        assert_eq!(shown, ["context_switches.voluntary of run"]);
    }
}
