//! Leading factors of the binomial and Poisson kind without cancellation.
//!
//! Loader, C. (2000), "Fast and Accurate Computation of Binomial Probabilities".

const TWO_PI: f64 = 2.0 * std::f64::consts::PI;

/// The error of Stirling's formula, `ln Γ(z+1) - (z + 1/2) ln z + z - ln(2π)/2`, for z > 0.
pub(super) fn stirling_error(z: f64) -> f64 {
    // Below 16 the recurrence
    //   δ(z) - δ(z+1) = (z + 1/2) ln(1 + 1/z) - 1
    // leads up to where the asymptotic series has full precision.
    let (mut z, mut correction) = (z, 0.0);
    while z < 16.0 {
        correction += (z + 0.5) * libm::log1p(1.0 / z) - 1.0;
        z += 1.0;
    }
    // Bernoulli numbers over 2k(2k-1).
    const TERMS: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
        -3617.0 / 122_400.0,
    ];
    let inverse_square = 1.0 / (z * z);
    let series = TERMS
        .iter()
        .rev()
        .fold(0.0, |sum, term| sum * inverse_square + term);
    correction + series / z
}

/// The deviance `x ln(x/mean) + mean - x`, exact where x is near the mean.
pub(super) fn deviance(x: f64, mean: f64) -> f64 {
    // What is no number is not near anything, and a series of it would never end.
    let is_near = (x - mean).abs() < 0.1 * (x + mean);
    if !is_near {
        return x * libm::log(x / mean) + mean - x;
    }
    let ratio = (x - mean) / (x + mean);
    let square = ratio * ratio;
    let mut sum = (x - mean) * ratio;
    let mut power = 2.0 * x * ratio;
    let mut odd = 1.0;
    loop {
        power *= square;
        odd += 2.0;
        let next = sum + power / odd;
        if next == sum {
            return sum;
        }
        sum = next;
    }
}

/// `Γ(a+b+1) / (Γ(a+1) Γ(b+1)) x^a y^b` where `x + y = 1`.
pub(super) fn binomial(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let n = a + b;
    let exponent = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n * x)
        - deviance(b, n * y);
    libm::exp(exponent) * libm::sqrt(n / (TWO_PI * a * b))
}

/// `x^a e^-x / Γ(a+1)`.
pub(super) fn poisson(a: f64, x: f64) -> f64 {
    libm::exp(-stirling_error(a) - deviance(a, x)) / libm::sqrt(TWO_PI * a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_ends_too() {
        for (x, mean) in [(f64::NAN, 1.0), (1.0, f64::NAN), (f64::NAN, f64::NAN)] {
            assert!(deviance(x, mean).is_nan());
        }
        assert!(binomial(f64::NAN, 1.0, 0.5, 0.5).is_nan());
        assert!(poisson(3.0, f64::NAN).is_nan());
        assert_eq!(deviance(2.0, 2.0), 0.0);
    }
}
