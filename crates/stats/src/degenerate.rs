//! Why a statistic has no answer: every input that a formula cannot digest, in words.

use thiserror::Error;

/// An input for which the wanted statistic is not defined.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Degenerate {
    /// A value is infinite or not a number.
    #[error(
        "value number {} is not a finite number; remove it or repeat that run",
        index + 1
    )]
    NotFinite {
        /// Place of the first such value, from 0.
        index: usize,
    },
    /// There are fewer values than the method needs.
    #[error("{got} values are too few, {needed} are needed; measure more")]
    TooFew {
        /// The smallest number that the method can use.
        needed: usize,
        /// The number that was given.
        got: usize,
    },
    /// All values are equal, so that their spread says nothing about the error.
    #[error(
        "all {n} values are equal ({value}), so their spread cannot say how sure the result is; \
         measure more finely or use a rank test"
    )]
    ZeroVariance {
        /// The number of values.
        n: usize,
        /// The value that all of them have; for two samples, the difference of the two values.
        value: f64,
    },
    /// Two lists that belong together have different lengths.
    #[error("{left} values cannot be paired with {right}; give as many of each")]
    LengthsDiffer {
        /// The length of the first list.
        left: usize,
        /// The length of the second list.
        right: usize,
    },
    /// Every difference is zero, so that there is nothing to rank.
    #[error("all {n} differences are zero, so there is nothing to rank; the two may be the same")]
    AllZero {
        /// The number of differences.
        n: usize,
    },
    /// A logarithm was wanted of a value that is not positive.
    #[error(
        "value number {} is not positive, so it has no logarithm; compare differences, not ratios",
        index + 1
    )]
    NotPositive {
        /// Place of the first such value, from 0.
        index: usize,
    },
    /// The mean to divide by cannot be told from zero.
    #[error(
        "the mean to divide by, {mean}, cannot be told from zero, so the ratio has no bounds; \
         compare differences, not ratios"
    )]
    DenominatorNearZero {
        /// The mean that was to be the denominator.
        mean: f64,
    },
    /// A parameter lies outside the values that it may have.
    #[error("{name} is {value}, but must be {wanted}")]
    OutOfRange {
        /// What the parameter is.
        name: &'static str,
        /// The value that was given.
        value: f64,
        /// The values that it may have.
        wanted: &'static str,
    },
    /// A result is too large for a double-precision number.
    #[error(
        "the values are so large that {what} exceeds what a number can hold; use a larger unit"
    )]
    Overflow {
        /// The result that was wanted.
        what: &'static str,
    },
    /// The resampled statistic never varies or lies wholly on one side of its estimate.
    #[error("resampling says nothing here: {why}; measure more")]
    Resampling {
        /// What went wrong.
        why: &'static str,
    },
}

/// Fails with the place of the first value that is not finite.
pub(crate) fn require_finite(values: &[f64]) -> Result<(), Degenerate> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(Degenerate::NotFinite { index }),
        None => Ok(()),
    }
}

/// Fails unless there are at least `needed` values and all are finite.
pub(crate) fn require(values: &[f64], needed: usize) -> Result<(), Degenerate> {
    require_finite(values)?;
    if values.len() < needed {
        return Err(Degenerate::TooFew {
            needed,
            got: values.len(),
        });
    }
    Ok(())
}

/// Passes a finite result on, and names one that overflowed.
pub(crate) fn finite(result: f64, what: &'static str) -> Result<f64, Degenerate> {
    if result.is_finite() {
        Ok(result)
    } else {
        Err(Degenerate::Overflow { what })
    }
}
