//! Levels and values that are missing from the comparison.

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
