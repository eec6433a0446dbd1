//! Levels and values that are missing from the comparison.

use knobstat_data::Record;
use knobstat_data::words::Treatment;

use super::Context;
use crate::analysis::Caveat;
use crate::observations::accepted;
use crate::phrase;

pub(super) fn check(context: &Context) -> Vec<Caveat> {
    let record = context.record;
    let mut caveats = Vec::new();
    if !record.omitted.is_empty() {
        let names: Vec<String> = record
            .omitted
            .iter()
            .map(|omission| format!("{}={}", omission.factor, omission.level))
            .collect();
        caveats.push(Caveat {
            kind: "omitted-levels",
            sentence: format!(
                "{} could not be had on this machine and {} left out; nothing here says how {} \
                 would have done.",
                phrase::list(&names, "and"),
                if names.len() == 1 { "was" } else { "were" },
                if names.len() == 1 { "it" } else { "they" },
            ),
        });
    }
    caveats.extend(combinations(record));
    let baseline = &record.experiment.analysis.baseline;
    let stand_ins = context
        .comparisons
        .iter()
        .filter(|comparison| !comparison.against.agrees_with(baseline))
        .count();
    if stand_ins > 0 {
        caveats.push(Caveat {
            kind: "baseline-omitted",
            sentence: format!(
                "The baseline, {}, was not measured everywhere: in {} the first treatment that \
                 was measured stands in for it.",
                phrase::list(&baseline.settings, "and"),
                phrase::count(stand_ins as u64, "comparison")
            ),
        });
    }
    let metric = &record.experiment.analysis.metric.name;
    let without = accepted(&record.plan, &record.attempts)
        .iter()
        .filter(|attempt| {
            attempt
                .result
                .metric(metric)
                .is_none_or(|found| !found.value.is_finite())
        })
        .count();
    if without > 0 {
        caveats.push(Caveat {
            kind: "values-missing",
            sentence: format!(
                "{} went well and yielded no {metric}; {} left out.",
                phrase::count(without as u64, "run"),
                if without == 1 { "it is" } else { "they are" },
            ),
        });
    }
    caveats
}

/// Treatments that the machine cannot take, though it has each of their levels.
fn combinations(record: &Record) -> Option<Caveat> {
    let excluded = record.experiment.design.exclude.iter();
    let of_the_file = |treatment: &Treatment| {
        let mut partial = excluded.clone();
        partial.any(|partial| treatment.agrees_with(partial))
    };
    let of_a_level = |treatment: &Treatment| {
        let mut omitted = record.omitted.iter();
        omitted.any(|omission| treatment.level(&omission.factor) == Some(&omission.level))
    };
    let mut struck: Vec<(&str, Vec<String>)> = Vec::new();
    for planned in &record.plan.treatments {
        let Some(reason) = &planned.omitted else {
            continue;
        };
        if of_the_file(&planned.treatment) || of_a_level(&planned.treatment) {
            continue;
        }
        let name = planned.treatment.to_string();
        match struck.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(name),
            None => struck.push((reason, vec![name])),
        }
    }
    if struck.is_empty() {
        return None;
    }
    let sentences: Vec<String> = struck
        .iter()
        .map(|(reason, names)| format!("{} ({reason})", phrase::list(names, "and")))
        .collect();
    Some(Caveat {
        kind: "omitted-combinations",
        sentence: format!(
            "Combinations of levels that could not be had on this machine were left out: {}.",
            sentences.join("; ")
        ),
    })
}
