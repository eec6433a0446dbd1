//! The studentized range distribution, on which Tukey's test of all pairs rests.

use super::root::increasing_quantile;
use super::scale::expectation_over_scale;
use super::trapezoid::{Sample, sum_both_ways};
use super::{Normal, Probability, StudentT, positive};
use crate::degenerate::Degenerate;

/// The range of `groups` independent normal variables over an estimate of their standard
/// deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudentizedRange {
    groups: f64,
    df: f64,
}

impl StudentizedRange {
    /// The distribution for so many groups and degrees of freedom of the estimate.
    ///
    /// # Errors
    /// When there are fewer than two groups or the degrees of freedom are not a finite number above
    /// zero.
    pub fn new(groups: usize, degrees_of_freedom: f64) -> Result<Self, Degenerate> {
        if groups < 2 {
            return Err(Degenerate::TooFew {
                needed: 2,
                got: groups,
            });
        }
        Ok(Self {
            groups: groups as f64,
            df: positive("the degrees of freedom", degrees_of_freedom)?,
        })
    }

    /// The probability of a value above `q`.
    pub fn survival(self, q: f64) -> f64 {
        if q <= 0.0 {
            return 1.0;
        }
        expectation_over_scale(self.df, |s| range_survival(self.groups, q * s)).clamp(0.0, 1.0)
    }

    /// The probability of a value of at most `q`.
    pub fn cdf(self, q: f64) -> f64 {
        1.0 - self.survival(q)
    }

    /// The value below which a share of `p` lies.
    pub fn quantile(self, p: Probability) -> f64 {
        self.search(1.0 - p.get())
    }

    /// The value above which a share of `p` lies.
    pub fn upper_quantile(self, p: Probability) -> f64 {
        self.search(p.get())
    }

    fn search(self, upper: f64) -> f64 {
        // Bonferroni's bound over all pairs is never far above.
        let pairs = self.groups * (self.groups - 1.0);
        let start = match (StudentT::new(self.df), Probability::new(upper / pairs)) {
            (Ok(t), Ok(p)) => t.upper_quantile(p) * std::f64::consts::SQRT_2,
            _ => 3.0,
        };
        let target = libm::log(upper);
        libm::exp(increasing_quantile(libm::log(start), 0.1, |log_q| {
            target - libm::log(self.survival(libm::exp(log_q)).max(f64::MIN_POSITIVE))
        }))
    }
}

/// The probability that the range of k standard normal variables exceeds `q`.
///
/// With the largest variable at z, some other lies below z - q:
/// `∫ k φ(z) [Φ(z)^{k-1} - (Φ(z) - Φ(z-q))^{k-1}] dz`, written without cancellation.
fn range_survival(k: f64, q: f64) -> f64 {
    // φ Φ^{k-1} grows as e^{k y²/2} along the imaginary axis: this step leaves an error of e^-40.
    let step = 0.7 / libm::sqrt(k);
    sum_both_ways(q / 2.0, step, |z| {
        let weight = Normal.density(z);
        if weight == 0.0 {
            return Sample { weight, value: 0.0 };
        }
        let below = Normal.cdf(z);
        let far_below = (Normal.cdf(z - q) / below).min(1.0);
        let some_far_below = -libm::expm1((k - 1.0) * libm::log1p(-far_below));
        Sample {
            weight,
            value: k * weight * libm::pow(below, k - 1.0) * some_far_below,
        }
    })
    .clamp(0.0, 1.0)
}
