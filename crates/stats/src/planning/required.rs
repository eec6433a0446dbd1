//! The number of repetitions that finds an effect of a given size.

use super::power::{power_paired, power_two_sample};
use super::{require_alpha, smallest};
use crate::degenerate::Degenerate;
use crate::distributions::{ChiSquared, Probability, positive};
use crate::tests::paired::paired_t;

/// A number of repetitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Required {
    /// Where the condition is just met, were n a real number.
    pub exact: f64,
    /// The smallest whole number that meets it.
    pub n: usize,
}

impl Required {
    pub(super) fn from_exact(exact: f64) -> Self {
        // A whole number found by bisection may lie a rounding error above itself.
        let whole = exact.round();
        let n = if (exact - whole).abs() < 1e-9 * whole {
            whole
        } else {
            exact.ceil()
        };
        Self {
            exact,
            n: n as usize,
        }
    }
}

fn required(
    effect: f64,
    sd: f64,
    alpha: f64,
    power: f64,
    of: impl Fn(f64, f64, f64) -> Result<f64, Degenerate>,
) -> Result<Required, Degenerate> {
    let effect = positive("the effect to find", effect.abs())?;
    let sd = positive("the standard deviation", sd)?;
    require_alpha(alpha)?;
    if !(power > alpha && power < 1.0) {
        return Err(Degenerate::OutOfRange {
            name: "the power",
            value: power,
            wanted: "above alpha and below 1",
        });
    }
    let standardised = effect / sd;
    // Two values are the fewest that a test can use; an error counts as not enough.
    smallest(2.0, |n| {
        of(n, standardised, alpha).is_ok_and(|reached| reached >= power)
    })
    .map(Required::from_exact)
    .ok_or(Degenerate::OutOfRange {
        name: "the effect in standard deviations",
        value: standardised,
        wanted: "larger, since even a thousand million repetitions would not find it",
    })
}

/// The blocks that a two-sided paired t test at `alpha` needs to find `effect` with probability
/// `power` when the block differences have standard deviation `sd`.
///
/// # Errors
/// When a parameter is out of range or no feasible number is enough.
pub fn required_blocks(
    effect: f64,
    sd: f64,
    alpha: f64,
    power: f64,
) -> Result<Required, Degenerate> {
    required(effect, sd, alpha, power, power_paired)
}

/// The values in each of two groups that a two-sample t test needs.
///
/// # Errors
/// When a parameter is out of range or no feasible number is enough.
pub fn required_per_group(
    effect: f64,
    sd: f64,
    alpha: f64,
    power: f64,
) -> Result<Required, Degenerate> {
    required(effect, sd, alpha, power, power_two_sample)
}

/// What a pilot says about the blocks needed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PilotPlan {
    /// With the pilot's standard deviation as it is.
    pub expected: Required,
    /// With the upper 80 % limit of the standard deviation, since a small pilot often shows too
    /// little spread (Browne 1995).
    pub cautious: Required,
}

/// The blocks needed in all, from the block differences of a pilot.
///
/// # Errors
/// When the pilot has fewer than two differences or no spread, or as [`required_blocks`].
pub fn required_blocks_from_pilot(
    pilot: &[f64],
    effect: f64,
    alpha: f64,
    power: f64,
) -> Result<PilotPlan, Degenerate> {
    let found = paired_t(pilot)?;
    let low_end = ChiSquared::new(found.df)?.quantile(Probability::new(0.2)?);
    let upper_sd = found.sd * (found.df / low_end).sqrt();
    Ok(PilotPlan {
        expected: required_blocks(effect, found.sd, alpha, power)?,
        cautious: required_blocks(effect, upper_sd, alpha, power)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_an_independent_implementation() {
        let close = |found: Required, wanted: f64| {
            assert!(
                (found.exact / wanted - 1.0).abs() < 1e-7,
                "{found:?} {wanted}"
            );
            assert_eq!(found.n, wanted.ceil() as usize);
        };
        close(
            required_per_group(0.5, 1.0, 0.05, 0.8).unwrap(),
            63.76561058891169,
        );
        close(
            required_per_group(0.2, 1.0, 0.05, 0.8).unwrap(),
            393.4056930002526,
        );
        close(
            required_per_group(1.0, 1.0, 0.05, 0.9).unwrap(),
            22.021088441446192,
        );
        close(
            required_blocks(0.5, 1.0, 0.05, 0.9).unwrap(),
            43.99548069841475,
        );
    }

    #[test]
    fn a_small_pilot_asks_for_caution() {
        let plan = required_blocks_from_pilot(&[1.0, 2.0, 3.0, 1.5, 2.5], 0.5, 0.05, 0.9).unwrap();
        assert!(plan.cautious.n > plan.expected.n);
        assert!(required_blocks_from_pilot(&[1.0], 0.5, 0.05, 0.9).is_err());
        assert!(required_blocks(0.0, 1.0, 0.05, 0.9).is_err());
        assert!(required_blocks(1e-9, 1.0, 0.05, 0.9).is_err());
        assert!(required_blocks(1.0, 1.0, 0.05, 0.01).is_err());
    }
}
