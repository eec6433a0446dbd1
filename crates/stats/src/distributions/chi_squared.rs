//! The chi-squared distribution.

use super::gamma::regularised_gamma;
use super::root::Curves;
use super::saddle_point::poisson;
use super::{Probability, positive};
use crate::degenerate::Degenerate;

/// Chi-squared with any positive number of degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChiSquared {
    df: f64,
}

impl ChiSquared {
    /// The distribution with `degrees_of_freedom`.
    ///
    /// # Errors
    /// When that is not a finite number above zero.
    pub fn new(degrees_of_freedom: f64) -> Result<Self, Degenerate> {
        Ok(Self {
            df: positive("the degrees of freedom", degrees_of_freedom)?,
        })
    }

    /// The density at `x`; zero outside the positive numbers.
    pub fn density(self, x: f64) -> f64 {
        if x <= 0.0 {
            return 0.0;
        }
        let a = self.df / 2.0;
        poisson(a, x / 2.0) * a / x
    }

    /// The probability of a value above `x`.
    pub fn survival(self, x: f64) -> f64 {
        regularised_gamma(self.df / 2.0, x / 2.0).upper
    }

    /// The probability of a value of at most `x`.
    pub fn cdf(self, x: f64) -> f64 {
        regularised_gamma(self.df / 2.0, x / 2.0).lower
    }

    /// The value below which a share of `p` lies.
    pub fn quantile(self, p: Probability) -> f64 {
        self.search(p.get(), true)
    }

    /// The value above which a share of `p` lies.
    pub fn upper_quantile(self, p: Probability) -> f64 {
        self.search(p.get(), false)
    }

    fn search(self, p: f64, rising: bool) -> f64 {
        let curves = Curves {
            of: self,
            cdf: Self::cdf,
            survival: Self::survival,
            density: Self::density,
        };
        curves.quantile(p, self.df, rising)
    }
}
