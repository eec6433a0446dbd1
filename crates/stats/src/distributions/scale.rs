//! Expectations over an estimated standard deviation: the outer integral of every distribution
//! that divides normal variables by a common estimate.

use super::saddle_point::poisson;

/// The expectation of `g(S)` where `v S²` is chi-squared with v degrees of freedom and `g` lies
/// between 0 and 1 and is monotone.
///
/// In `y = ln S` the density is `f(0) exp(v (y - (e^{2y} - 1)/2))`, analytic and falling fast on
/// both sides of its mode at 0, so that the trapezoidal rule converges exponentially (Trefethen
/// and Weideman 2014). Small results keep their relative precision: both walks go on until the
/// product itself, not the density, has died away.
pub(super) fn expectation_over_scale(v: f64, g: impl Fn(f64) -> f64) -> f64 {
    let half = v / 2.0;
    let at_mode = v * poisson(half, half);
    let step = (0.5 / libm::sqrt(2.0 * v)).min(0.1);
    let term = |y: f64| {
        let density = libm::exp(v * (y - 0.5 * libm::expm1(2.0 * y)));
        (density, density * g(libm::exp(y)))
    };
    let mut sum = term(0.0).1;
    for direction in [-1.0, 1.0] {
        let (mut steps, mut previous) = (1.0, 0.0);
        loop {
            let (density, value) = term(direction * steps * step);
            sum += value;
            if density == 0.0 || (value <= previous && value < 1e-18 * sum) {
                break;
            }
            previous = value;
            steps += 1.0;
        }
    }
    at_mode * step * sum
}
