//! Main effects and interactions of the factors: does the best level of one depend on another?
//!
//! Analysis of variance with a block effect; where a factor changes only with a reboot, its effects
//! are tested against the spread of boots, and the others against that of runs. All effects of an
//! experiment are one family, adjusted by Holm.

use knobstat_data::experiment::Correction;
use knobstat_data::{Attempt, Level, Record};
use knobstat_stats::Confidence;
use knobstat_stats::anova::{
    AnovaError, Model, Observations, SumsOfSquares, TermTest, anova, split_plot,
};

use crate::analysis::{Effect, Recommendation};
use crate::family::adjust;
use crate::observations::{Observed, accepted};
use crate::simple_effects::{self, Telling};
use crate::{phrase, self_timed};

/// Interactions of more factors than this are left to the error where there are more factors.
const HIGHEST_ORDER: usize = 3;

/// The effects that were tested, and in a sentence why others were not.
#[derive(Default)]
pub(crate) struct Effects {
    pub(crate) tested: Vec<Effect>,
    pub(crate) untested: Option<String>,
}

impl Effects {
    fn none(untested: String) -> Self {
        Self {
            tested: Vec::new(),
            untested: Some(untested),
        }
    }
}

/// Tests the effects of a record's factors.
pub(crate) fn effects(
    record: &Record,
    values: &[Vec<Observed>],
    recommendation: &Recommendation,
) -> Effects {
    let experiment = &record.experiment;
    let metric = &experiment.analysis.metric;
    if experiment.factors.len() < 2 || self_timed::forbids_verdict(experiment, metric).is_some() {
        return Effects::default();
    }
    if experiment.design.stop.is_some() {
        return Effects::none(
            "Main effects and interactions are not tested: the experiment was looked at after \
             every block, and their tests allow for one look only."
                .to_owned(),
        );
    }
    let table = Table::of(record);
    if table.factors.len() < 2 {
        return Effects::default();
    }
    let (order, tests) = match table.tests_of_highest_order(&record.plan.boot_factors) {
        Ok(found) => found,
        Err(error) => {
            return Effects::none(format!(
                "Main effects and interactions cannot be tested: {error}."
            ));
        }
    };
    let untested = (order < table.highest_order()).then(|| {
        let what = match order {
            1 => "Interactions are".to_owned(),
            order => format!("Interactions of more than {order} factors are"),
        };
        format!(
            "{what} not tested, because combinations of levels are missing or too few were \
             repeated; the other effects are tested as if there were none."
        )
    });
    let alpha = 1.0 - experiment.analysis.confidence.0;
    let p_values: Vec<Option<f64>> = tests.iter().map(|(test, _)| Some(test.p)).collect();
    let adjusted = adjust(&p_values, Correction::Holm, alpha);
    let mut tested: Vec<Effect> = tests
        .into_iter()
        .zip(adjusted)
        .map(|((test, error_df), adjusted)| {
            let factors: Vec<String> = test
                .term
                .factors()
                .into_iter()
                .filter_map(|place| table.factors.get(place).cloned())
                .collect();
            let found = adjusted.p <= alpha;
            Effect {
                sentence: sentence(&factors, &metric.name, found, adjusted.p, recommendation),
                metric: metric.name.clone(),
                f: test.f,
                degrees_of_freedom: test.df,
                error_degrees_of_freedom: error_df,
                p: test.p,
                p_adjusted: adjusted.p,
                found,
                factors,
                simple: Vec::new(),
                simple_in_words: Vec::new(),
            }
        })
        .collect();
    tell(&mut tested, record, values, alpha);
    Effects { tested, untested }
}

/// Tells every interaction of two factors that was found by its simple effects, whose intervals
/// hold all at once.
fn tell(effects: &mut [Effect], record: &Record, values: &[Vec<Observed>], alpha: f64) {
    let tellings: Vec<Option<Telling>> = effects
        .iter()
        .map(|effect| match effect.factors.as_slice() {
            [one, other] if effect.found => Telling::of(record, one, other),
            _ => None,
        })
        .collect();
    let all: usize = tellings.iter().flatten().map(Telling::count).sum();
    let Ok(confidence) = Confidence::from_alpha(alpha / all.max(1) as f64) else {
        return;
    };
    for (effect, telling) in effects.iter_mut().zip(tellings) {
        if let Some(telling) = telling {
            effect.simple = telling.effects(record, values, confidence);
            let metric = &record.experiment.analysis.metric;
            effect.simple_in_words = simple_effects::in_words(&effect.simple, metric);
        }
    }
}

/// The tests of terms, each with the degrees of freedom of its error.
type Tests = Vec<(TermTest, f64)>;

/// The values with the levels, block and boot of each, numbered as they appear.
struct Table {
    /// The factors of which more than one level was observed.
    factors: Vec<String>,
    levels: Vec<Vec<usize>>,
    values: Vec<f64>,
    blocks: Vec<usize>,
    boots: Vec<usize>,
}

/// Numbers things from 0 in the order in which they first appear.
fn numbered<T: PartialEq>(things: impl Iterator<Item = T>) -> Vec<usize> {
    let mut known: Vec<T> = Vec::new();
    things
        .map(
            |thing| match known.iter().position(|other| *other == thing) {
                Some(number) => number,
                None => {
                    known.push(thing);
                    known.len() - 1
                }
            },
        )
        .collect()
}

