//! The regularised incomplete beta function.

use super::saddle_point;

/// Both parts of a probability; the smaller one has full relative precision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

impl Parts {
    fn from_lower(lower: f64) -> Self {
        let lower = lower.clamp(0.0, 1.0);
        Self {
            lower,
            upper: 1.0 - lower,
        }
    }

    fn swapped(self) -> Self {
        Self {
            lower: self.upper,
            upper: self.lower,
        }
    }
}

/// `I_x(a, b)` and its complement, for a, b > 0 and `x + y = 1`.
///
/// Both x and y are wanted so that neither loses digits near 1. The continued fraction is
/// DLMF 8.17.22, evaluated by Lentz's method; it needs about `sqrt(max(a, b))` terms.
pub(crate) fn regularised_beta(a: f64, b: f64, x: f64, y: f64) -> Parts {
    if x <= 0.0 {
        return Parts::from_lower(0.0);
    }
    if y <= 0.0 {
        return Parts::from_lower(1.0);
    }
    if x * (a + b + 2.0) > a + 1.0 {
        return regularised_beta_left(b, a, y, x).swapped();
    }
    regularised_beta_left(a, b, x, y)
}

fn regularised_beta_left(a: f64, b: f64, x: f64, y: f64) -> Parts {
    // x^a y^b / (a B(a, b))
    let factor = saddle_point::binomial(a, b, x, y) * b / (a + b);
    Parts::from_lower(factor * continued_fraction(a, b, x))
}

fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let not_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let terms = 1000.0 + 20.0 * libm::sqrt(a.max(b));
    let mut c = 1.0;
    let mut d = 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    let mut m = 1.0;
    while m < terms {
        let a2m = a + 2.0 * m;
        let even = m * (b - m) * x / ((a2m - 1.0) * a2m);
        d = 1.0 / not_zero(1.0 + even * d);
        c = not_zero(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / (a2m * (a2m + 1.0));
        d = 1.0 / not_zero(1.0 + odd * d);
        c = not_zero(1.0 + odd / c);
        let change = d * c;
        value *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
        m += 1.0;
    }
    value
}
