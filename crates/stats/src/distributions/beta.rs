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
/// Both x and y are wanted so that neither loses digits near 1. The continued fraction is the even
/// part of DLMF 8.17.22, in which nothing cancels (Didonato and Morris 1992), evaluated by Lentz's
/// method; it needs about `sqrt(max(a, b))` terms.
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
    // x^a y^b / B(a, b)
    let factor = saddle_point::binomial(a, b, x, y) * a * (b / (a + b));
    Parts::from_lower(factor / continued_fraction(a, b, x, y))
}

fn continued_fraction(a: f64, b: f64, x: f64, y: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let not_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    // Positive where x lies below the mean, which is where this is used.
    let distance = a * y - b * x + 1.0;
    let denominator = |m: f64| {
        m + m * (b - m) * x / (a + 2.0 * m - 1.0)
            + (a + m) * (distance + m * (1.0 + y)) / (a + 2.0 * m + 1.0)
    };
    let first = a * distance / (a + 1.0);
    let terms = 1000.0 + 20.0 * libm::sqrt(a.max(b));
    let mut value = not_zero(first);
    let (mut c, mut d) = (value, 0.0);
    let mut m = 1.0;
    while m < terms {
        let share = x / (a + 2.0 * m - 1.0);
        let numerator = (a + m - 1.0) * share * ((a + b + m - 1.0) * share) * (m * (b - m));
        let bottom = denominator(m);
        d = 1.0 / not_zero(bottom + numerator * d);
        c = not_zero(bottom + numerator / c);
        let change = c * d;
        value *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
        m += 1.0;
    }
    value
}
