//! How many more blocks would likely decide.

use knobstat_stats::planning::power_paired;

/// The power that counts as "likely".
pub(crate) const POWER: f64 = 0.9;

/// More blocks than this are not worth naming a number for.
pub(crate) const MOST: u64 = 1000;

/// Blocks beyond those done after which a two-sided paired t test at `alpha` would find a mean
/// difference of `effect` with a power of 90 %, were the block differences to keep their standard
/// deviation. None where that is no effect, or takes more than a thousand.
pub(crate) fn more_blocks(done: usize, effect: f64, sd: f64, alpha: f64) -> Option<u64> {
    let standardised = effect / sd;
    if !(standardised.is_finite() && standardised > 0.0) {
        return None;
    }
    fewest_more(|more| {
        power_paired(done as f64 + more as f64, standardised, alpha)
            .is_ok_and(|power| power >= POWER)
    })
}

/// The smallest number of further values, at most a thousand, that is enough, given that more than
/// enough is enough too.
pub(crate) fn fewest_more(enough: impl Fn(u64) -> bool) -> Option<u64> {
    if !enough(MOST) {
        return None;
    }
    let (mut too_few, mut suffices) = (0, MOST);
    while suffices - too_few > 1 {
        let middle = u64::midpoint(too_few, suffices);
        if enough(middle) {
            suffices = middle;
        } else {
            too_few = middle;
        }
    }
    Some(suffices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use knobstat_stats::planning::required_blocks;

    #[test]
    fn agrees_with_the_plan_from_scratch() {
        for effect in [0.5, 1.0, 2.0] {
            let all = required_blocks(effect, 1.0, 0.05, POWER).unwrap().n as u64;
            assert_eq!(more_blocks(3, effect, 1.0, 0.05), Some(all - 3), "{effect}");
        }
    }

    #[test]
    fn what_would_take_for_ever_has_no_number() {
        assert_eq!(more_blocks(6, 0.001, 1.0, 0.05), None);
        assert_eq!(more_blocks(6, 0.0, 1.0, 0.05), None);
        assert_eq!(more_blocks(6, -1.0, 1.0, 0.05), None);
        assert_eq!(more_blocks(6, 1.0, 0.0, 0.05), None);
    }
}
