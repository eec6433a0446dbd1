//! The course of a set's values in the order in which they stand.

use knobstat_stats::health::{change_point, ljung_box, trend, warm_up};

use super::{Looked, MOST_LOOKED_AT, over_sets};
use crate::analysis::Caveat;
use crate::phrase;

/// A check speaks when what it saw has at most this probability in a healthy series.
const SURPRISING: f64 = 0.01;

/// Values in order of size.
pub(super) fn sorted(sets: &[Looked]) -> Option<Caveat> {
    over_sets(
        sets,
        "sorted",
        |looked| looked.sorted.then(|| looked.name.clone()),
        |names| {
            format!(
                "Values stand in order of size: {names}. The order in which they were measured is \
                 lost, and with it whether they drifted."
            )
        },
    )
}

/// Whether values rise, fall, jump, or begin unlike the rest.
pub(super) fn order(sets: &[Looked]) -> Option<Caveat> {
    over_sets(
        sets,
        "drift",
        |looked| {
            if looked.sorted {
                return None;
            }
            let values = &looked.thinned;
            let drifts = |values: &[f64]| trend(values).is_ok_and(|trend| trend.p <= SURPRISING);
            // A beginning unlike a rest that goes on the same way is no warm-up.
            let warm_up = warm_up(values, SURPRISING)
                .ok()
                .flatten()
                .filter(|warm_up| !drifts(&values[warm_up.length..]));
            let what = if let Some(warm_up) = warm_up {
                let place = warm_up.length * looked.set.series.values.len() / values.len();
                format!("the first {}", phrase::count(place.max(1) as u64, "value"))
            } else if drifts(values) {
                let up = trend(values).is_ok_and(|trend| trend.slope > 0.0);
                (if up { "rising" } else { "falling" }).to_owned()
            } else {
                let found = change_point(values)
                    .ok()
                    .filter(|found| found.p <= SURPRISING)?;
                let place = found.at * looked.set.series.values.len() / values.len();
                format!("a jump at value {}", place + 1)
            };
            Some(format!("{} ({what})", looked.name))
        },
        |names| {
            format!(
                "Values changed over time, in the order in which they stand: {names}. If they were \
                 measured in that order, their mean depends on when one began and ended."
            )
        },
    )
}

/// Whether neighbours resemble each other.
pub(super) fn neighbours(sets: &[Looked]) -> Option<Caveat> {
    over_sets(
        sets,
        "autocorrelated",
        |looked| {
            let values = &looked.set.series.values;
            let values = &values[..values.len().min(MOST_LOOKED_AT)];
            if looked.sorted || values.len() < 10 {
                return None;
            }
            let lags = (values.len() / 5).min(10);
            let found = ljung_box(values, lags).ok()?;
            (found.p <= SURPRISING).then(|| looked.name.clone())
        },
        |names| {
            format!(
                "Neighbouring values resemble each other: {names}. They say less than as many \
                 independent ones, and a difference is found too easily."
            )
        },
    )
}
