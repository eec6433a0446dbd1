//! Whether the differences of a family are smaller than a margin.

use knobstat_data::experiment::Correction;

use super::estimated::Estimated;
use crate::family::adjust;

/// The adjusted p-values of differences being as large as the margin, a share of the baseline's mean;
/// none where there is no estimate or no margin.
///
/// Each difference comes with the step of the clock that its values were read from (zero where none
/// is known): reading a value off a clock moves it by up to one step, which no repetition reveals,
/// so that the margin is narrowed by it, unless the estimate has allowed for it already.
pub(crate) fn equivalences<'a, E: Estimated + 'a>(
    differences: impl Iterator<Item = (Option<&'a E>, f64)>,
    margin: Option<f64>,
    correction: Correction,
    alpha: f64,
) -> Vec<Option<f64>> {
    let p: Vec<Option<f64>> = differences
        .map(|(estimate, step)| {
            let estimate = estimate?;
            let step = if estimate.shift() > 0.0 { 0.0 } else { step };
            let margin = margin? * estimate.baseline_mean().abs() - step;
            Some(estimate.p_of_not_within(margin))
        })
        .collect();
    adjust(&p, correction, alpha)
        .into_iter()
        .zip(&p)
        .map(|(adjusted, p)| p.map(|_| adjusted.p))
        .collect()
}
