//! Error strata: factors that can change only from boot to boot, and factors that change from
//! run to run.
//!
//! A factor that needs a reboot is applied to whole boots, so that its error is the spread of
//! boots, however many runs each boot holds. Testing it against the spread of runs would count every
//! run as a boot.

use super::contrast::{Effect, Step};
use super::error::AnovaError;
use super::factorial::{Anova, Residual, SumsOfSquares, TermTest, anova};
use super::model::{Model, Term};
use super::observations::{Observations, count_groups};

/// The tests that share one error.
#[derive(Debug, Clone)]
pub struct Stratum {
    /// The terms that are tested against it.
    pub terms: Vec<TermTest>,
    /// The error.
    pub residual: Residual,
    analysis: Anova,
}

/// An analysis with two errors.
#[derive(Debug, Clone)]
pub struct SplitPlot {
    /// Effects of whole boots, against the spread of boots.
    pub between: Stratum,
    /// Effects within boots and their interactions with those of whole boots, against the spread of
    /// runs within a boot.
    pub within: Stratum,
}

/// Analyses `observations` where the factors `whole` change only from boot to boot.
///
/// `boots` gives the boot of every value and `blocks`, where there are any, its block; both are
/// numbered from 0. Every boot must hold each combination of the other factors equally often, since
/// otherwise boots would differ for reasons of their own; sums of squares are of type III.
///
/// # Errors
/// When a factor of `whole` changes within a boot, a boot lacks combinations, or there are too few
/// boots to estimate their spread, beside all that [`anova`] refuses.
pub fn split_plot(
    observations: &Observations,
    model: &Model,
    whole: &[usize],
    boots: &[usize],
    blocks: Option<&[usize]>,
) -> Result<SplitPlot, AnovaError> {
    let n = observations.len();
    let count = count_groups(boots, n, "the list of boots", || "boots".to_owned())?;
    if let Some(blocks) = blocks {
        count_groups(blocks, n, "the list of blocks", || "blocks".to_owned())?;
    }
    let members: Vec<Vec<usize>> = (0..count)
        .map(|boot| (0..n).filter(|value| boots[*value] == boot).collect())
        .collect();
    require_whole(observations, whole, &members)?;
    require_balance(observations, whole, &members)?;
    let is_whole = |term: Term| Term::of(whole).contains(term);

    let within_model = model.filtered(|term| !is_whole(term));
    let within = anova(
        observations,
        &within_model,
        Some(boots),
        SumsOfSquares::Three,
    )?;

    // One mean a boot; its sums of squares are scaled back to runs.
    let runs = members[0].len() as f64;
    let means: Vec<f64> = members
        .iter()
        .map(|values| {
            values
                .iter()
                .map(|value| observations.centred()[*value])
                .sum::<f64>()
                / runs
        })
        .collect();
    let first = |values: &Vec<usize>| values[0];
    // Only the factors of whole boots take part, but all keep their numbers: the others stand
    // in with the first of them.
    let levels: Vec<Vec<usize>> = (0..observations.factors())
        .map(|factor| {
            let factor = if whole.contains(&factor) {
                factor
            } else {
                whole[0]
            };
            members
                .iter()
                .map(|values| observations.level(factor, first(values)))
                .collect()
        })
        .collect();
    let boot_means = Observations::new(levels, &means)?;
    let boot_blocks: Option<Vec<usize>> =
        blocks.map(|blocks| members.iter().map(|values| blocks[first(values)]).collect());
    let between_model = model.filtered(is_whole);
    let between = anova(
        &boot_means,
        &between_model,
        boot_blocks.as_deref(),
        SumsOfSquares::Three,
    )?;
    Ok(SplitPlot {
        between: Stratum::scaled(between, runs),
        within: Stratum::scaled(within, 1.0),
    })
}

/// Each factor of whole boots has one level in every boot, and there is one such factor at least.
fn require_whole(
    observations: &Observations,
    whole: &[usize],
    members: &[Vec<usize>],
) -> Result<(), AnovaError> {
    if whole.is_empty() {
        return Err(AnovaError::NotInModel {
            term: Term::of(&[]),
        });
    }
    for factor in whole {
        if observations.level_count(*factor).is_none() {
            return Err(AnovaError::NotInModel {
                term: Term::of(&[*factor]),
            });
        }
        for (boot, values) in members.iter().enumerate() {
            let level = |value: &usize| observations.level(*factor, *value);
            if values.iter().any(|value| level(value) != level(&values[0])) {
                return Err(AnovaError::ChangesWithinBoot {
                    factor: *factor,
                    boot,
                });
            }
        }
    }
    Ok(())
}

/// Each boot holds the same combinations of the other factors equally often.
fn require_balance(
    observations: &Observations,
    whole: &[usize],
    members: &[Vec<usize>],
) -> Result<(), AnovaError> {
    let others: Vec<usize> = (0..observations.factors())
        .filter(|factor| !whole.contains(factor))
        .collect();
    let combinations = |values: &[usize]| {
        let mut combinations: Vec<Vec<usize>> = values
            .iter()
            .map(|value| {
                others
                    .iter()
                    .map(|factor| observations.level(*factor, *value))
                    .collect()
            })
            .collect();
        combinations.sort_unstable();
        combinations
    };
    let wanted = combinations(&members[0]);
    let sizes: Vec<usize> = wanted.chunk_by(|a, b| a == b).map(<[_]>::len).collect();
    if sizes.iter().any(|size| *size != sizes[0]) {
        return Err(AnovaError::Unbalanced { boot: 0 });
    }
    match members
        .iter()
        .position(|values| combinations(values) != wanted)
    {
        Some(boot) => Err(AnovaError::Unbalanced { boot }),
        None => Ok(()),
    }
}

impl Stratum {
    fn scaled(analysis: Anova, runs: f64) -> Self {
        let terms = analysis
            .terms
            .iter()
            .map(|test| TermTest {
                sum_of_squares: test.sum_of_squares * runs,
                ..*test
            })
            .collect();
        let residual = Residual {
            sum_of_squares: analysis.residual.sum_of_squares * runs,
            df: analysis.residual.df,
            mean_square: analysis.residual.mean_square * runs,
        };
        Self {
            terms,
            residual,
            analysis,
        }
    }
}

impl SplitPlot {
    /// The test of one term, in whichever stratum it lies.
    pub fn term(&self, term: Term) -> Option<&TermTest> {
        let all = self.between.terms.iter().chain(&self.within.terms);
        all.into_iter().find(|test| test.term == term)
    }

    /// The effect of stepping from one level to another of one factor or several, with the error
    /// of its stratum.
    ///
    /// # Errors
    /// When a level does not exist or the term is not part of the model.
    pub fn effect(&self, steps: &[Step]) -> Result<Effect, AnovaError> {
        match self.between.analysis.effect(steps) {
            Err(AnovaError::NotInModel { .. }) => self.within.analysis.effect(steps),
            other => other,
        }
    }
}
