//! Every comparison of an experiment, judged as one family.

use knobstat_data::experiment::Correction;
use knobstat_data::{Attempt, Experiment, Metric, Plan};
use knobstat_stats::Degenerate;

use crate::analysis::{Comparison, Method};
use crate::censoring::{self, Censored};
use crate::contrast::{Contrast, Counts, no_estimate};
use crate::family::{self, Adjusted, Pair, adjust};
use crate::observations::{Observed, accepted, pair};
use crate::paired::{Estimate, Looks, estimate};
use crate::pooled::{PooledError, pool};
use crate::simultaneous::{self, Group, Simultaneous};
use crate::verdict::{self, BLOCKS, Evidence, equivalences};
use crate::{cause, elsewhere, phrase, scale, self_timed};

/// What is known of one pair before its family is looked at.
pub(crate) struct Tested {
    pub(crate) pair: Pair,
    /// Blocks that have both.
    pub(crate) common: usize,
    pub(crate) estimate: Result<Estimate, Degenerate>,
    pub(crate) censored: Option<Censored>,
}

/// Tests one pair of treatments on the values of all.
pub(crate) fn test(pair_: Pair, values: &[Vec<Observed>], metric: &Metric, looks: Looks) -> Tested {
    let empty: &[Observed] = &[];
    let cell = |index: usize| values.get(index).map_or(empty, Vec::as_slice);
    let (treatment, baseline) = (cell(pair_.treatment), cell(pair_.baseline));
    let common = pair(treatment, baseline);
    let (of_treatment, of_baseline): (Vec<f64>, Vec<f64>) = common
        .iter()
        .map(|(treatment, baseline)| (treatment.value, baseline.value))
        .unzip();
    let step = scale::step(&[treatment, baseline]);
    let estimate = estimate(&of_treatment, &of_baseline, step, looks);
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
    }
}

/// Judges every treatment against its baseline.
pub(crate) fn compare(
    experiment: &Experiment,
    plan: &Plan,
    attempts: &[Attempt],
    values: &[Vec<Observed>],
) -> Vec<Comparison> {
    let choice = &experiment.analysis;
    let alpha = 1.0 - choice.confidence.0;
    let mut tested: Vec<Tested> = family::of(experiment, plan)
        .into_iter()
        .map(|pair| test(pair, values, &choice.metric, looks(experiment)))
        .collect();
    let adjusted = match simultaneously(experiment, plan, values, &mut tested, alpha) {
        Some(adjusted) => adjusted,
        None => {
            pool_where_it_holds(plan, values, &mut tested);
            let p_values: Vec<Option<f64>> = tested
                .iter()
                .map(|tested| tested.estimate.as_ref().ok().map(Estimate::p))
                .collect();
            adjust(&p_values, choice.correction, alpha)
        }
    };
    let family = verdict::Family {
        alpha,
        margin: margin(experiment),
        size: tested.len(),
    };
    let equivalences = equivalences(
        tested
            .iter()
            .map(|tested| (tested.estimate.as_ref().ok(), known_step(tested, values))),
        family.margin,
        choice.correction,
        alpha,
    );
    let context = Context {
        metric: &choice.metric,
        plan,
        values,
        attempts: accepted(plan, attempts),
        family,
        self_timed: self_timed::forbids_verdict(experiment, &choice.metric),
    };
    tested
        .iter()
        .zip(adjusted)
        .zip(equivalences)
        .map(|((tested, adjusted), equivalence)| context.judge(tested, adjusted, equivalence))
        .collect()
}

/// Puts one error for all treatments in the place of every comparison's own where its assumptions
/// pass their checks.
fn pool_where_it_holds(plan: &Plan, values: &[Vec<Observed>], tested: &mut [Tested]) {
    let cells: Vec<&[Observed]> = plan
        .participating()
        .map(|(index, _)| values[index].as_slice())
        .collect();
    let Some(error) = pool(&cells).filter(PooledError::passes) else {
        return;
    };
    for one in tested {
        if let Ok(estimate) = &one.estimate
            && estimate.method == Method::PairedT
            && error.covers(estimate)
        {
            let pooled = estimate.clone().with_pooled_error(
                error.sd,
                error.degrees_of_freedom,
                Method::PooledT,
            );
            one.estimate = pooled.or(one.estimate.clone());
        }
    }
}

/// Dunnett's or Tukey's test where the experiment asks for one: puts one error for all in the
/// place of every comparison's own, and adjusts. None where it asks for neither or the test
/// cannot be made: with a look after every block, or without blocks that have all treatments of a
/// group.
fn simultaneously(
    experiment: &Experiment,
    plan: &Plan,
    values: &[Vec<Observed>],
    tested: &mut [Tested],
    alpha: f64,
) -> Option<Vec<Adjusted>> {
    let (test, method) = match experiment.analysis.correction {
        Correction::Dunnett => (Simultaneous::Dunnett, Method::Dunnett),
        Correction::Tukey => (Simultaneous::Tukey, Method::Tukey),
        Correction::Holm | Correction::BenjaminiHochberg | Correction::None => return None,
    };
    if looks(experiment) == Looks::EveryBlock {
        return None;
    }
    let groups = family::groups(&plan.treatments, &experiment.analysis.baseline)
        .into_iter()
        .filter(|members| members.len() > 1)
        .map(|members| {
            let cells: Vec<&[Observed]> = members
                .iter()
                .map(|index| values[*index].as_slice())
                .collect();
            Some(Group {
                error: pool(&cells)?,
                members,
            })
        })
        .collect::<Option<Vec<Group>>>()?;
    let pooled: Vec<Result<Estimate, Degenerate>> = tested
        .iter()
        .map(|one| {
            let group = groups
                .iter()
                .find(|group| group.members.contains(&one.pair.treatment));
            match (&one.estimate, group) {
                (Ok(estimate), Some(group)) => estimate.clone().with_pooled_error(
                    group.error.sd,
                    group.error.degrees_of_freedom,
                    method,
                ),
                (other, _) => other.clone(),
            }
        })
        .collect();
    let comparisons: Vec<(Pair, Option<&Estimate>)> = tested
        .iter()
        .zip(&pooled)
        .map(|(one, estimate)| (one.pair, estimate.as_ref().ok()))
        .collect();
    let adjusted = simultaneous::adjust(test, &groups, &comparisons, alpha)?;
    for (one, estimate) in tested.iter_mut().zip(pooled) {
        one.estimate = estimate;
    }
    Some(adjusted)
}

