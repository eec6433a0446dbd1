//! Effects as numbers: differences of levels, and differences of differences.

use super::design::{Design, code, products};
use super::error::AnovaError;
use super::least_squares::Fit;
use super::model::Term;
use super::observations::Observations;
use crate::confidence::Confidence;
use crate::interval::Interval;
use crate::tests::t_statistic::{t_and_p, t_interval};

/// A step from one level of a factor to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The factor, from 0.
    pub factor: usize,
    /// The level that is looked at, from 0.
    pub level: usize,
    /// The level that it is compared with.
    pub against: usize,
}

/// An estimated effect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// The estimate: for one step the difference `level - against` of the means over all levels
    /// of the other factors, for two the difference of two such differences, and so on.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The degrees of freedom of the error.
    pub df: f64,
    /// The t statistic.
    pub t: f64,
    /// The two-sided p-value.
    pub p: f64,
}

impl Effect {
    /// The interval of the effect.
    pub fn interval(&self, confidence: Confidence) -> Interval {
        t_interval(self.estimate, self.standard_error, self.df, confidence)
    }
}

/// The effect of `steps` in a fitted model with this error.
///
/// Since codes sum to zero over the levels, a mean over the levels of the factors that take no step
/// leaves only terms of the factors that do, and a difference for each of those leaves only the
/// term of all of them.
pub(super) fn effect(
    observations: &Observations,
    design: &Design,
    fit: &Fit,
    error_variance: f64,
    df: f64,
    steps: &[Step],
) -> Result<Effect, AnovaError> {
    let mut steps = steps.to_vec();
    steps.sort_by_key(|step| step.factor);
    let term = Term::of(&steps.iter().map(|step| step.factor).collect::<Vec<_>>());
    let mut codes = Vec::with_capacity(steps.len());
    for step in &steps {
        let impossible = AnovaError::NoSuchComparison {
            factor: step.factor,
            level: step.level,
            against: step.against,
        };
        let Some(count) = observations.level_count(step.factor) else {
            return Err(impossible);
        };
        if step.level >= count || step.against >= count || step.level == step.against {
            return Err(impossible);
        }
        let difference: Vec<f64> = code(step.level, count)
            .iter()
            .zip(code(step.against, count))
            .map(|(level, against)| level - against)
            .collect();
        codes.push(difference);
    }
    let (first, width) = design
        .terms
        .iter()
        .find(|(candidate, _, _)| *candidate == term && term.order() == steps.len())
        .map(|(_, first, width)| (*first, *width))
        .ok_or(AnovaError::NotInModel { term })?;
    let mut weights = vec![0.0; design.columns.len()];
    weights[first..first + width].copy_from_slice(&products(&codes));
    let estimate = fit.combination(&weights);
    let standard_error = (fit.combination_variance(&weights) * error_variance).sqrt();
    let (t, p) = t_and_p(estimate, standard_error, df)?;
    Ok(Effect {
        estimate,
        standard_error,
        df,
        t,
        p,
    })
}
