//! Student's t distribution.

use super::beta::regularised_beta;
use super::root::{Point, positive_quantile};
use super::saddle_point::stirling_error;
use super::{Normal, Probability, positive};
use crate::degenerate::Degenerate;

/// Student's t with any positive number of degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudentT {
    df: f64,
}

/// From here on the expansion about the normal distribution is exact to the last digit.
const MANY: f64 = 1e4;

impl StudentT {
    /// The distribution with `degrees_of_freedom`.
    ///
    /// # Errors
    /// When that is not a finite number above zero.
    pub fn new(degrees_of_freedom: f64) -> Result<Self, Degenerate> {
        Ok(Self {
            df: positive("the degrees of freedom", degrees_of_freedom)?,
        })
    }

    /// The density at `t`.
    pub fn density(self, t: f64) -> f64 {
        let v = self.df;
        let exponent = -0.5 * (v + 1.0) * libm::log1p(t * t / v);
        libm::exp(exponent) * height(v)
    }

    /// The probability of a value above `t`.
    pub fn survival(self, t: f64) -> f64 {
        if t < 0.0 {
            return 1.0 - self.survival(-t);
        }
        if self.df >= MANY {
            return near_normal_survival(t, self.df);
        }
        if t > 1e100 {
            return self.far_tail(t);
        }
        let square = t * t;
        // Of x = v/(v+t²) and y = t²/(v+t²) neither is taken as 1 minus the other.
        let (x, y) = (self.df / (self.df + square), square / (self.df + square));
        0.5 * regularised_beta(self.df / 2.0, 0.5, x, y).lower
    }

    /// The power law that the survival function becomes where 1 + v/t² is 1.
    fn far_tail(self, t: f64) -> f64 {
        let v = self.df;
        let log_height = libm::log(height(v));
        libm::exp(log_height + 0.5 * (v - 1.0) * libm::log(v) - v * libm::log(t))
    }

    /// The probability of a value of at most `t`.
    pub fn cdf(self, t: f64) -> f64 {
        self.survival(-t)
    }

    /// The probability of a value at least as far from zero as `t`.
    pub fn two_sided(self, t: f64) -> f64 {
        (2.0 * self.survival(t.abs())).min(1.0)
    }

    /// The value below which a share of `p` lies.
    pub fn quantile(self, p: Probability) -> f64 {
        -self.upper_quantile(p)
    }

    /// The value above which a share of `p` lies.
    pub fn upper_quantile(self, p: Probability) -> f64 {
        let p = p.get();
        if p > 0.5 {
            return -self.upper_half(1.0 - p);
        }
        self.upper_half(p)
    }

    fn upper_half(self, p: f64) -> f64 {
        if p == 0.5 {
            return 0.0;
        }
        let start = match Probability::new(p) {
            Ok(p) => Normal.upper_quantile(p).max(1e-300),
            Err(_) => 1.0,
        };
        positive_quantile(p, start, false, |t| Point {
            probability: self.survival(t),
            density: self.density(t),
        })
    }
}

/// The density at zero, `Γ((v+1)/2) / (Γ(v/2) sqrt(vπ))`.
fn height(v: f64) -> f64 {
    // With Γ(z) = Γ(z+1)/z and Stirling's formula for both; h = v/2.
    let h = v / 2.0;
    let exponent =
        stirling_error(h + 0.5) - stirling_error(h) + (h + 1.0) * libm::log1p(0.5 / h) - 0.5;
    libm::exp(exponent) * libm::sqrt(h) * h / (h + 0.5) / libm::sqrt(v * std::f64::consts::PI)
}

/// The survival function for many degrees of freedom.
///
/// With `u² = v ln(1 + t²/v)` the density becomes exactly
/// `c e^{-u²/2} e^{s/4} sqrt((s/2)/sinh(s/2))` with `s = u²/v`, and the root is a short series in s.
/// The powers of u integrate by parts. (The substitution is that of Hill 1970, CACM algorithm 395.)
fn near_normal_survival(t: f64, v: f64) -> f64 {
    let ratio = t * t / v;
    let u_squared = if ratio.is_infinite() {
        return 0.0;
    } else {
        v * libm::log1p(ratio)
    };
    // e^{-u²/2 + u²/(4v)} = e^{-w²/2}
    let shrink = 1.0 - 0.5 / v;
    let w = libm::sqrt(u_squared * shrink);
    if w > 40.0 {
        return 0.0;
    }
    const SIXTH: f64 = (1.0 / 5670.0 + 1.0 / 4320.0 + 1.0 / 10_368.0) / 64.0;
    // sqrt((s/2)/sinh(s/2)) = 1 - s²/48 + s⁴/2560 - …; s = w²/(v shrink).
    let scale = 1.0 / (v * shrink);
    let square = w * w;
    let gauss = Normal.density(w);
    let moment_0 = Normal.survival(w);
    let moment_1 = w * gauss + moment_0;
    let moment_2 = square * w * gauss + 3.0 * moment_1;
    let moment_3 = square * square * w * gauss + 5.0 * moment_2;
    let moment_4 = square * square * square * w * gauss + 7.0 * moment_3;
    let moment_5 = square.powi(4) * w * gauss + 9.0 * moment_4;
    let moment_6 = square.powi(5) * w * gauss + 11.0 * moment_5;
    let integral = moment_0 - moment_2 * scale * scale / 48.0 + moment_4 * scale.powi(4) / 2560.0
        - moment_6 * scale.powi(6) * SIXTH;
    // Γ((v+1)/2) / (Γ(v/2) sqrt(v/2)), DLMF 5.11.13.
    let i = 1.0 / v;
    let constant = 1.0 - i * (0.25 - i * (1.0 / 32.0 + i * (5.0 / 128.0 - i * 21.0 / 2048.0)));
    constant * integral / libm::sqrt(shrink)
}
