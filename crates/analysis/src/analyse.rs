//! The whole analysis of a record.

use std::collections::BTreeSet;

use knobstat_data::{Metric, Record};
use knobstat_stats::Confidence;
use knobstat_stats::summary::{Summary, mean_interval};

use crate::analysis::{Analysis, MetricFindings, TreatmentFindings};
use crate::observations::{Observed, counts, metrics, values};
use crate::{caveats, censoring, comparisons, factorial, phrase, recommend, stop};

/// Analyses an experiment as far as it has got.
pub fn analyse(record: &Record) -> Analysis {
    let metrics = metrics(record);
    let chosen = record.experiment.analysis.metric.clone();
    let confidence = Confidence::percent(record.experiment.analysis.confidence.percent())
        .unwrap_or(Confidence::PERCENT_95);
    let per_metric: Vec<Vec<Vec<Observed>>> = metrics
        .iter()
        .map(|metric| values(&record.plan, &record.attempts, &metric.name))
        .collect();
    let of_chosen = &per_metric[0];
    let counts = counts(record);

    let treatments = record
        .plan
        .treatments
        .iter()
        .enumerate()
        .filter(|(_, planned)| planned.omitted.is_none())
        .map(|(index, planned)| TreatmentFindings {
            index,
            treatment: planned.treatment.clone(),
            metrics: metrics
                .iter()
                .zip(&per_metric)
                .map(|(metric, values)| describe(metric, &values[index], confidence))
                .collect(),
            runs: counts[index],
        })
        .collect();
    let blocks = of_chosen
        .iter()
        .flatten()
        .map(|observed| observed.block)
        .collect::<BTreeSet<usize>>()
        .len();
    let comparisons = comparisons::compare(
        &record.experiment,
        &record.plan,
        &record.attempts,
        of_chosen,
    );
    let recommendation = recommend::recommend(record, of_chosen);
    let effects = factorial::effects(record, of_chosen, &recommendation);
    Analysis {
        confidence_percent: confidence.as_percent(),
        blocks,
        treatments,
        judged_by: comparisons::error_in_words(&comparisons),
        stopped: stop::stopped(record, blocks, &comparisons),
        recommendation,
        caveats: caveats::all(&caveats::Context {
            record,
            values: of_chosen,
            counts: &counts,
            comparisons: &comparisons,
            effects_untested: effects.untested.as_deref(),
        }),
        effects: effects.tested,
        comparisons,
        metric: chosen,
    }
}

/// What was seen of one metric in one treatment.
fn describe(metric: &Metric, observations: &[Observed], confidence: Confidence) -> MetricFindings {
    let values: Vec<f64> = observations.iter().map(|observed| observed.value).collect();
    let summary = Summary::of(&values);
    // Equal values say nothing of the error of their mean.
    let interval = mean_interval(&values, confidence).filter(|interval| interval.width() > 0.0);
    let limited_by = censoring::limit(observations);
    let granularity = observations
        .iter()
        .filter_map(|observed| observed.granularity)
        .reduce(f64::max);
    let note = match (&summary, values.len()) {
        (_, 0) => Some("no value".to_owned()),
        (None, _) => Some("the values are too large to be summed".to_owned()),
        (Some(_), 1) => Some("one value has no spread".to_owned()),
        (Some(summary), _) if summary.sd == Some(0.0) => Some(match granularity {
            Some(step) => format!(
                "the values agree to the step of the scale, {} {}",
                phrase::significant(step, 2),
                metric.unit
            ),
            None => "all values are equal".to_owned(),
        }),
        _ => limited_by.map(|limit| {
            format!(
                "{} of {} runs limited, mostly by the {}",
                censoring::limited(observations),
                observations.len(),
                limit.word()
            )
        }),
    };
    MetricFindings {
        metric: metric.clone(),
        observations: observations.to_vec(),
        summary,
        interval,
        note,
        limited_by,
        granularity,
    }
}