impl Table {
    fn of(record: &Record) -> Self {
        let metric = &record.experiment.analysis.metric.name;
        let rows: Vec<(&Attempt, f64)> = accepted(&record.plan, &record.attempts)
            .into_iter()
            .filter(|attempt| {
                record
                    .plan
                    .treatments
                    .get(attempt.treatment)
                    .is_some_and(|planned| planned.omitted.is_none())
            })
            .filter_map(|attempt| {
                let found = attempt.result.metric(metric)?;
                found.value.is_finite().then_some((attempt, found.value))
            })
            .collect();
        let mut factors = Vec::new();
        let mut levels = Vec::new();
        for factor in &record.experiment.factors {
            let of_factor: Vec<Option<&Level>> = rows
                .iter()
                .map(|(attempt, _)| {
                    let treatment = &record.plan.treatments[attempt.treatment].treatment;
                    treatment.level(&factor.name)
                })
                .collect();
            let numbers = numbered(of_factor.into_iter());
            if numbers.iter().any(|number| *number > 0) {
                factors.push(factor.name.clone());
                levels.push(numbers);
            }
        }
        Self {
            factors,
            levels,
            values: rows.iter().map(|(_, value)| *value).collect(),
            blocks: numbered(rows.iter().map(|(attempt, _)| attempt.block)),
            boots: numbered(
                rows.iter()
                    .map(|(attempt, _)| (attempt.block, attempt.boot)),
            ),
        }
    }

    fn highest_order(&self) -> usize {
        self.factors.len().min(HIGHEST_ORDER)
    }

    /// The tests of the richest model that the observed combinations determine, and its order.
    fn tests_of_highest_order(
        &self,
        boot_factors: &[String],
    ) -> Result<(usize, Tests), AnovaError> {
        let mut order = self.highest_order();
        loop {
            match self.tests(order, boot_factors) {
                Err(AnovaError::NotEstimable { .. } | AnovaError::NoResidual { .. })
                    if order > 1 =>
                {
                    order -= 1;
                }
                found => return found.map(|tests| (order, tests)),
            }
        }
    }

    /// The test of every term of up to so many factors.
    fn tests(&self, order: usize, boot_factors: &[String]) -> Result<Tests, AnovaError> {
        let observations = Observations::new(self.levels.clone(), &self.values)?;
        let model = Model::up_to_order(self.factors.len(), order)?;
        let whole: Vec<usize> = self
            .factors
            .iter()
            .enumerate()
            .filter(|(_, name)| boot_factors.contains(name))
            .map(|(place, _)| place)
            .collect();
        if whole.is_empty() {
            let found = anova(
                &observations,
                &model,
                Some(&self.blocks),
                SumsOfSquares::Three,
            )?;
            let error_df = found.residual.df;
            return Ok(found
                .terms
                .into_iter()
                .map(|test| (test, error_df))
                .collect());
        }
        let found = split_plot(
            &observations,
            &model,
            &whole,
            &self.boots,
            Some(&self.blocks),
        )?;
        Ok(model
            .terms()
            .iter()
            .filter_map(|term| {
                [&found.between, &found.within]
                    .into_iter()
                    .find_map(|stratum| {
                        let test = stratum.terms.iter().find(|test| test.term == *term)?;
                        Some((*test, stratum.residual.df))
                    })
            })
            .collect())
    }
}

fn sentence(
    factors: &[String],
    metric: &str,
    found: bool,
    p: f64,
    recommendation: &Recommendation,
) -> String {
    let p = phrase::probability(p);
    match (factors, found) {
        ([factor], true) => format!(
            "{factor} matters: {metric} differs between its levels, taken over all levels of the \
             rest (p = {p})."
        ),
        ([factor], false) => format!(
            "{factor} by itself shows no effect on {metric}, taken over all levels of the rest \
             (p = {p})."
        ),
        ([one, other], true) => {
            let crossing = crossing(one, other, recommendation).unwrap_or_default();
            format!("The effect of {one} depends on {other} (p = {p}).{crossing}")
        }
        ([one, other], false) => {
            format!("That the effect of {one} depends on {other} is not shown (p = {p}).")
        }
        (several, true) => format!(
            "{} act together in a way that none of their pairs explains (p = {p}).",
            phrase::list(several, "and")
        ),
        (several, false) => format!(
            "That {} act together beyond their pairs is not shown (p = {p}).",
            phrase::list(several, "and")
        ),
    }
}

/// The further sentence where the recommendation names different best levels of one factor at
/// different levels of the other: an interaction may also be a mere difference of size.
fn crossing(one: &str, other: &str, recommendation: &Recommendation) -> Option<String> {
    [(one, other), (other, one)]
        .into_iter()
        .find_map(|(chosen, condition)| {
            let mut best: Vec<(&Level, &Level)> = Vec::new();
            for choice in &recommendation.choices {
                if let (Some(level), Some(at)) = (
                    choice.best.as_ref().and_then(|best| best.level(chosen)),
                    choice.at.level(condition),
                ) {
                    best.push((level, at));
                }
            }
            let (first, _) = best.first()?;
            best.iter().any(|(level, _)| level != first).then(|| {
                let names: Vec<String> = best
                    .iter()
                    .map(|(level, at)| format!("{level} at {at}"))
                    .collect();
                format!(
                    " The best {chosen} depends on the {condition}: {}.",
                    phrase::list(&names, "and")
                )
            })
        })
}
