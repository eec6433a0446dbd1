//! Fisher's F distribution.

use super::beta::{Parts, regularised_beta};
use super::root::Curves;
use super::saddle_point::binomial;
use super::{Probability, positive};
use crate::degenerate::Degenerate;

/// F with any positive degrees of freedom of numerator and denominator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FisherF {
    numerator: f64,
    denominator: f64,
}

impl FisherF {
    /// The distribution with these degrees of freedom.
    ///
    /// # Errors
    /// When one is not a finite number above zero.
    pub fn new(numerator: f64, denominator: f64) -> Result<Self, Degenerate> {
        Ok(Self {
            numerator: positive("the numerator's degrees of freedom", numerator)?,
            denominator: positive("the denominator's degrees of freedom", denominator)?,
        })
    }

    /// `d1 f / (d1 f + d2)` and its complement.
    fn shares(self, f: f64) -> (f64, f64) {
        let product = self.numerator * f;
        if product.is_infinite() {
            return (1.0, 0.0);
        }
        let sum = product + self.denominator;
        (product / sum, self.denominator / sum)
    }

    fn parts(self, f: f64) -> Parts {
        let (x, y) = self.shares(f);
        regularised_beta(self.numerator / 2.0, self.denominator / 2.0, x, y)
    }

    /// The density at `f`; zero outside the positive numbers.
    pub fn density(self, f: f64) -> f64 {
        if f <= 0.0 {
            return 0.0;
        }
        let (x, y) = self.shares(f);
        let (a, b) = (self.numerator / 2.0, self.denominator / 2.0);
        // x^a y^b / B(a, b) / f
        binomial(a, b, x, y) * a * b / (a + b) / f
    }

    /// The probability of a value above `f`.
    pub fn survival(self, f: f64) -> f64 {
        if f <= 0.0 { 1.0 } else { self.parts(f).upper }
    }

    /// The probability of a value of at most `f`.
    pub fn cdf(self, f: f64) -> f64 {
        if f <= 0.0 { 0.0 } else { self.parts(f).lower }
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
        curves.quantile(p, 1.0, rising)
    }
}
