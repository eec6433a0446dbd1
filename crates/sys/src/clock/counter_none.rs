//! Architectures without a counter that is known here.

use super::NoCounter;

/// The counter's name.
pub(super) const NAME: &str = "none";

/// Always why there is none.
pub(super) fn probe() -> Result<(), NoCounter> {
    Err(NoCounter::Architecture)
}

/// Never: there is nothing to vouch for.
pub(super) fn is_vouched() -> bool {
    false
}

/// Never called, because [`probe`] never succeeds.
pub(super) fn read() -> u64 {
    0
}
