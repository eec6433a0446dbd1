//! The running evidence against "no effect".

use crate::degenerate::Degenerate;
use crate::distributions::positive;
use crate::tests::paired::paired_t;

/// The fixed scale g of the mixture: the variance of the standardised effects that are looked for,
/// in squared standard deviations of the block differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixtureScale(f64);

impl MixtureScale {
    /// The scale g.
    ///
    /// # Errors
    /// When it is not a finite number above zero.
    pub fn new(g: f64) -> Result<Self, Degenerate> {
        Ok(Self(positive("the scale of the mixture", g)?))
    }

    /// The number g.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Default for MixtureScale {
    /// g = 1: effects of about one standard deviation of the block differences. At 5 % an effect of
    /// 0.3 / 0.5 / 1 / 2 of them then takes 112 / 41 / 13 / 7 blocks on average (simulated).
    fn default() -> Self {
        Self(1.0)
    }
}

/// `ln e_n` after the block `differences` so far:
///
/// `-1/2 ln(1 + n g) + n/2 [ ln(1 + t²/v) - ln(1 + t²/(v (1 + n g))) ]` with v = n - 1.
///
/// Fewer than two differences, and differences that are all zero, are no evidence: 0. Differences
/// that all have the same other value have an infinite t; then the limit is taken,
/// `(n - 1)/2 ln(1 + n g)`.
///
/// # Errors
/// When a difference is not finite or a result overflows.
pub fn log_e_value(differences: &[f64], scale: MixtureScale) -> Result<f64, Degenerate> {
    let n = differences.len() as f64;
    let growth = n * scale.get();
    match paired_t(differences) {
        Ok(found) => {
            let ratio = found.t * found.t / found.df;
            if ratio.is_infinite() {
                return Ok(limit(n, growth));
            }
            Ok(-0.5 * libm::log1p(growth)
                + 0.5 * n * (libm::log1p(ratio) - libm::log1p(ratio / (1.0 + growth))))
        }
        Err(Degenerate::TooFew { .. }) => Ok(0.0),
        Err(Degenerate::ZeroVariance { value: 0.0, .. }) => Ok(0.0),
        Err(Degenerate::ZeroVariance { .. } | Degenerate::Overflow { what: "t" }) => {
            Ok(limit(n, growth))
        }
        Err(error) => Err(error),
    }
}

fn limit(n: f64, growth: f64) -> f64 {
    0.5 * (n - 1.0) * libm::log1p(growth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_by_hand() {
        // Mean 1, sd 1, n 4: t = 2, v = 3, g = 1.
        let differences = [0.0, 2.0, 1.0 - 0.5_f64.sqrt(), 1.0 + 0.5_f64.sqrt()];
        let wanted =
            -0.5 * 5.0_f64.ln() + 2.0 * ((1.0 + 4.0 / 3.0_f64).ln() - (1.0 + 4.0 / 15.0_f64).ln());
        let found = log_e_value(&differences, MixtureScale::default()).unwrap();
        assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
    }

    #[test]
    fn odd_inputs_have_a_defined_answer() {
        let scale = MixtureScale::default();
        assert_eq!(log_e_value(&[], scale), Ok(0.0));
        assert_eq!(log_e_value(&[3.0], scale), Ok(0.0));
        assert_eq!(log_e_value(&[0.0; 9], scale), Ok(0.0));
        let equal = log_e_value(&[1.0; 9], scale).unwrap();
        assert!((equal - 4.0 * 10.0_f64.ln()).abs() < 1e-12);
        let nearly = log_e_value(
            &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0 + 1e-12],
            scale,
        );
        assert!((nearly.unwrap() - equal).abs() < 1e-6);
        assert!(log_e_value(&[1.0, f64::NAN], scale).is_err());
        assert!(MixtureScale::new(0.0).is_err());
    }
}
