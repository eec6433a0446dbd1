//! The smallest effect that a number of repetitions can find.

use super::power::power_paired;
use super::{require_alpha, smallest};
use crate::degenerate::Degenerate;
use crate::distributions::positive;

/// Effects below this many standard deviations are found by no feasible number of blocks.
const SMALLEST: f64 = 1e-6;

/// The smallest mean difference that a two-sided paired t test at `alpha` finds with probability
/// `power`, with so many blocks whose differences have standard deviation `sd`; in the unit of `sd`.
///
/// # Errors
/// When there are fewer than two blocks or a parameter is out of range.
pub fn smallest_effect(blocks: usize, sd: f64, alpha: f64, power: f64) -> Result<f64, Degenerate> {
    let sd = positive("the standard deviation", sd)?;
    require_alpha(alpha)?;
    if blocks < 2 {
        return Err(Degenerate::TooFew {
            needed: 2,
            got: blocks,
        });
    }
    let out_of_range = Degenerate::OutOfRange {
        name: "the power",
        value: power,
        wanted: "above alpha and below 1",
    };
    if !(power > alpha && power < 1.0) {
        return Err(out_of_range);
    }
    smallest(SMALLEST, |effect| {
        power_paired(blocks as f64, effect, alpha).is_ok_and(|reached| reached >= power)
    })
    .map(|effect| effect * sd)
    .ok_or(out_of_range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::required_blocks;

    #[test]
    fn it_is_the_effect_for_which_so_many_blocks_are_needed() {
        for blocks in [2, 6, 44, 1000] {
            let effect = smallest_effect(blocks, 2.0, 0.05, 0.9).unwrap();
            let needed = required_blocks(effect, 2.0, 0.05, 0.9).unwrap().exact;
            assert!(
                (needed / blocks as f64 - 1.0).abs() < 1e-6,
                "{blocks}: {needed}"
            );
        }
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        assert!(smallest_effect(1, 1.0, 0.05, 0.8).is_err());
        assert!(smallest_effect(6, 0.0, 0.05, 0.8).is_err());
        assert!(smallest_effect(6, 1.0, 0.05, 0.01).is_err());
        assert!(smallest_effect(6, 1.0, 1.0, 0.8).is_err());
    }
}
