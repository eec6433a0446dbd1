//! The regularised incomplete gamma function.

use super::beta::Parts;
use super::saddle_point;

/// `P(a, x)` and `Q(a, x)` for a > 0: DLMF 8.11.4 below the mean, the continued fraction 8.9.2
/// (by Lentz's method) above it.
pub(super) fn regularised_gamma(a: f64, x: f64) -> Parts {
    if x <= 0.0 {
        return Parts {
            lower: 0.0,
            upper: 1.0,
        };
    }
    if !x.is_finite() {
        return Parts {
            lower: 1.0,
            upper: 0.0,
        };
    }
    if x < a + 1.0 {
        let lower = (saddle_point::poisson(a, x) * series(a, x)).clamp(0.0, 1.0);
        Parts {
            lower,
            upper: 1.0 - lower,
        }
    } else {
        // x^a e^-x / Γ(a) = a x^a e^-x / Γ(a+1)
        let upper = (saddle_point::poisson(a, x) * a * continued_fraction(a, x)).clamp(0.0, 1.0);
        Parts {
            lower: 1.0 - upper,
            upper,
        }
    }
}

/// `Σ x^k / ((a+1) … (a+k))`, all terms positive.
fn series(a: f64, x: f64) -> f64 {
    let (mut sum, mut term, mut denominator) = (1.0, 1.0, a);
    loop {
        denominator += 1.0;
        term *= x / denominator;
        let next = sum + term;
        if next == sum {
            return sum;
        }
        sum = next;
    }
}

fn continued_fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let not_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let terms = 1000.0 + 20.0 * libm::sqrt(a);
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / not_zero(b);
    let mut value = d;
    let mut k = 1.0;
    while k < terms {
        let numerator = -k * (k - a);
        b += 2.0;
        d = 1.0 / not_zero(numerator * d + b);
        c = not_zero(b + numerator / c);
        let change = d * c;
        value *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
        k += 1.0;
    }
    value
}
