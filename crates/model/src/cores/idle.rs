//! The idle governor: which state an idle CPU takes, predicted from its next timer.

use crate::machine::IdleState;

/// The deepest of the allowed states whose minimum stay fits before the next timer; the
/// shallowest where none does. `states` are those that are allowed, at least one.
pub(super) fn choose(states: &[IdleState], until_timer: f64) -> usize {
    states
        .iter()
        .rposition(|state| state.minimum_stay.value.0 <= until_timer)
        .unwrap_or(0)
}
