//! One error for all treatments: what a randomised-block analysis of variance leaves unexplained,
//! and whether it may stand in for the error of a single comparison.
//!
//! Pooled over all treatments the error has many more degrees of freedom than the differences of
//! one pair, and finds smaller effects. It is right only where all treatments vary alike, and a
//! test of that beforehand does not protect: at five to eight blocks it overlooks a treatment
//! that varies twice as much, and the pooled error then calls 6 to 11 % of all experiments without
//! any effect different instead of 5 (simulated). So it stands in for a comparison's own error
//! only where, besides, the comparison's own differences do not vary more than it says; then the
//! rate stays at or below 5.5 % for spreads that differ up to fourfold, from five blocks on.

use std::collections::BTreeMap;

use knobstat_stats::distributions::ChiSquared;

use crate::observations::Observed;
use crate::paired::Estimate;

/// Below so many blocks the pooled error is not used unasked.
const FEWEST_BLOCKS: usize = 5;

/// Treatments count as varying alike at this p-value of Bartlett's test and above.
const ALIKE: f64 = 0.25;

/// The error of one value that treatments and blocks leave unexplained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PooledError {
    /// The standard deviation of one value.
    pub(crate) sd: f64,
    /// Its degrees of freedom.
    pub(crate) degrees_of_freedom: f64,
    /// How many treatments it is pooled over.
    pub(crate) treatments: usize,
    /// The blocks that have a value of every treatment.
    pub(crate) blocks: usize,
    /// The p-value of the treatments varying alike (Bartlett 1937, on the residuals); none where
    /// some treatment does not vary at all.
    pub(crate) p_of_varying_alike: Option<f64>,
}

/// Pools the error of treatments over the blocks that have a value of each; none where there are
/// fewer than two of either, or where a square overflows.
pub(crate) fn pool(cells: &[&[Observed]]) -> Option<PooledError> {
    let mut blocks: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for cell in cells {
        for observed in *cell {
            blocks
                .entry(observed.block)
                .or_default()
                .push(observed.value);
        }
    }
    let complete: Vec<Vec<f64>> = blocks
        .into_values()
        .filter(|values| values.len() == cells.len())
        .collect();
    let (n, k) = (complete.len(), cells.len());
    if n < 2 || k < 2 {
        return None;
    }
    let residuals = residuals(&complete);
    let variances: Vec<f64> = residuals
        .iter()
        .map(|of_treatment| {
            of_treatment.iter().map(|value| value * value).sum::<f64>() / (n - 1) as f64
        })
        .collect();
    // The means of blocks take their share of the freedom: k variances of n - 1 are (n - 1)(k - 1).
    let variance = variances.iter().sum::<f64>() / (k - 1) as f64;
    let degrees_of_freedom = ((n - 1) * (k - 1)) as f64;
    variance.is_finite().then(|| PooledError {
        sd: variance.sqrt(),
        degrees_of_freedom,
        treatments: k,
        blocks: n,
        p_of_varying_alike: bartlett(&variances, n),
    })
}

/// What the means of treatments and of blocks leave, by treatment.
fn residuals(blocks: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (n, k) = (blocks.len() as f64, blocks[0].len());
    // About the first block, so that huge values with a small spread keep their digits.
    let shifted: Vec<Vec<f64>> = blocks
        .iter()
        .map(|block| block.iter().zip(&blocks[0]).map(|(a, b)| a - b).collect())
        .collect();
    let of_treatment: Vec<f64> = (0..k)
        .map(|treatment| shifted.iter().map(|block| block[treatment]).sum::<f64>() / n)
        .collect();
    let of_block: Vec<f64> = shifted
        .iter()
        .map(|block| block.iter().sum::<f64>() / k as f64)
        .collect();
    let overall = of_treatment.iter().sum::<f64>() / k as f64;
    (0..k)
        .map(|treatment| {
            shifted
                .iter()
                .zip(&of_block)
                .map(|(block, mean)| block[treatment] - of_treatment[treatment] - mean + overall)
                .collect()
        })
        .collect()
}

