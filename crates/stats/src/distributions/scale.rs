//! Expectations over an estimated standard deviation: the outer integral of every distribution
//! that divides normal variables by a common estimate.

use super::saddle_point::poisson;
use super::trapezoid::{Sample, sum_both_ways};

/// The expectation of `g(S)` where `v S²` is chi-squared with v degrees of freedom and `g` lies
/// between 0 and 1 and is monotone.
///
/// In `y = ln S` the density is `f(0) exp(v (y - (e^{2y} - 1)/2))`, analytic and falling fast on
/// both sides of its mode at 0.
pub(super) fn expectation_over_scale(v: f64, g: impl Fn(f64) -> f64) -> f64 {
    let half = v / 2.0;
    let at_mode = v * poisson(half, half);
    let step = (0.5 / libm::sqrt(2.0 * v)).min(0.1);
    at_mode
        * sum_both_ways(0.0, step, |y| {
            let weight = libm::exp(v * (y - 0.5 * libm::expm1(2.0 * y)));
            Sample {
                weight,
                value: if weight == 0.0 {
                    0.0
                } else {
                    weight * g(libm::exp(y))
                },
            }
        })
}
