//! Rank tests beside the verdict: Mann-Whitney with the Hodges-Lehmann shift, and for pairs the
//! signed ranks with the centre of symmetry.

use knobstat_stats::Confidence;
use knobstat_stats::tests::hodges_lehmann::{centre, shift};
use knobstat_stats::tests::mann_whitney::mann_whitney;
use knobstat_stats::tests::paired::differences;
use knobstat_stats::tests::signed_rank::{Method, signed_rank};

use super::findings::RankTest;

/// With more values than this, means say all that ranks would, and ranks would cost memory.
pub(super) const MOST_VALUES: usize = 2_000_000;

/// The rank test of set against baseline, its p-value not yet adjusted; none where it is not
/// defined or there are too many values.
pub(super) fn test(
    set: &[f64],
    baseline: &[f64],
    paired: bool,
    confidence: Confidence,
) -> Option<RankTest> {
    if set.len() + baseline.len() > MOST_VALUES {
        return None;
    }
    if paired {
        let differences = differences(set, baseline).ok()?;
        let found = signed_rank(&differences).ok()?;
        let shift = centre(&differences, confidence).ok()?;
        return Some(RankTest {
            name: "Wilcoxon's signed ranks",
            exact: found.method == Method::Exact,
            p: found.p,
            p_adjusted: found.p,
            shift: shift.estimate,
            interval: shift.interval,
            probability_larger: None,
        });
    }
    let found = mann_whitney(baseline, set).ok()?;
    let shift = shift(baseline, set, confidence).ok()?;
    Some(RankTest {
        name: "Mann-Whitney",
        exact: found.method == Method::Exact,
        p: found.p,
        p_adjusted: found.p,
        shift: shift.estimate,
        interval: shift.interval,
        probability_larger: Some(found.probability_larger),
    })
}
