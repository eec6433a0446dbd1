//! How much to measure: power, required blocks, and what a test can reach at all.

mod detectable;
mod half_width;
mod power;
mod reachable;
mod required;

pub use detectable::smallest_effect;
pub use half_width::blocks_for_half_width;
pub use power::{power_paired, power_two_sample};
pub use reachable::{SmallestReachable, smallest_reachable_n};
pub use required::{
    PilotPlan, Required, required_blocks, required_blocks_from_pilot, required_per_group,
};

use crate::degenerate::Degenerate;

/// Beyond this many repetitions a plan is no plan.
const MOST: f64 = 1e9;

fn require_alpha(alpha: f64) -> Result<f64, Degenerate> {
    if alpha > 0.0 && alpha < 1.0 {
        Ok(alpha)
    } else {
        Err(Degenerate::OutOfRange {
            name: "alpha",
            value: alpha,
            wanted: "strictly between 0 and 1",
        })
    }
}

/// The smallest real n of at least `from` for which `enough` holds, given that more is always
/// enough; none when even a thousand million is not.
fn smallest(from: f64, enough: impl Fn(f64) -> bool) -> Option<f64> {
    if enough(from) {
        return Some(from);
    }
    let (mut low, mut high) = (from, from * 2.0);
    while !enough(high) {
        if high > MOST {
            return None;
        }
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..60 {
        let middle = low + (high - low) / 2.0;
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}
