//! Blocks as a random effect: a linear mixed model with a random intercept, fitted by restricted
//! maximum likelihood (REML).

use super::contrast::{Effect, Step, effect};
use super::design::Design;
use super::error::AnovaError;
use super::factorial::Residual;
use super::least_squares::{Fit, fit};
use super::model::Model;
use super::observations::{Observations, count_groups};
use crate::degenerate::{Degenerate, finite};

/// A fitted model whose blocks are a sample of possible blocks.
#[derive(Debug, Clone)]
pub struct RandomBlocks {
    /// The variance between blocks, beyond what the error explains; at least zero.
    pub block_variance: f64,
    /// The variance of the error within blocks.
    pub residual_variance: f64,
    /// The maximum of the restricted log-likelihood, all constants included.
    pub log_likelihood: f64,
    /// The degrees of freedom of effects within blocks: values less fixed parameters less the
    /// blocks beyond the first (containment). Exact when every block is complete.
    pub df: f64,
    observations: Observations,
    design: Design,
    fit: Fit,
}

/// Fits `model` with a random effect for the block of every value (numbered from 0).
///
/// Against fixed blocks it gains what the comparison between incomplete blocks says; with complete
/// blocks the effects and their standard errors are the same.
///
/// # Errors
/// When there are fewer than two blocks, a term of the model does not vary within blocks (then it
/// belongs to [`super::split_plot`]), or as [`super::anova`].
pub fn random_blocks(
    observations: &Observations,
    model: &Model,
    blocks: &[usize],
) -> Result<RandomBlocks, AnovaError> {
    let n = observations.len();
    let count = count_groups(blocks, n, "the list of blocks", || "blocks".to_owned())?;
    if count < 2 {
        return Err(Degenerate::TooFew {
            needed: 2,
            got: count,
        }
        .into());
    }
    // With fixed blocks, terms that do not vary within a block show, and so do the degrees of
    // freedom within.
    let fixed = Design::new(observations, model, Some((blocks, count)))?;
    let fixed = fixed.fit(observations.centred())?;
    let total: f64 = observations.centred().iter().map(|x| x * x).sum();
    let df = Residual::of(&fixed, finite(total, "the sum of squares")?)?.df;
    let design = Design::new(observations, model, None)?;
    let problem = Problem {
        columns: &design.columns,
        values: observations.centred(),
        blocks,
        sizes: sizes(blocks, count),
    };
    let (ratio, log_likelihood) = problem.maximum();
    let fit = problem.fit(ratio).ok_or(AnovaError::NoError)?;
    let residual_variance = fit.residual_sum / fit.residual_df as f64;
    Ok(RandomBlocks {
        block_variance: ratio * residual_variance,
        residual_variance,
        log_likelihood,
        df,
        observations: observations.clone(),
        design,
        fit,
    })
}

impl RandomBlocks {
    /// The effect of stepping from one level to another of one factor or several.
    ///
    /// # Errors
    /// When a level does not exist or the term is not part of the model.
    pub fn effect(&self, steps: &[Step]) -> Result<Effect, AnovaError> {
        effect(
            &self.observations,
            &self.design,
            &self.fit,
            self.residual_variance,
            self.df,
            steps,
        )
    }
}

fn sizes(blocks: &[usize], count: usize) -> Vec<f64> {
    let mut sizes = vec![0.0; count];
    for block in blocks {
        sizes[*block] += 1.0;
    }
    sizes
}

struct Problem<'a> {
    columns: &'a [Vec<f64>],
    values: &'a [f64],
    blocks: &'a [usize],
    sizes: Vec<f64>,
}

impl Problem<'_> {
    /// Multiplies by the inverse root of `I + ratio J` in every block: each value loses the share
    /// `1 - 1/sqrt(1 + n ratio)` of its block's mean.
    fn whitened(&self, column: &[f64], ratio: f64) -> Vec<f64> {
        let mut means = vec![0.0; self.sizes.len()];
        for (value, block) in column.iter().zip(self.blocks) {
            means[*block] += value / self.sizes[*block];
        }
        column
            .iter()
            .zip(self.blocks)
            .map(|(value, block)| {
                let kept = 1.0 / (1.0 + self.sizes[*block] * ratio).sqrt();
                value - (1.0 - kept) * means[*block]
            })
            .collect()
    }

    fn fit(&self, ratio: f64) -> Option<Fit> {
        let columns: Vec<Vec<f64>> = self
            .columns
            .iter()
            .map(|column| self.whitened(column, ratio))
            .collect();
        fit(&columns, &self.whitened(self.values, ratio)).ok()
    }

    /// The restricted log-likelihood with the error variance at its best (Patterson and Thompson
    /// 1971).
    fn log_likelihood(&self, ratio: f64) -> f64 {
        let Some(fit) = self.fit(ratio) else {
            return f64::NEG_INFINITY;
        };
        let df = fit.residual_df as f64;
        let variance = fit.residual_sum / df;
        let blocks: f64 = self.sizes.iter().map(|n| libm::log1p(n * ratio)).sum();
        -0.5 * (df * (libm::log(2.0 * std::f64::consts::PI * variance) + 1.0)
            + blocks
            + fit.log_determinant())
    }

    /// The best ratio of the variances and the likelihood there: a scan over powers of ten, then
    /// a golden-section search around the best place; zero where nothing is better.
    fn maximum(&self) -> (f64, f64) {
        let at = |log_ratio: f64| self.log_likelihood(libm::exp(log_ratio));
        let grid = (-20..=20).map(f64::from);
        let best = grid.fold((0.0, f64::NEG_INFINITY), |best, place| {
            let value = at(place);
            if value > best.1 { (place, value) } else { best }
        });
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut low, mut high) = (best.0 - 1.0, best.0 + 1.0);
        let (mut left, mut right) = (high - golden * 2.0, low + golden * 2.0);
        let (mut at_left, mut at_right) = (at(left), at(right));
        while high - low > 1e-9 {
            if at_left > at_right {
                (high, right, at_right) = (right, left, at_left);
                left = high - golden * (high - low);
                at_left = at(left);
            } else {
                (low, left, at_left) = (left, right, at_right);
                right = low + golden * (high - low);
                at_right = at(right);
            }
        }
        let place = low + (high - low) / 2.0;
        let (inside, none) = (at(place), self.log_likelihood(0.0));
        if none >= inside {
            (0.0, none)
        } else {
            (libm::exp(place), inside)
        }
    }
}
