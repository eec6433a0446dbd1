//! Tukey's test: all pairs.

use super::group_means::{GroupMeans, SimultaneousComparison};
use crate::confidence::Confidence;
use crate::degenerate::{Degenerate, finite};
use crate::distributions::{Probability, StudentizedRange};
use crate::interval::Interval;

/// Compares every group with every earlier one (Tukey 1953; Kramer 1956 for unequal sizes, for
/// which it is conservative).
///
/// # Errors
/// When a statistic overflows.
pub fn tukey(
    groups: &GroupMeans,
    confidence: Confidence,
) -> Result<Vec<SimultaneousComparison>, Degenerate> {
    let distribution = StudentizedRange::new(groups.len(), groups.df)?;
    let root_two = std::f64::consts::SQRT_2;
    let critical = distribution.upper_quantile(Probability::of_both_tails(confidence)) / root_two;
    let mut comparisons = Vec::new();
    for group in 1..groups.len() {
        for against in 0..group {
            let difference = finite(groups.means[group] - groups.means[against], "a difference")?;
            let standard_error = groups.standard_error(group, against);
            let t = finite(difference / standard_error, "t")?;
            comparisons.push(SimultaneousComparison {
                group,
                against,
                difference,
                standard_error,
                p: distribution.survival(t.abs() * root_two),
                interval: Interval::around(difference, critical * standard_error),
            });
        }
    }
    Ok(comparisons)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparisons::dunnett;
    use crate::tests::paired::paired_t;

    #[test]
    fn two_treatments_in_blocks_are_a_paired_t_test() {
        let (a, b) = ([1.0, 2.5, 3.0, 4.5], [1.5, 2.0, 4.0, 6.0]);
        let means = GroupMeans::of_complete_blocks(&[&a, &b]).unwrap();
        let paired = paired_t(&[0.5, -0.5, 1.0, 1.5]).unwrap();
        let interval = paired.interval(Confidence::PERCENT_95);
        for found in [
            tukey(&means, Confidence::PERCENT_95).unwrap()[0],
            dunnett(&means, 0, Confidence::PERCENT_95).unwrap()[0],
        ] {
            assert!((found.p - paired.p).abs() < 1e-12, "{found:?} {paired:?}");
            assert!((found.interval.low - interval.low).abs() < 1e-9);
            assert!((found.interval.high - interval.high).abs() < 1e-9);
        }
    }

    #[test]
    fn odd_inputs_are_named() {
        assert!(GroupMeans::of_groups(&[&[1.0, 2.0]]).is_err());
        assert!(GroupMeans::of_groups(&[&[1.0], &[2.0]]).is_err());
        assert!(GroupMeans::of_groups(&[&[1.0, 1.0], &[2.0, 2.0]]).is_err());
        assert!(GroupMeans::of_groups(&[&[1.0, f64::NAN], &[2.0, 2.0]]).is_err());
        assert!(GroupMeans::of_groups(&[&[], &[2.0, 2.5]]).is_err());
        assert!(GroupMeans::of_complete_blocks(&[&[1.0, 2.0], &[1.0]]).is_err());
        assert!(GroupMeans::of_complete_blocks(&[&[0.1, 0.2], &[1.1, 1.2]]).is_err());
        let fine = GroupMeans::of_groups(&[&[1.0, 2.0], &[2.0, 4.0]]).unwrap();
        assert!(dunnett(&fine, 2, Confidence::PERCENT_95).is_err());
    }
}
