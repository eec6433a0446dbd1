//! From a record and its analysis to the report.

use std::collections::HashSet;

use serde::Serialize;

use knobstat_analysis::{
    Analysis, Choice, Comparison, Effect, EvidenceDifference, EvidenceRow, MetricFindings,
    SimpleEffect, TreatmentFindings, observations,
};
use knobstat_data::experiment::FactorKind;
use knobstat_data::record::Omission;
use knobstat_data::words::{Setting, sha256};
use knobstat_data::{Metric, Record, Treatment};

use crate::report::{
    AttemptRow, CaveatPart, ChoicePart, ComparisonPart, EffectPart, Ends, EvidencePart,
    EvidenceRowPart, ExperimentPart, FactorPart, Levels, MetricPart, OmissionPart,
    RecommendationPart, Report, RunsPart, SCHEMA, SimplePart, StopPart, TreatmentPart,
};

impl Report {
    /// The report of a record and its analysis.
    pub fn of(record: &Record, analysis: &Analysis) -> Self {
        let choice = &record.experiment.analysis;
        Self {
            schema: SCHEMA,
            experiment: ExperimentPart {
                id: record.id.to_string(),
                name: record.experiment.name.clone(),
                description: record.experiment.description.clone(),
                tags: record.experiment.tags.clone(),
                seed: record.plan.seed,
                started: record.started.to_string(),
                finished: record.finished.map(|finished| finished.to_string()),
                file_sha256: sha256(&record.source),
                workload: record.experiment.workload.kind.clone(),
                metric: analysis.metric.name.clone(),
                unit: analysis.metric.unit.to_string(),
                better: analysis.metric.better.to_string(),
                baseline: Levels(choice.baseline.clone()),
                confidence: analysis.confidence_percent,
                margin: choice.margin.map(|margin| margin.percent()),
                correction: word_of(&choice.correction),
                order: word_of(&record.experiment.design.order),
                planned_blocks: record.plan.replicates,
                blocks: analysis.blocks,
                judged_by: analysis.judged_by.clone(),
                stop: stop(record, analysis),
            },
            machine: record.machine.clone(),
            factors: record
                .experiment
                .factors
                .iter()
                .map(|factor| FactorPart {
                    name: factor.name.clone(),
                    kind: match factor.kind {
                        FactorKind::Knob(_) => "knob",
                        FactorKind::Parameter => "parameter",
                        FactorKind::Placeholder => "placeholder",
                    },
                    levels: factor.levels.clone(),
                })
                .collect(),
            treatments: analysis.treatments.iter().map(treatment).collect(),
            comparisons: analysis.comparisons.iter().map(comparison).collect(),
            effects: analysis.effects.iter().map(effect).collect(),
            recommendation: RecommendationPart {
                sentence: analysis.recommendation.sentence.clone(),
                choices: analysis.recommendation.choices.iter().map(choose).collect(),
            },
            omitted: record.omitted.iter().map(omission).collect(),
            caveats: analysis
                .caveats
                .iter()
                .map(|caveat| CaveatPart {
                    kind: caveat.kind,
                    sentence: caveat.sentence.clone(),
                })
                .collect(),
            evidence: None,
            attempts: attempts(record),
        }
    }

    /// The same with the evidence of the record, side by side by treatment.
    #[must_use]
    pub fn with_evidence(mut self, record: &Record) -> Self {
        let row = |row: EvidenceRow| EvidenceRowPart {
            key: row.key,
            scope: row.scope,
            unit: row.unit.to_string(),
            means: row.means,
            reason: row.reason,
            combined: row.combined,
        };
        self.evidence = Some(
            knobstat_analysis::evidence(record)
                .into_iter()
                .map(row)
                .collect(),
        );
        self
    }
}

/// The word by which a choice is written in an experiment file.
fn word_of<T: Serialize>(choice: &T) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

fn stop(record: &Record, analysis: &Analysis) -> Option<StopPart> {
    let rule = record.experiment.design.stop?;
    let stopped = analysis.stopped.as_ref();
    Some(StopPart {
        half_width: rule.half_width.map(|share| share.percent()),
        margin: rule.margin.map(|share| share.percent()),
        min_blocks: rule.min_replicates,
        max_blocks: rule.max_replicates,
        reason: stopped.map(|stopped| stopped.reason.word()),
        sentence: stopped.map(|stopped| stopped.sentence.clone()),
    })
}

fn treatment(found: &TreatmentFindings) -> TreatmentPart {
    TreatmentPart {
        levels: Levels(found.treatment.clone()),
        metrics: found.metrics.iter().map(metric).collect(),
        runs: RunsPart {
            ok: found.runs.ok,
            tainted: found.runs.tainted,
            failed: found.runs.failed,
            interrupted: found.runs.interrupted,
        },
    }
}

