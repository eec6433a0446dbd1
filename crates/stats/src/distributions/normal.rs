//! The standard normal distribution.

use super::Probability;

/// The normal distribution with mean 0 and standard deviation 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Normal;

const SQRT_TWO_PI: f64 = 2.506_628_274_631_000_7;

impl Normal {
    /// The density at `x`.
    pub fn density(self, x: f64) -> f64 {
        libm::exp(-0.5 * x * x) / SQRT_TWO_PI
    }

    /// The probability of a value above `x`.
    pub fn survival(self, x: f64) -> f64 {
        0.5 * libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2)
    }

    /// The probability of a value of at most `x`.
    pub fn cdf(self, x: f64) -> f64 {
        self.survival(-x)
    }

    /// The value below which a share of `p` lies.
    pub fn quantile(self, p: Probability) -> f64 {
        -self.upper_quantile(p)
    }

    /// The value above which a share of `p` lies.
    pub fn upper_quantile(self, p: Probability) -> f64 {
        let p = p.get();
        if p > 0.5 {
            return -upper_half(1.0 - p);
        }
        upper_half(p)
    }
}

/// The upper quantile for p of at most one half.
fn upper_half(p: f64) -> f64 {
    if p == 0.5 {
        return 0.0;
    }
    // Start from Abramowitz and Stegun 26.2.23 (error below 4.5e-4) and polish with Halley steps
    // on ln survival, whose curvature is mild everywhere.
    let t = libm::sqrt(-2.0 * libm::log(p));
    let mut z = t
        - (2.515517 + t * (0.802853 + t * 0.010328))
            / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for _ in 0..4 {
        let survival = Normal.survival(z);
        let error = if survival > 1e-3 {
            libm::log1p((survival - p) / p)
        } else {
            libm::log(survival) - libm::log(p)
        };
        let hazard = Normal.density(z) / survival;
        // d/dz ln S = -h and d²/dz² ln S = h (z - h).
        let newton = error / hazard;
        let step = newton / (1.0 + 0.5 * newton * (z - hazard));
        if !step.is_finite() {
            break;
        }
        z += step;
        if step.abs() <= 1e-16 * z.abs() {
            break;
        }
    }
    z
}
