//! Analysis of variance of a factorial experiment with fixed effects.

use super::contrast::{Effect, Step, effect};
use super::design::Design;
use super::error::AnovaError;
use super::least_squares::Fit;
use super::model::{Model, Term};
use super::observations::{Observations, count_groups};
use crate::degenerate::finite;
use crate::distributions::FisherF;

/// Which comparison of models the sum of squares of a term is. With equally many observations in
/// every cell they are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SumsOfSquares {
    /// Type II: against all terms that do not contain it. More powerful where interactions are
    /// absent.
    Two,
    /// Type III: against all other terms, effects coded to sum to zero. The default: what it tests
    /// does not depend on how often each cell was observed.
    Three,
}

/// The F test of one term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TermTest {
    /// The term.
    pub term: Term,
    /// Its sum of squares.
    pub sum_of_squares: f64,
    /// Its degrees of freedom.
    pub df: f64,
    /// Its mean square over that of the error.
    pub f: f64,
    /// The p-value.
    pub p: f64,
}

/// What the model leaves unexplained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residual {
    /// The sum of squares.
    pub sum_of_squares: f64,
    /// The degrees of freedom.
    pub df: f64,
    /// Their quotient, the estimated variance of the error.
    pub mean_square: f64,
}

impl Residual {
    pub(super) fn of(fit: &Fit, total: f64) -> Result<Self, AnovaError> {
        let df = fit.residual_df as f64;
        // Rounding leaves a little even where the fit is perfect.
        let negligible = total * 1e-28 * df;
        if fit.residual_sum <= negligible {
            return Err(AnovaError::NoError);
        }
        Ok(Self {
            sum_of_squares: fit.residual_sum,
            df,
            mean_square: finite(fit.residual_sum / df, "the error's mean square")?,
        })
    }

    /// The F test of a sum of squares against this error.
    pub(super) fn test(
        &self,
        term: Term,
        sum_of_squares: f64,
        df: f64,
    ) -> Result<TermTest, AnovaError> {
        let f = finite(sum_of_squares / df / self.mean_square, "F")?;
        Ok(TermTest {
            term,
            sum_of_squares,
            df,
            f,
            p: FisherF::new(df, self.df)?.survival(f),
        })
    }
}

/// An analysis of variance, from which effects can be asked.
#[derive(Debug, Clone)]
pub struct Anova {
    /// The tests of all terms of the model, in its order.
    pub terms: Vec<TermTest>,
    /// The test of the blocks, where there are any; its term names no factor.
    pub blocks: Option<TermTest>,
    /// The error.
    pub residual: Residual,
    observations: Observations,
    design: Design,
    fit: Fit,
}

/// Analyses `observations` by `model`, with one fixed effect for each block where `blocks` gives
/// the block of every value (numbered from 0).
///
/// # Errors
/// When the observed cells do not determine the model, leave nothing to estimate the error from, or
/// follow the model without any error.
pub fn anova(
    observations: &Observations,
    model: &Model,
    blocks: Option<&[usize]>,
    sums: SumsOfSquares,
) -> Result<Anova, AnovaError> {
    let n = observations.len();
    let blocks = match blocks {
        Some(blocks) => {
            let count = count_groups(blocks, n, "the list of blocks", || "blocks".to_owned())?;
            // A single block is no block.
            (count > 1).then_some((blocks, count))
        }
        None => None,
    };
    let design = Design::new(observations, model, blocks)?;
    let values = observations.centred();
    let fit = design.fit(values)?;
    let total: f64 = finite(values.iter().map(|x| x * x).sum(), "the sum of squares")?;
    let residual = Residual::of(&fit, total)?;
    let mut terms = Vec::with_capacity(design.terms.len());
    for (term, _, width) in &design.terms {
        let explained = match sums {
            SumsOfSquares::Three => design.growth_with(&fit, |other| other != *term)?,
            SumsOfSquares::Two => {
                let without = |other: Term| !other.contains(*term);
                design.growth_with(&fit, without)?
                    - design.growth_with(&fit, |other| without(other) || other == *term)?
            }
        };
        terms.push(residual.test(*term, explained.max(0.0), *width as f64)?);
    }
    let block_test = match blocks {
        Some((_, count)) => {
            let explained = design.growth_without_blocks(&fit)?;
            Some(residual.test(Term::of(&[]), explained, (count - 1) as f64)?)
        }
        None => None,
    };
    Ok(Anova {
        terms,
        blocks: block_test,
        residual,
        observations: observations.clone(),
        design,
        fit,
    })
}

impl Anova {
    /// The test of one term.
    pub fn term(&self, term: Term) -> Option<&TermTest> {
        self.terms.iter().find(|test| test.term == term)
    }

    /// The effect of stepping from one level to another of one factor (a main effect) or several
    /// (an interaction).
    ///
    /// # Errors
    /// When a level does not exist or the term is not part of the model.
    pub fn effect(&self, steps: &[Step]) -> Result<Effect, AnovaError> {
        effect(
            &self.observations,
            &self.design,
            &self.fit,
            self.residual.mean_square,
            self.residual.df,
            steps,
        )
    }
}
