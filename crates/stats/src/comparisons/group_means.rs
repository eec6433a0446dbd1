//! Means that share one estimate of the error: what Dunnett's and Tukey's tests start from.

use crate::degenerate::{Degenerate, require};
use crate::summary::Moments;

/// Means of groups with a common error variance.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupMeans {
    pub(super) means: Vec<f64>,
    pub(super) sizes: Vec<usize>,
    pub(super) error_sd: f64,
    pub(super) df: f64,
}

impl GroupMeans {
    /// Independent groups, whose variances are taken to be equal.
    ///
    /// # Errors
    /// When there are fewer than two groups, an empty one, a value that is not finite, or no spread
    /// within any group.
    pub fn of_groups(groups: &[&[f64]]) -> Result<Self, Degenerate> {
        require_two(groups)?;
        let moments = groups
            .iter()
            .map(|group| Moments::of(group))
            .collect::<Result<Vec<_>, _>>()?;
        let n: usize = groups.iter().map(|group| group.len()).sum();
        let df = (n - groups.len()) as f64;
        // The root of a sum of squares, as a length, so that it does not overflow.
        let length = moments.iter().fold(0.0, |length, moments| {
            let sd = moments.sd.unwrap_or(0.0);
            libm::hypot(length, sd * (moments.n as f64 - 1.0).sqrt())
        });
        Self {
            means: moments.iter().map(|moments| moments.mean).collect(),
            sizes: groups.iter().map(|group| group.len()).collect(),
            error_sd: length / df.sqrt(),
            df,
        }
        .checked(n)
    }

    /// Treatments in complete blocks: `treatments[i][b]` is the value of treatment i in block b.
    /// The error is what is left after means of treatments and of blocks.
    ///
    /// # Errors
    /// When there are fewer than two treatments or blocks, the lists differ in length, a value is
    /// not finite, or nothing is left as error.
    pub fn of_complete_blocks(treatments: &[&[f64]]) -> Result<Self, Degenerate> {
        require_two(treatments)?;
        let blocks = treatments[0].len();
        for treatment in treatments {
            require(treatment, 2)?;
            if treatment.len() != blocks {
                return Err(Degenerate::LengthsDiffer {
                    left: blocks,
                    right: treatment.len(),
                });
            }
        }
        let means = treatments
            .iter()
            .map(|values| Ok(Moments::of(values)?.mean))
            .collect::<Result<Vec<_>, Degenerate>>()?;
        let count = treatments.len() as f64;
        let mut length = 0.0;
        for block in 0..blocks {
            let deviations: Vec<f64> = treatments
                .iter()
                .zip(&means)
                .map(|(values, mean)| values[block] - mean)
                .collect();
            let block_mean = deviations.iter().map(|d| d / count).sum::<f64>();
            for deviation in deviations {
                length = libm::hypot(length, deviation - block_mean);
            }
        }
        let df = (count - 1.0) * (blocks as f64 - 1.0);
        // Rounding of the means leaves a little where there is no error at all.
        let largest = means.iter().fold(0.0_f64, |max, mean| max.max(mean.abs()));
        let error_sd = if length <= 1e-13 * largest {
            0.0
        } else {
            length / df.sqrt()
        };
        Self {
            means,
            sizes: vec![blocks; treatments.len()],
            error_sd,
            df,
        }
        .checked(blocks * treatments.len())
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.means.len()
    }

    /// Whether there are none; there always are two or more.
    pub fn is_empty(&self) -> bool {
        self.means.is_empty()
    }

    pub(super) fn standard_error(&self, i: usize, j: usize) -> f64 {
        self.error_sd * (1.0 / self.sizes[i] as f64 + 1.0 / self.sizes[j] as f64).sqrt()
    }

    fn checked(self, n: usize) -> Result<Self, Degenerate> {
        if self.df < 1.0 {
            return Err(Degenerate::TooFew {
                needed: self.means.len() + 1,
                got: n,
            });
        }
        crate::degenerate::finite(self.error_sd, "the error")?;
        if self.error_sd == 0.0 {
            return Err(Degenerate::ZeroVariance {
                n,
                value: self.means[1] - self.means[0],
            });
        }
        Ok(self)
    }
}

fn require_two(groups: &[&[f64]]) -> Result<(), Degenerate> {
    if groups.len() < 2 {
        return Err(Degenerate::TooFew {
            needed: 2,
            got: groups.len(),
        });
    }
    Ok(())
}

/// One of several comparisons that hold at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimultaneousComparison {
    /// The group that is looked at.
    pub group: usize,
    /// The group that it is compared with.
    pub against: usize,
    /// The difference of the means, `group - against`.
    pub difference: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The p-value, adjusted for all comparisons made.
    pub p: f64,
    /// The interval; all intervals of the family hold at once with the confidence asked for, and
    /// each excludes zero exactly when its adjusted p-value is below alpha.
    pub interval: crate::interval::Interval,
}
