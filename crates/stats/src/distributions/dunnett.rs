//! The largest of several t statistics that share a baseline and an estimate of the standard
//! deviation: Dunnett's multivariate t.

use super::root::increasing_quantile;
use super::scale::expectation_over_scale;
use super::trapezoid::{Sample, walk};
use super::{Normal, Probability, StudentT, positive};
use crate::degenerate::Degenerate;

/// The distribution of `max |T_i|` where T_i and T_j have correlation `λ_i λ_j`.
///
/// For the mean of n_i values against that of n_0, `λ_i = sqrt(n_i / (n_i + n_0))`.
#[derive(Debug, Clone, PartialEq)]
pub struct DunnettT {
    loadings: Vec<f64>,
    df: f64,
}

impl DunnettT {
    /// The distribution for these loadings λ and degrees of freedom.
    ///
    /// # Errors
    /// When there is no loading, one does not lie from 0 up to but without 1, or the degrees of
    /// freedom are not a finite number above zero.
    pub fn new(loadings: &[f64], degrees_of_freedom: f64) -> Result<Self, Degenerate> {
        if loadings.is_empty() {
            return Err(Degenerate::TooFew { needed: 1, got: 0 });
        }
        if let Some(wrong) = loadings
            .iter()
            .find(|loading| !(0.0..1.0).contains(*loading))
        {
            return Err(Degenerate::OutOfRange {
                name: "a loading",
                value: *wrong,
                wanted: "from 0 up to but without 1",
            });
        }
        Ok(Self {
            loadings: loadings.to_vec(),
            df: positive("the degrees of freedom", degrees_of_freedom)?,
        })
    }

    /// The distribution for groups of these sizes against a baseline of `baseline` values.
    ///
    /// # Errors
    /// When there is no group, a size is zero, or the degrees of freedom are out of range.
    pub fn for_sizes(
        baseline: usize,
        groups: &[usize],
        degrees_of_freedom: f64,
    ) -> Result<Self, Degenerate> {
        if baseline == 0 || groups.contains(&0) {
            return Err(Degenerate::TooFew { needed: 1, got: 0 });
        }
        let loadings: Vec<f64> = groups
            .iter()
            .map(|n| libm::sqrt(*n as f64 / (*n as f64 + baseline as f64)))
            .collect();
        Self::new(&loadings, degrees_of_freedom)
    }

    /// The probability that some |T_i| exceeds `c`.
    pub fn survival(&self, c: f64) -> f64 {
        if c <= 0.0 {
            return 1.0;
        }
        expectation_over_scale(self.df, |s| self.normal_survival(c * s)).clamp(0.0, 1.0)
    }

    /// The probability that no |T_i| exceeds `c`.
    pub fn cdf(&self, c: f64) -> f64 {
        1.0 - self.survival(c)
    }

    /// The value that the largest |T_i| stays below with probability `p`.
    pub fn quantile(&self, p: Probability) -> f64 {
        self.search(1.0 - p.get())
    }

    /// The value that the largest |T_i| exceeds with probability `p`.
    pub fn upper_quantile(&self, p: Probability) -> f64 {
        self.search(p.get())
    }

    fn search(&self, upper: f64) -> f64 {
        let sides = 2.0 * self.loadings.len() as f64;
        let start = match (StudentT::new(self.df), Probability::new(upper / sides)) {
            (Ok(t), Ok(p)) => t.upper_quantile(p),
            _ => 2.0,
        };
        let target = libm::log(upper);
        libm::exp(increasing_quantile(libm::log(start), 0.1, |log_c| {
            target - libm::log(self.survival(libm::exp(log_c)).max(f64::MIN_POSITIVE))
        }))
    }

    /// The same for a known standard deviation. Given the common part z of the baseline the
    /// statistics are independent: `∫ φ(z) [1 - Π (1 - b_i(z))] dz` with
    /// `b_i = P(|λ_i z + sqrt(1 - λ_i²) Z| > c)`, an even function of z.
    fn normal_survival(&self, c: f64) -> f64 {
        let steepness: f64 = self.loadings.iter().map(|l| l * l / (1.0 - l * l)).sum();
        let step = 0.7 / libm::sqrt(1.0 + steepness);
        let at = |z: f64| {
            let weight = Normal.density(z);
            if weight == 0.0 {
                return Sample { weight, value: 0.0 };
            }
            let none: f64 = self
                .loadings
                .iter()
                .map(|loading| {
                    let rest = libm::sqrt(1.0 - loading * loading);
                    let beyond = Normal.survival((c + loading * z) / rest)
                        + Normal.survival((c - loading * z) / rest);
                    libm::log1p(-beyond.min(1.0))
                })
                .sum();
            Sample {
                weight,
                value: -weight * libm::expm1(none),
            }
        };
        let centre = at(0.0).value;
        (step * (centre + 2.0 * walk(0.0, step, centre, at))).clamp(0.0, 1.0)
    }
}