fn metric(found: &MetricFindings) -> MetricPart {
    let Metric {
        name,
        unit,
        better,
        self_timed,
    } = &found.metric;
    let summary = found.summary.as_ref();
    MetricPart {
        name: name.clone(),
        unit: unit.to_string(),
        better: better.to_string(),
        n: found.observations.len(),
        values: found.observations.iter().map(|seen| seen.value).collect(),
        blocks: found.observations.iter().map(|seen| seen.block).collect(),
        mean: summary.map(|summary| summary.mean),
        median: summary.map(|summary| summary.median),
        sd: summary.and_then(|summary| summary.sd),
        min: summary.map(|summary| summary.min),
        max: summary.map(|summary| summary.max),
        interval: Ends::of(found.interval),
        limited_by: found.limited_by,
        granularity: found.granularity,
        self_timed: *self_timed,
        note: found.note.clone(),
    }
}

fn comparison(found: &Comparison) -> ComparisonPart {
    ComparisonPart {
        metric: found.metric.clone(),
        levels: Levels(found.levels.clone()),
        baseline: Levels(found.against.clone()),
        pairs: found.pairs,
        difference: found.judged.difference,
        percent: found.judged.percent,
        interval: Ends::of(found.judged.interval),
        percent_interval: Ends::of(found.judged.percent_interval),
        interval_confidence: found.judged.confidence_percent,
        p: found.judged.p,
        p_adjusted: found.judged.p_adjusted,
        family: found.judged.family,
        method: found.method.map(|method| method.word()),
        verdict: found.judged.verdict.word(),
        better: found.judged.better,
        sentence: found.judged.sentence.clone(),
        more_blocks: found.judged.more,
        cause: found.cause.clone(),
        also_differs: found.also_differs.iter().map(evidence).collect(),
        differing: Levels(found.differing.clone()),
        held: Levels(found.held.clone()),
    }
}

fn evidence(found: &EvidenceDifference) -> EvidencePart {
    EvidencePart {
        key: found.key.clone(),
        scope: found.scope.clone(),
        unit: found.unit.to_string(),
        baseline: found.baseline,
        treatment: found.treatment,
        p_adjusted: found.p_adjusted,
        sentence: found.words(),
    }
}

fn effect(found: &Effect) -> EffectPart {
    EffectPart {
        factors: found.factors.clone(),
        kind: if found.factors.len() == 1 {
            "main"
        } else {
            "interaction"
        },
        metric: found.metric.clone(),
        f: found.f,
        df: found.degrees_of_freedom,
        error_df: found.error_degrees_of_freedom,
        p: found.p,
        p_adjusted: found.p_adjusted,
        found: found.found,
        sentence: found.sentence.clone(),
        simple: found.simple.iter().map(simple).collect(),
        simple_sentences: found.simple_in_words.clone(),
    }
}

fn simple(found: &SimpleEffect) -> SimplePart {
    let levels = |setting: &Setting| Levels(Treatment::new([setting.clone()]));
    SimplePart {
        at: levels(&found.at),
        from: levels(&found.from),
        to: levels(&found.to),
        difference: found.difference,
        percent: found.percent,
        interval: Ends::of(found.interval),
        percent_interval: Ends::of(found.percent_interval),
    }
}

fn choose(choice: &Choice) -> ChoicePart {
    ChoicePart {
        at: Levels(choice.at.clone()),
        best: choice.best.clone().map(Levels),
        candidates: choice.candidates.iter().cloned().map(Levels).collect(),
        p_adjusted: choice.p_adjusted,
        sentence: choice.sentence.clone(),
    }
}

fn omission(omission: &Omission) -> OmissionPart {
    OmissionPart {
        factor: omission.factor.clone(),
        level: omission.level.clone(),
        reason: omission.reason.clone(),
        remedy: omission.remedy.clone(),
    }
}

fn attempts(record: &Record) -> Vec<AttemptRow> {
    let accepted: HashSet<_> = observations::accepted(&record.plan, &record.attempts)
        .into_iter()
        .map(|attempt| &attempt.id)
        .collect();
    record
        .attempts
        .iter()
        .map(|attempt| {
            let treatment = record
                .plan
                .treatments
                .get(attempt.treatment)
                .map(|planned| planned.treatment.clone())
                .unwrap_or_default();
            AttemptRow {
                id: attempt.id.to_string(),
                run: attempt.run.to_string(),
                block: attempt.block,
                boot: attempt.boot,
                sequence: attempt.sequence,
                warmup: attempt.warmup,
                started: attempt.started.to_string(),
                levels: Levels(treatment),
                outcome: attempt.result.outcome.word(),
                accepted: accepted.contains(&attempt.id),
                values: attempt
                    .result
                    .metrics
                    .iter()
                    .map(|found| {
                        (
                            found.metric.name.clone(),
                            found.metric.unit.to_string(),
                            found.value,
                            found.limited_by,
                        )
                    })
                    .collect(),
            }
        })
        .collect()
}
