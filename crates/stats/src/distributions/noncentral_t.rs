//! The noncentral t distribution, on which the power of t tests rests.

use super::root::increasing_quantile;
use super::scale::expectation_over_scale;
use super::{Normal, Probability, positive};
use crate::degenerate::Degenerate;

/// The distribution of `(Z + noncentrality) / S`, with Z standard normal and S the root of an
/// independent chi-squared variable over its degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoncentralT {
    df: f64,
    noncentrality: f64,
}

impl NoncentralT {
    /// The distribution with these parameters.
    ///
    /// # Errors
    /// When the degrees of freedom are not a finite number above zero or the noncentrality is not
    /// finite.
    pub fn new(degrees_of_freedom: f64, noncentrality: f64) -> Result<Self, Degenerate> {
        if !noncentrality.is_finite() {
            return Err(Degenerate::OutOfRange {
                name: "the noncentrality",
                value: noncentrality,
                wanted: "a finite number",
            });
        }
        Ok(Self {
            df: positive("the degrees of freedom", degrees_of_freedom)?,
            noncentrality,
        })
    }

    /// The probability of a value above `t`.
    pub fn survival(self, t: f64) -> f64 {
        expectation_over_scale(self.df, |s| Normal.survival(t * s - self.noncentrality))
            .clamp(0.0, 1.0)
    }

    /// The probability of a value of at most `t`.
    pub fn cdf(self, t: f64) -> f64 {
        Self {
            df: self.df,
            noncentrality: -self.noncentrality,
        }
        .survival(-t)
    }

    /// The value below which a share of `p` lies.
    pub fn quantile(self, p: Probability) -> f64 {
        if p.get() > 0.5 {
            let target = 1.0 - p.get();
            increasing_quantile(self.noncentrality, 1.0, |t| target - self.survival(t))
        } else {
            increasing_quantile(self.noncentrality, 1.0, |t| self.cdf(t) - p.get())
        }
    }

    /// The value above which a share of `p` lies.
    pub fn upper_quantile(self, p: Probability) -> f64 {
        -Self {
            df: self.df,
            noncentrality: -self.noncentrality,
        }
        .quantile(p)
    }
}
