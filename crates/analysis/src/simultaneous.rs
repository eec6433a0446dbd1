//! Dunnett's and Tukey's tests on one error for all treatments: p-values adjusted for the family,
//! with intervals that hold all at once and leave out zero exactly when the p-value is small
//! enough.
//!
//! A group is a baseline with what is compared with it (Dunnett) or all treatments under one
//! combination of the factors that the baseline leaves out (Tukey). Several groups share the error
//! rate by Bonferroni's inequality.

use knobstat_stats::distributions::{DunnettT, Probability, StudentT, StudentizedRange};

use crate::family::{Adjusted, Pair};
use crate::paired::Estimate;
use crate::pooled::PooledError;

/// Which of the two tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Simultaneous {
    /// Every treatment against the baseline (Dunnett 1955).
    Dunnett,
    /// All pairs (Tukey 1953).
    Tukey,
}

/// A group of treatments that are compared with each other, and its error.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The treatments, the baseline first.
    pub(crate) members: Vec<usize>,
    /// What they leave unexplained.
    pub(crate) error: PooledError,
}

/// The distribution of the largest |t| of a group.
enum Largest {
    Dunnett(DunnettT),
    Tukey(StudentizedRange),
}

impl Largest {
    fn of(test: Simultaneous, group: &Group) -> Option<Self> {
        let freedom = group.error.degrees_of_freedom;
        Some(match test {
            Simultaneous::Dunnett => {
                // Equally many values each: a correlation of one half.
                let loadings = vec![std::f64::consts::FRAC_1_SQRT_2; group.members.len() - 1];
                Self::Dunnett(DunnettT::new(&loadings, freedom).ok()?)
            }
            Simultaneous::Tukey => {
                Self::Tukey(StudentizedRange::new(group.members.len(), freedom).ok()?)
            }
        })
    }

    /// The chance that the largest |t| exceeds this one.
    fn survival(&self, t: f64) -> f64 {
        match self {
            Self::Dunnett(distribution) => distribution.survival(t),
            Self::Tukey(distribution) => distribution.survival(t * std::f64::consts::SQRT_2),
        }
    }

    /// The |t| that the largest exceeds with this chance.
    fn critical(&self, chance: Probability) -> f64 {
        match self {
            Self::Dunnett(distribution) => distribution.upper_quantile(chance),
            Self::Tukey(distribution) => {
                distribution.upper_quantile(chance) / std::f64::consts::SQRT_2
            }
        }
    }
}

/// Adjusts a family of comparisons, whose estimates are on the errors of these groups; none
/// where a distribution cannot be had. A comparison without an estimate shows nothing.
pub(crate) fn adjust(
    test: Simultaneous,
    groups: &[Group],
    comparisons: &[(Pair, Option<&Estimate>)],
    alpha: f64,
) -> Option<Vec<Adjusted>> {
    let share = alpha / groups.len() as f64;
    let size = |group: &Group| (group.members.len(), group.error.degrees_of_freedom);
    let mut of_groups: Vec<(Largest, f64)> = Vec::with_capacity(groups.len());
    for (place, group) in groups.iter().enumerate() {
        let largest = Largest::of(test, group)?;
        // The quantile is a search over a double integral, and groups are mostly alike.
        let alike = (0..place).find(|other| size(&groups[*other]) == size(group));
        let alone = match alike {
            Some(other) => of_groups[other].1,
            None => StudentT::new(group.error.degrees_of_freedom)
                .ok()?
                .two_sided(largest.critical(Probability::new(share).ok()?)),
        };
        of_groups.push((largest, alone));
    }
    comparisons
        .iter()
        .map(|(pair, estimate)| {
            let place = groups
                .iter()
                .position(|group| group.members.contains(&pair.treatment))?;
            let (largest, alone) = &of_groups[place];
            let p = estimate.map_or(1.0, |estimate| {
                let p = largest.survival(estimate.distance_in_errors());
                (p * groups.len() as f64).min(1.0)
            });
            Some(Adjusted { p, alpha: *alone })
        })
        .collect()
}
