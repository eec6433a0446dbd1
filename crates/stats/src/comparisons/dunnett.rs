//! Dunnett's test: every group against one baseline.

use super::group_means::{GroupMeans, SimultaneousComparison};
use crate::confidence::Confidence;
use crate::degenerate::{Degenerate, finite};
use crate::distributions::{DunnettT, Probability};
use crate::interval::Interval;

/// Compares every other group with `baseline`, two-sided (Dunnett 1955, with his correlations for
/// unequal sizes).
///
/// # Errors
/// When there is no such baseline or a statistic overflows.
pub fn dunnett(
    groups: &GroupMeans,
    baseline: usize,
    confidence: Confidence,
) -> Result<Vec<SimultaneousComparison>, Degenerate> {
    if baseline >= groups.len() {
        return Err(Degenerate::OutOfRange {
            name: "the number of the baseline",
            value: baseline as f64,
            wanted: "one of the groups, numbered from 0",
        });
    }
    let others: Vec<usize> = (0..groups.len())
        .filter(|group| *group != baseline)
        .collect();
    let sizes: Vec<usize> = others.iter().map(|group| groups.sizes[*group]).collect();
    let distribution = DunnettT::for_sizes(groups.sizes[baseline], &sizes, groups.df)?;
    let critical = distribution.upper_quantile(Probability::of_both_tails(confidence));
    others
        .into_iter()
        .map(|group| {
            let difference = finite(groups.means[group] - groups.means[baseline], "a difference")?;
            let standard_error = groups.standard_error(group, baseline);
            let t = finite(difference / standard_error, "t")?;
            Ok(SimultaneousComparison {
                group,
                against: baseline,
                difference,
                standard_error,
                p: distribution.survival(t.abs()),
                interval: Interval::around(difference, critical * standard_error),
            })
        })
        .collect()
}
