//! Levels of confidence for intervals of several comparisons.

use super::adjust::{as_probability, holm, order};
use crate::confidence::Confidence;
use crate::degenerate::Degenerate;

/// The level at which each of `family` intervals must be made so that all hold at once with
/// `confidence`, whatever their dependence (Bonferroni).
///
/// # Errors
/// When the family is empty.
pub fn bonferroni_confidence(
    confidence: Confidence,
    family: usize,
) -> Result<Confidence, Degenerate> {
    if family == 0 {
        return Err(Degenerate::TooFew { needed: 1, got: 0 });
    }
    Confidence::from_alpha(confidence.alpha() / family as f64)
}

/// The level at which to make the interval of each comparison so that it excludes "no difference"
/// exactly when Holm's test rejects it.
///
/// Holm's test compares the p-value of rank r (from 0) with alpha / (k - r), and goes no further
/// than the first that fails. So the level of a comparison is alpha times its p-value over its
/// adjusted p-value: from alpha / k for the smallest p-value to at most alpha for the largest.
///
/// The choice: these intervals agree with the verdicts and are narrower than Bonferroni's, but only
/// Bonferroni's ([`bonferroni_confidence`]) hold all at once with the full confidence.
/// No two-sided intervals are known that do both and stay bounded away from zero (Strassburger and
/// Bretz 2008); where all must hold at once and agree too, Dunnett's or Tukey's do.
///
/// # Errors
/// When a level is too small to be represented.
pub fn holm_confidences(
    p_values: &[f64],
    confidence: Confidence,
) -> Result<Vec<Confidence>, Degenerate> {
    let family = p_values.len();
    let mut levels = vec![confidence; family];
    // As `holm`, but not cut off at 1, so that the ratio stays right.
    let mut largest = 0.0_f64;
    for (rank, place) in order(p_values).into_iter().enumerate() {
        let p = as_probability(&p_values[place]);
        let remaining = (family - rank) as f64;
        largest = largest.max(p * remaining);
        let share = if largest > 0.0 && p > 0.0 {
            p / largest
        } else {
            1.0 / remaining
        };
        levels[place] = Confidence::from_alpha(confidence.alpha() * share)?;
    }
    Ok(levels)
}

/// Which comparisons Holm's test rejects at `confidence`.
pub fn holm_rejects(p_values: &[f64], confidence: Confidence) -> Vec<bool> {
    holm(p_values)
        .into_iter()
        .map(|adjusted| adjusted <= confidence.alpha())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::paired::paired_t;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        rng_seed: RngSeed::Fixed(3),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

        #[test]
        fn holm_intervals_agree_with_holm(
            samples in prop::collection::vec(prop::collection::vec(-1.0f64..3.0, 3..8), 1..6),
        ) {
            let tests: Vec<_> = samples.iter().filter_map(|s| paired_t(s).ok()).collect();
            let p: Vec<f64> = tests.iter().map(|test| test.p).collect();
            let rejected = holm_rejects(&p, Confidence::PERCENT_95);
            let levels = holm_confidences(&p, Confidence::PERCENT_95).unwrap();
            for ((test, rejected), level) in tests.iter().zip(rejected).zip(levels) {
                let interval = test.interval(level);
                prop_assert_eq!(!interval.contains(0.0), rejected, "{:?} {:?}", test, interval);
                prop_assert!(level.alpha() <= 0.05 * (1.0 + 1e-12));
                prop_assert!(level.alpha() >= 0.05 / p.len() as f64 * (1.0 - 1e-12));
            }
        }
    }

    #[test]
    fn levels_of_a_family_of_three() {
        let levels = holm_confidences(&[0.03, 0.01, 0.5], Confidence::PERCENT_95).unwrap();
        let alphas: Vec<f64> = levels.iter().map(|level| level.alpha()).collect();
        for (found, wanted) in alphas.iter().zip([0.05 / 2.0, 0.05 / 3.0, 0.05]) {
            assert!((found - wanted).abs() < 1e-15, "{alphas:?}");
        }
        let zero = holm_confidences(&[0.0, 0.0], Confidence::PERCENT_95).unwrap();
        assert_eq!((zero[0].alpha(), zero[1].alpha()), (0.025, 0.05));
        assert!(bonferroni_confidence(Confidence::PERCENT_95, 0).is_err());
        let five = bonferroni_confidence(Confidence::PERCENT_95, 5).unwrap();
        assert!((five.alpha() - 0.01).abs() < 1e-17);
    }
}
