//! The shape of a set's values, whatever their order.

use knobstat_stats::health::{bimodality, outliers};

use super::{Looked, named, over_sets};
use crate::analysis::Caveat;
use crate::phrase;

/// Of normal values so many lie as far from the rest as what counts as far.
const FAR_BY_CHANCE: f64 = 0.000_465;

pub(super) fn two_clusters(sets: &[Looked]) -> Option<Caveat> {
    over_sets(
        sets,
        "two-clusters",
        |looked| {
            let modes = bimodality(&looked.sampled).ok()??;
            Some(format!(
                "{} (about {} and about {})",
                looked.name,
                phrase::significant(modes.lower, 4),
                phrase::significant(modes.upper, 4)
            ))
        },
        |names| {
            format!(
                "Values fall into two clusters: {names}. Something has two states there, and the \
                 mean describes neither."
            )
        },
    )
}

pub(super) fn far_values(sets: &[Looked]) -> Option<Caveat> {
    over_sets(
        sets,
        "outliers",
        |looked| {
            if bimodality(&looked.sampled).is_ok_and(|modes| modes.is_some()) {
                return None;
            }
            let places = outliers(&looked.sampled).ok()?;
            let by_chance = FAR_BY_CHANCE * looked.sampled.len() as f64;
            if places.len() as f64 <= 2.0 * by_chance {
                return None;
            }
            let far: Vec<String> = places
                .iter()
                .filter_map(|place| looked.sampled.get(*place))
                .map(|value| phrase::significant(*value, 4))
                .collect();
            Some(format!("{} of {}", named(&far), looked.name))
        },
        |values| format!("Far from the rest: {values}. They are kept and counted."),
    )
}
