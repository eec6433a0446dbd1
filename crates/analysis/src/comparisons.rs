//! Every comparison of an experiment, judged as one family.

use knobstat_data::words::Setting;
use knobstat_data::{Metric, Record, Treatment};
use knobstat_stats::{Confidence, Degenerate};

use crate::analysis::Comparison;
use crate::censoring::{self, Censored};
use crate::elsewhere::differing as differing_evidence;
use crate::family::{Pair, adjust, pairs};
use crate::observations::{Observed, accepted, pair};
use crate::paired::{Estimate, estimate};
use crate::verdict::{Evidence, judge};
use crate::{scale, self_timed};

/// What is known of one pair before its family is looked at.
pub(crate) struct Tested {
    pub(crate) pair: Pair,
    /// Blocks that have both.
    pub(crate) common: usize,
    pub(crate) estimate: Result<Estimate, Degenerate>,
    pub(crate) censored: Option<Censored>,
    /// The step of the scale of both cells.
    pub(crate) step: Option<f64>,
}

/// Tests one pair of treatments on the values of all.
pub(crate) fn test(pair_: Pair, values: &[Vec<Observed>], metric: &Metric) -> Tested {
    let empty: &[Observed] = &[];
    let cell = |index: usize| values.get(index).map_or(empty, Vec::as_slice);
    let (treatment, baseline) = (cell(pair_.treatment), cell(pair_.baseline));
    let common = pair(treatment, baseline);
    let (of_treatment, of_baseline): (Vec<f64>, Vec<f64>) = common
        .iter()
        .map(|(treatment, baseline)| (treatment.value, baseline.value))
        .unzip();
    let step = scale::step(&[treatment, baseline]);
    let estimate = estimate(&of_treatment, &of_baseline, step);
    let difference = estimate
        .as_ref()
        .map_or(0.0, |estimate| estimate.difference);
    Tested {
        pair: pair_,
        common: common.len(),
        censored: censoring::censored(
            censoring::limit(treatment),
            censoring::limit(baseline),
            difference,
            metric.better,
        ),
        estimate,
        step,
    }
}

/// Judges every treatment against its baseline.
pub(crate) fn compare(record: &Record, values: &[Vec<Observed>]) -> Vec<Comparison> {
    let choice = &record.experiment.analysis;
    let metric = &choice.metric;
    let alpha = 1.0 - choice.confidence.0;
    let margin = margin(record);
    let self_timed = self_timed::forbids_verdict(&record.experiment, metric);
    let tested: Vec<Tested> = pairs(&record.plan.treatments, &choice.baseline)
        .into_iter()
        .map(|pair| test(pair, values, metric))
        .collect();
    let p_values: Vec<Option<f64>> = tested
        .iter()
        .map(|tested| tested.estimate.as_ref().ok().map(Estimate::p))
        .collect();
    let equivalence_p_values: Vec<Option<f64>> = tested
        .iter()
        .map(|tested| {
            let estimate = tested.estimate.as_ref().ok()?;
            let margin = margin? * estimate.baseline_mean.abs() - known_step(tested, values);
            Some(estimate.p_of_not_within(margin))
        })
        .collect();
    let adjusted = adjust(&p_values, choice.correction, alpha);
    let equivalence = adjust(&equivalence_p_values, choice.correction, alpha);
    let family = tested.len();
    let attempts = accepted(record);

    tested
        .iter()
        .enumerate()
        .map(|(place, tested)| {
            let of = |index: usize| &record.plan.treatments[index].treatment;
            let (levels, against) = (of(tested.pair.treatment), of(tested.pair.baseline));
            let differs =
                |setting: &&Setting| against.level(&setting.factor) != Some(&setting.level);
            let differing = Treatment::new(levels.settings.iter().filter(differs).cloned());
            let factors: Vec<&str> = differing
                .settings
                .iter()
                .map(|setting| setting.factor.as_str())
                .collect();
            let differing_baseline = Treatment::new(
                against
                    .settings
                    .iter()
                    .filter(|setting| factors.contains(&setting.factor.as_str()))
                    .cloned(),
            );
            let held = levels.without(&factors);
            let adjusted = adjusted[place];
            let confidence =
                Confidence::from_alpha(adjusted.alpha).unwrap_or(Confidence::PERCENT_95);
            let estimate = tested.estimate.as_ref().ok();
            let interval = estimate.and_then(|estimate| estimate.interval(confidence));
            let percent_interval =
                estimate.and_then(|estimate| estimate.percent_interval(confidence));
            let judged = judge(&Evidence {
                metric,
                held: &held,
                differing: &differing,
                differing_baseline: &differing_baseline,
                values: (
                    values[tested.pair.treatment].len(),
                    values[tested.pair.baseline].len(),
                    tested.common,
                ),
                estimate: &tested.estimate,
                adjusted,
                equivalence: equivalence_p_values[place].map(|_| equivalence[place].p),
                margin,
                alpha,
                family,
                interval,
                percent_interval,
                censored: tested.censored,
                step: tested.step,
                self_timed,
            });
            Comparison {
                metric: metric.name.clone(),
                treatment: tested.pair.treatment,
                baseline: tested.pair.baseline,
                levels: levels.clone(),
                against: against.clone(),
                differing,
                differing_baseline,
                held,
                pairs: tested.common,
                difference: estimate
                    .map(|estimate| estimate.difference)
                    .or_else(|| single_difference(tested, values)),
                percent: estimate.and_then(Estimate::percent),
                interval,
                percent_interval,
                confidence_percent: confidence.as_percent(),
                p: estimate.filter(|_| self_timed.is_none()).map(Estimate::p),
                p_adjusted: estimate
                    .filter(|_| self_timed.is_none())
                    .map(|_| adjusted.p),
                family,
                method: estimate.map(|estimate| estimate.method),
                verdict: judged.verdict,
                better: judged.better,
                sentence: judged.sentence,
                more_blocks: judged.more_blocks,
                both_limited: match tested.censored {
                    Some(both @ Censored::Both(..)) => Some(both.words()),
                    _ => None,
                },
                cause: None,
                also_differs: differing_evidence(
                    &attempts,
                    tested.pair.treatment,
                    tested.pair.baseline,
                    alpha,
                ),
            }
        })
        .collect()
}

/// The margin of equivalence, as a share of the baseline's mean.
pub(crate) fn margin(record: &Record) -> Option<f64> {
    record
        .experiment
        .analysis
        .margin
        .or(record.experiment.design.stop.and_then(|stop| stop.margin))
        .map(|margin| margin.0)
}

/// The step of a clock that either cell is known to be read from: reading a value off it moves
/// the value by up to one step, which no repetition reveals, so that equivalence is asked within
/// a margin narrowed by it. Zero where the estimate has allowed for it already.
fn known_step(tested: &Tested, values: &[Vec<Observed>]) -> f64 {
    let allowed_for = tested
        .estimate
        .as_ref()
        .is_ok_and(|estimate| estimate.shift > 0.0);
    if allowed_for {
        return 0.0;
    }
    [tested.pair.treatment, tested.pair.baseline]
        .iter()
        .flat_map(|cell| &values[*cell])
        .filter_map(|observed| observed.granularity)
        .fold(0.0, f64::max)
}

/// The difference in the only block that has both.
fn single_difference(tested: &Tested, values: &[Vec<Observed>]) -> Option<f64> {
    match pair(
        &values[tested.pair.treatment],
        &values[tested.pair.baseline],
    )
    .as_slice()
    {
        [(treatment, baseline)] => {
            Some(treatment.value - baseline.value).filter(|difference| difference.is_finite())
        }
        _ => None,
    }
}
