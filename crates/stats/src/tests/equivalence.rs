//! Equivalence: two one-sided tests that a difference lies within a margin (TOST).
//!
//! Schuirmann (1987). The larger of the two one-sided p-values is the p-value, and it is at most
//! alpha exactly when the interval at confidence 1 - 2 alpha lies within the margin.

use super::paired::paired_t;
use super::welch::{TwoSampleT, welch};
use crate::degenerate::Degenerate;
use crate::distributions::StudentT;

/// The result of two one-sided tests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Equivalence {
    /// The estimated difference.
    pub difference: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The degrees of freedom of both tests.
    pub df: f64,
    /// The margin that the difference was tested against, on both sides of zero.
    pub margin: f64,
    /// The larger of the two one-sided p-values: small means equivalent.
    pub p: f64,
}

/// Tests whether the mean of block differences lies within `margin` of zero.
///
/// # Errors
/// As [`paired_t`], and when the margin is not a finite number above zero.
pub fn tost_paired(differences: &[f64], margin: f64) -> Result<Equivalence, Degenerate> {
    let found = paired_t(differences)?;
    two_one_sided(found.mean, found.standard_error, found.df, margin)
}

/// The same where the metric moves in steps of `tick`, as a coarse clock does.
///
/// Reading a value off a scale that steps by one tick moves it by at most one tick, so that a mean
/// difference may be off by one tick, which no repetition reveals. The margin is therefore
/// narrowed by it, and where nothing is left the values cannot show equivalence.
///
/// # Errors
/// As [`tost_paired`], and when the tick is not finite and at least zero or leaves no margin.
pub fn tost_paired_on_scale(
    differences: &[f64],
    margin: f64,
    tick: f64,
) -> Result<Equivalence, Degenerate> {
    if !(tick >= 0.0 && tick.is_finite()) {
        return Err(Degenerate::OutOfRange {
            name: "the tick of the scale",
            value: tick,
            wanted: "a finite number of at least zero",
        });
    }
    if margin <= tick {
        return Err(Degenerate::OutOfRange {
            name: "the margin",
            value: margin,
            wanted: "wider than the step in which the metric moves; measure more finely",
        });
    }
    tost_paired(differences, margin - tick)
}

/// Tests whether the means of two independent samples differ by less than `margin`, without
/// assuming equal variances.
///
/// # Errors
/// As [`welch`], and when the margin is not a finite number above zero.
pub fn tost_welch(
    reference: &[f64],
    other: &[f64],
    margin: f64,
) -> Result<Equivalence, Degenerate> {
    let TwoSampleT {
        difference,
        standard_error,
        df,
        ..
    } = welch(reference, other)?;
    two_one_sided(difference, standard_error, df, margin)
}

/// The two tests on an estimate with a t distribution.
///
/// # Errors
/// When the margin, the standard error or the degrees of freedom are not finite and above zero.
pub fn two_one_sided(
    difference: f64,
    standard_error: f64,
    df: f64,
    margin: f64,
) -> Result<Equivalence, Degenerate> {
    let margin = crate::distributions::positive("the margin of equivalence", margin)?;
    let standard_error = crate::distributions::positive("the standard error", standard_error)?;
    let distribution = StudentT::new(df)?;
    // The nearer edge decides.
    let distance = (margin - difference.abs()) / standard_error;
    Ok(Equivalence {
        difference,
        standard_error,
        df,
        margin,
        p: distribution.survival(distance),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::paired::differences;

    #[test]
    fn agrees_with_an_independent_implementation() {
        let a = [11.58825, 11.9115, 11.751, 11.51075, 11.69575, 12.25075];
        let b = [11.42075, 11.64675, 11.4735, 11.2455, 11.34625, 11.99975];
        let found = tost_paired(&differences(&a, &b).unwrap(), 0.35).unwrap();
        assert!((found.p / 0.007175549201248045 - 1.0).abs() < 1e-10);
    }

    #[test]
    fn a_scale_coarser_than_the_margin_shows_nothing() {
        let values = [0.0, 1.0, 0.0, -1.0, 0.0, 0.0];
        assert!(tost_paired_on_scale(&values, 0.9, 1.0).is_err());
        let wide = tost_paired_on_scale(&values, 3.0, 1.0).unwrap();
        assert_eq!(wide.margin, 2.0);
        assert!(wide.p < 0.01);
        assert!(tost_paired(&values, 0.0).is_err());
        assert!(tost_paired(&values, f64::NAN).is_err());
    }
}
