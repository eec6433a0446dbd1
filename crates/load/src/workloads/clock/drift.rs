//! How fast a clock goes, by two moments that are known by both it and the reference.

use super::figures::Drift;

/// A moment by both: at `reference` or up to `width` before it the clock went on by `step` to
/// `time`. All in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Anchor {
    reference: u64,
    width: u64,
    time: u64,
    step: u64,
}

/// So often is a moment looked for; the tightest counts.
const TRIES: u32 = 4;

/// The tightest of a few moments at which the clock stepped; `None` when it was not seen to step
/// while there was time.
pub(super) fn anchor(
    mut reference: impl FnMut() -> u64,
    mut now: impl FnMut() -> u64,
    mut time_left: impl FnMut() -> bool,
) -> Option<Anchor> {
    let mut tightest: Option<Anchor> = None;
    for _ in 0..TRIES {
        let old = now();
        let mut before = reference();
        loop {
            if !time_left() {
                return tightest;
            }
            let time = now();
            let after = reference();
            if time != old {
                let width = after.saturating_sub(before);
                if tightest.is_none_or(|tightest| width < tightest.width) {
                    tightest = Some(Anchor {
                        reference: after,
                        width,
                        time,
                        step: time.abs_diff(old),
                    });
                }
                break;
            }
            before = after;
        }
    }
    tightest
}

/// The drift between two moments, given how far the reference's own rate may be off; `None` where
/// no time passed by the reference.
pub(super) fn drift(first: Anchor, second: Anchor, reference_ppm: f64) -> Option<Drift> {
    let passed = second.reference.checked_sub(first.reference)? as f64;
    if passed <= 0.0 {
        return None;
    }
    // A clock that was set back has gone the other way.
    let shown = second.time as f64 - first.time as f64;
    // A coarse clock goes on with the tick, which may come late by as much as it goes on.
    let unsure = (first.width + first.step + second.width + second.step) as f64;
    Some(Drift {
        ppm: (shown / passed - 1.0) * 1e6,
        uncertainty_ppm: reference_ppm + unsure / passed * 1e6,
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    /// The anchors of a clock of this rate and step, a second apart, each reading taking 25 ns.
    fn found(ppm: f64, step: u64) -> Drift {
        let time = Cell::new(5_000_000u64);
        let reference = || {
            time.set(time.get() + 25);
            time.get()
        };
        let now = || {
            time.set(time.get() + 25);
            let shown = time.get() as f64 * (1.0 + ppm / 1e6);
            shown as u64 / step * step
        };
        let first = anchor(reference, now, || true).unwrap();
        time.set(time.get() + 1_000_000_000);
        let second = anchor(reference, now, || true).unwrap();
        drift(first, second, 2.0).unwrap()
    }

    proptest! {
        #[test]
        fn the_drift_is_found_within_what_is_stated(ppm in -400.0..400.0, coarse in any::<bool>()) {
            let step = if coarse { 4_000_000 } else { 1 };
            let drift = found(ppm, step);
            prop_assert!((drift.ppm - ppm).abs() <= drift.uncertainty_ppm, "{drift:?} of {ppm}");
            prop_assert!(coarse || drift.uncertainty_ppm < 3.0, "{drift:?}");
        }
    }

    #[test]
    fn a_clock_that_stands_still_has_no_anchor() {
        let mut left = 1_000;
        let time_left = || {
            left -= 1;
            left > 0
        };
        assert_eq!(anchor(|| 1, || 7, time_left), None);
        let still = Anchor {
            reference: 5,
            width: 1,
            time: 5,
            step: 1,
        };
        assert_eq!(drift(still, still, 0.0), None);
    }
}
