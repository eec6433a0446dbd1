//! How many more values of each set would likely decide what is undecided.

use knobstat_stats::planning::power_two_sample;

use super::estimate::Independent;
use crate::needed::{POWER, fewest_more};

/// Further values of each set with which a test at `alpha` would likely find a difference of
/// `effect`, were the spread to stay; none where that is no effect or takes more than a thousand.
pub(super) fn more_of_each(estimate: &Independent, effect: f64, alpha: f64) -> Option<u64> {
    if !(effect.is_finite() && effect > 0.0) {
        return None;
    }
    fewest_more(|more| {
        let n = estimate.n.map(|n| n as f64 + more as f64);
        let errors = [0, 1].map(|of| estimate.sd[of] / n[of].sqrt());
        let error = errors[0].hypot(errors[1]);
        let share = |of: usize| (errors[of] / error).powi(4) / (n[of] - 1.0);
        let df = 1.0 / (share(0) + share(1));
        // The two-sample test with equal groups that has these degrees of freedom and this
        // noncentrality, effect / error.
        let per_group = df / 2.0 + 1.0;
        let standardised = effect / error / (per_group / 2.0).sqrt();
        standardised.is_finite()
            && power_two_sample(per_group, standardised, alpha).is_ok_and(|power| power >= POWER)
    })
}
