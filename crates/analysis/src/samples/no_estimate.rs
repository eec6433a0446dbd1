//! Why two sets of plain samples have no estimate of their difference, and what to do about it.

use knobstat_stats::Degenerate;

use crate::verdict::{Names, NoEstimate};

/// The reason, for sets so named that have `n` and `m` values.
pub(super) fn no_estimate(
    names: &Names,
    (n, m): (usize, usize),
    paired: bool,
    reason: &Degenerate,
) -> NoEstimate {
    let (at, set, baseline) = (&names.at, &names.set, &names.baseline);
    let noun = names.noun();
    let one = if n <= 1 { set } else { baseline };
    let sentence = match (n, m, reason) {
        (0, 0, _) => {
            format!("{at}{set} and {baseline} have no value of {noun}, so nothing can be said.")
        }
        (0, _, _) | (_, 0, _) => {
            format!("{at}{one} has no value of {noun}, so it cannot be compared.")
        }
        (_, _, Degenerate::LengthsDiffer { left, right }) => format!(
            "{at}{set} and {baseline} cannot be paired: they have {left} and {right} values. \
             Give as many of each, in the same order, or compare without --paired."
        ),
        (1, 1, _) if paired => format!(
            "{at}{set} and {baseline} are one pair: a single difference does not show how much \
             it would vary. Measure at least two pairs, better six."
        ),
        (1, 1, _) => format!(
            "{at}{set} and {baseline} have a single value each, which does not show how much \
             it would vary. Measure at least two of each, better six."
        ),
        (1, _, _) | (_, 1, _) => format!(
            "{at}{one} has a single value, which does not show how much it would vary, so it \
             cannot be compared. Measure at least two, better six."
        ),
        (_, _, Degenerate::ZeroVariance { value: 0.0, .. }) => format!(
            "{at}every value of {set} and of {baseline} is the same and no step of the scale \
             is known, so nothing can be said of their difference; measure more finely."
        ),
        (_, _, other) => format!("{at}{set} and {baseline} cannot be compared: {other}."),
    };
    let one_would_do =
        (n == 1 || m == 1) && n > 0 && m > 0 && !matches!(reason, Degenerate::LengthsDiffer { .. });
    NoEstimate {
        sentence,
        more: one_would_do.then_some(1),
    }
}