/// Which error the comparisons were judged by, in a sentence.
pub(crate) fn error_in_words(comparisons: &[Comparison]) -> Option<String> {
    let judged = comparisons.iter().filter_map(|one| one.method);
    let pooled = judged
        .clone()
        .filter(|method| *method == Method::PooledT)
        .count();
    let all = judged.clone().count();
    let sentence = match judged.clone().next()? {
        Method::EveryBlock => {
            "Each comparison is judged by the spread of its own differences within blocks, by \
             evidence that holds at every look."
        }
        Method::Dunnett => {
            "Dunnett's test: one error for all treatments that share a baseline, from an analysis \
             of variance with blocks."
        }
        Method::Tukey => {
            "Tukey's test of all pairs: one error for all treatments that are compared, from an \
             analysis of variance with blocks."
        }
        _ if pooled == all => {
            "The treatments vary alike, so each comparison is judged by one error pooled over all."
        }
        _ if pooled > 0 => {
            return Some(format!(
                "The treatments vary alike, so {pooled} of {} {} judged by one error pooled over \
                 all, and the rest, whose differences vary more than it says, by their own.",
                phrase::count(all as u64, "comparison"),
                if pooled == 1 { "is" } else { "are" }
            ));
        }
        _ => "Each comparison is judged by the spread of its own differences within blocks.",
    };
    Some(sentence.to_owned())
}

/// What all comparisons of an experiment share.
struct Context<'a> {
    metric: &'a Metric,
    plan: &'a Plan,
    values: &'a [Vec<Observed>],
    attempts: Vec<&'a Attempt>,
    family: verdict::Family,
    self_timed: Option<&'a str>,
}

impl Context<'_> {
    fn judge(&self, tested: &Tested, adjusted: Adjusted, equivalence: Option<f64>) -> Comparison {
        let Pair {
            treatment,
            baseline,
        } = tested.pair;
        let of = |index: usize| &self.plan.treatments[index].treatment;
        let contrast = Contrast::of(of(treatment), of(baseline));
        let names = contrast.names(self.metric);
        let estimate = tested.estimate.as_ref();
        let counts = Counts {
            treatment: self.values[treatment].len(),
            baseline: self.values[baseline].len(),
            common: tested.common,
        };
        let evidence = Evidence {
            estimate: estimate.map_err(|reason| no_estimate(&names, &counts, reason)),
            names,
            idiom: &BLOCKS,
            direction: Some(self.metric.better),
            adjusted,
            equivalence,
            censored: tested.censored,
            self_timed: self.self_timed,
            family: self.family,
        };
        let mut judged = evidence.judge(single_difference(tested, self.values));
        judged.sentence = phrase::capitalised(&judged.sentence);
        let cause = cause::cause(
            &self.attempts,
            (treatment, &contrast.differing),
            (baseline, &contrast.differing_baseline),
        );
        let estimate = estimate.ok();
        Comparison {
            metric: self.metric.name.clone(),
            treatment,
            baseline,
            levels: of(treatment).clone(),
            against: of(baseline).clone(),
            pairs: tested.common,
            judged,
            method: estimate.map(|estimate| estimate.method),
            both_limited: match tested.censored {
                Some(both @ Censored::Both(..)) => Some(both.words()),
                _ => None,
            },
            also_differs: elsewhere::foremost(
                elsewhere::differing(
                    &self.attempts,
                    treatment,
                    baseline,
                    &elsewhere::Search {
                        metric: estimate
                            .map(|estimate| (estimate.treatment_mean, estimate.baseline_mean)),
                        alpha: self.family.alpha,
                        comparisons: self.family.size,
                    },
                ),
                |key| cause.is_some() && cause::tells(key),
            ),
            cause,
            differing: contrast.differing,
            differing_baseline: contrast.differing_baseline,
            held: contrast.held,
        }
    }
}

/// How often the comparisons of an experiment are looked at.
pub(crate) fn looks(experiment: &Experiment) -> Looks {
    match experiment.design.stop {
        Some(_) => Looks::EveryBlock,
        None => Looks::Once,
    }
}

/// The margin of equivalence, as a share of the baseline's mean.
pub(crate) fn margin(experiment: &Experiment) -> Option<f64> {
    experiment
        .analysis
        .margin
        .or(experiment.design.stop.and_then(|stop| stop.margin))
        .map(|margin| margin.0)
}

/// The p-value of a difference being as large as the margin, by itself.
pub(crate) fn equivalence(
    tested: &Tested,
    margin: Option<f64>,
    values: &[Vec<Observed>],
) -> Option<f64> {
    let difference = (tested.estimate.as_ref().ok(), known_step(tested, values));
    equivalences([difference].into_iter(), margin, Correction::None, 1.0)
        .pop()
        .flatten()
}

/// The step of a clock that either cell is known to be read from; zero where none is.
fn known_step(tested: &Tested, values: &[Vec<Observed>]) -> f64 {
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
