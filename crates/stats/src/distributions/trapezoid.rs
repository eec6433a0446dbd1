//! The trapezoidal rule on the whole line, which converges exponentially for analytic functions
//! that die away (Trefethen and Weideman 2014).

/// An integrand at one place.
pub(super) struct Sample {
    /// A factor of the integrand that dies away at both ends; where it is zero, all is.
    pub(super) weight: f64,
    /// The integrand, at least zero.
    pub(super) value: f64,
}

/// `step` times the sum of an integrand with one peak over the grid through `start`.
///
/// Both walks go on until the integrand itself is falling and negligible, so that small integrals
/// keep their relative precision wherever their peak lies.
pub(super) fn sum_both_ways(start: f64, step: f64, f: impl Fn(f64) -> Sample) -> f64 {
    let mut sum = f(start).value;
    sum += walk(start, step, sum, &f);
    sum += walk(start, -step, sum, &f);
    step * sum
}

/// The sum over the grid points on one side of `start`, without `start` itself; `so_far` says what
/// is negligible.
pub(super) fn walk(start: f64, step: f64, so_far: f64, f: impl Fn(f64) -> Sample) -> f64 {
    let (mut sum, mut steps, mut previous) = (0.0, 1.0, 0.0);
    loop {
        let Sample { weight, value } = f(start + steps * step);
        sum += value;
        if weight == 0.0 || (value <= previous && value < 1e-18 * (so_far + sum)) {
            return sum;
        }
        previous = value;
        steps += 1.0;
    }
}
