//! Effects without a unit.

use super::mann_whitney::mann_whitney;
use super::paired::paired_t;
use super::student::student;
use crate::degenerate::Degenerate;

/// The size of a difference of two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectSize {
    /// Cohen's d: the difference of the means in pooled standard deviations.
    pub cohen_d: f64,
    /// Hedges' g: d freed of its bias in small samples, by the exact factor
    /// `Γ(v/2) / (sqrt(v/2) Γ((v-1)/2))`.
    pub hedges_g: f64,
    /// Cliff's delta: the pairs in which the other is larger less those in which it is smaller,
    /// as a share of all pairs.
    pub cliff_delta: f64,
}

/// The size of `other - reference`.
///
/// # Errors
/// When a sample has fewer than two values or one that is not finite, or when neither varies.
pub fn effect_size(reference: &[f64], other: &[f64]) -> Result<EffectSize, Degenerate> {
    let pooled = student(reference, other)?;
    let cohen_d =
        crate::degenerate::finite(pooled.test.difference / pooled.pooled_sd, "the effect size")?;
    Ok(EffectSize {
        cohen_d,
        hedges_g: cohen_d * unbiased_factor(pooled.test.df),
        cliff_delta: 2.0 * mann_whitney(reference, other)?.probability_larger - 1.0,
    })
}

/// The mean of block differences in their standard deviations.
///
/// # Errors
/// As [`paired_t`].
pub fn paired_effect_size(differences: &[f64]) -> Result<f64, Degenerate> {
    let found = paired_t(differences)?;
    crate::degenerate::finite(found.mean / found.sd, "the effect size")
}

fn unbiased_factor(df: f64) -> f64 {
    let log_ratio = libm::lgamma(df / 2.0) - libm::lgamma((df - 1.0) / 2.0);
    libm::exp(log_ratio - 0.5 * libm::log(df / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_is_near_its_usual_approximation() {
        for df in [2.0, 5.0, 14.0, 100.0] {
            let usual = 1.0 - 3.0 / (4.0 * df - 1.0);
            assert!((unbiased_factor(df) - usual).abs() < 0.02 / df, "{df}");
        }
    }

    #[test]
    fn apart_is_one() {
        let found = effect_size(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
        assert_eq!(found.cohen_d, 3.0);
        assert!((found.cliff_delta - 1.0).abs() < 1e-15);
        assert!((paired_effect_size(&[1.0, 2.0, 3.0]).unwrap() - 2.0).abs() < 1e-15);
        assert!(effect_size(&[1.0, 1.0], &[1.0, 1.0]).is_err());
        assert!(paired_effect_size(&[1.0]).is_err());
    }
}