/// Bartlett (1937): the p-value of equal variances, of n values each. It also takes values that
/// are far from normal for unequal, which is what is wanted of a check.
fn bartlett(variances: &[f64], n: usize) -> Option<f64> {
    let (k, freedom) = (variances.len() as f64, (n - 1) as f64);
    let mean = variances.iter().sum::<f64>() / k;
    let logarithms: f64 = variances.iter().map(|variance| variance.ln()).sum();
    let statistic = freedom * (k * mean.ln() - logarithms);
    let correction = 1.0 + (k / freedom - 1.0 / (k * freedom)) / (3.0 * (k - 1.0));
    let distribution = ChiSquared::new(k - 1.0).ok()?;
    let statistic = statistic / correction;
    statistic
        .is_finite()
        .then(|| distribution.survival(statistic.max(0.0)))
}

impl PooledError {
    /// Whether the assumptions of pooling pass their check: enough blocks, three treatments or more
    /// (two have one error anyway), and treatments that vary alike.
    pub(crate) fn passes(&self) -> bool {
        self.blocks >= FEWEST_BLOCKS
            && self.treatments > 2
            && self.p_of_varying_alike.is_some_and(|p| p >= ALIKE)
    }

    /// Whether it may stand in for the error of a comparison's own differences, which then do not
    /// vary more than it says.
    pub(crate) fn covers(&self, estimate: &Estimate) -> bool {
        estimate.shift == 0.0 && estimate.sd <= std::f64::consts::SQRT_2 * self.sd
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use knobstat_stats::anova::{Model, Observations, SumsOfSquares, anova};

    fn cells(values: &[&[f64]]) -> Vec<Vec<Observed>> {
        values
            .iter()
            .map(|values| {
                values
                    .iter()
                    .enumerate()
                    .map(|(block, value)| Observed {
                        block,
                        sequence: 0,
                        value: *value,
                        limited_by: None,
                        granularity: None,
                    })
                    .collect()
            })
            .collect()
    }

    fn pooled(values: &[&[f64]]) -> Option<PooledError> {
        let cells = cells(values);
        pool(&cells.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn agrees_with_the_analysis_of_variance() {
        let values: [&[f64]; 3] = [
            &[1.0, 2.5, 3.0, 4.5],
            &[1.5, 2.0, 4.0, 6.0],
            &[2.0, 2.5, 3.0, 3.0],
        ];
        let found = pooled(&values).unwrap();
        let flat: Vec<f64> = values.concat();
        let levels = vec![(0..12).map(|place| place / 4).collect()];
        let blocks: Vec<usize> = (0..12).map(|place| place % 4).collect();
        let anova = anova(
            &Observations::new(levels, &flat).unwrap(),
            &Model::up_to_order(1, 1).unwrap(),
            Some(&blocks),
            SumsOfSquares::Three,
        )
        .unwrap();
        assert_eq!(found.degrees_of_freedom, anova.residual.df);
        assert!((found.sd.powi(2) / anova.residual.mean_square - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_treatment_that_varies_more_fails_the_check() {
        let steady = [0.1, -0.2, 0.3, 0.0, -0.1, 0.2, -0.3, 0.1];
        let other = [0.2, 0.1, -0.2, -0.1, 0.3, -0.3, 0.0, 0.1];
        let third = [-0.1, 0.2, 0.0, 0.3, -0.3, 0.1, 0.1, -0.2];
        assert!(pooled(&[&steady, &other, &third]).unwrap().passes());
        let wild = third.map(|value| 20.0 * value);
        assert!(!pooled(&[&steady, &other, &wild]).unwrap().passes());
        assert!(!pooled(&[&steady, &other]).unwrap().passes());
        let short = [&steady[..4], &other[..4], &third[..4]];
        assert!(!pooled(&short).unwrap().passes());
    }

    #[test]
    fn odd_values_have_a_defined_answer() {
        assert_eq!(pooled(&[&[1.0, 2.0]]), None);
        assert_eq!(pooled(&[&[1.0], &[2.0]]), None);
        assert_eq!(pooled(&[&[1e300, -1e300], &[-1e300, 1e300]]), None);
        let constant = pooled(&[&[513.0; 3], &[886.0; 3]]).unwrap();
        assert_eq!((constant.sd, constant.p_of_varying_alike), (0.0, None));
    }
}
