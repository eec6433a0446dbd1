//! The worst of many windows of one length that stand side by side.

/// Adds up what was lost, window by window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    length: u64,
    /// The window that is being added up, and what was lost in it so far.
    current: u64,
    lost: u64,
    worst: u64,
}

impl Windows {
    /// Windows of this length, from the moment 0.
    pub(super) fn new(length: u64) -> Self {
        Self {
            length: length.max(1),
            current: 0,
            lost: 0,
            worst: 0,
        }
    }

    /// The time between two moments was lost; later moments come later.
    pub(super) fn lose(&mut self, from: u64, to: u64) {
        let mut at = from;
        while at < to {
            let window = at / self.length;
            if window != self.current {
                self.close();
                self.current = window;
            }
            let end = to.min((window + 1).saturating_mul(self.length));
            self.lost += end - at;
            at = end;
            // Whole windows are lost alike: one of them stands for all.
            if self.lost == self.length && to - at > self.length {
                at += (to - at) / self.length * self.length;
            }
        }
    }

    fn close(&mut self) {
        self.worst = self.worst.max(self.lost);
        self.lost = 0;
    }

    /// The largest share of a window that was lost.
    pub(super) fn worst(mut self) -> f64 {
        self.close();
        self.worst as f64 / self.length as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn worst(length: u64, lost: &[(u64, u64)]) -> f64 {
        let mut windows = Windows::new(length);
        for (from, to) in lost {
            windows.lose(*from, *to);
        }
        windows.worst()
    }

    #[test]
    fn what_crosses_a_border_counts_on_both_sides() {
        assert_eq!(worst(100, &[]), 0.0);
        assert_eq!(worst(100, &[(10, 20), (30, 35), (120, 130)]), 0.15);
        assert_eq!(worst(100, &[(90, 170)]), 0.7);
        assert_eq!(worst(100, &[(90, 310)]), 1.0);
        assert_eq!(worst(1, &[(0, 1 << 60)]), 1.0);
    }

    proptest! {
        #[test]
        fn it_is_what_counting_moment_by_moment_gives(
            length in 1u64..20,
            pieces in proptest::collection::vec((0u64..30, 0u64..80), 0..8),
        ) {
            let (mut lost, mut now) = (Vec::new(), 0);
            for (gap, long) in pieces {
                lost.push((now + gap, now + gap + long));
                now += gap + long;
            }
            let mut counts = std::collections::BTreeMap::new();
            for (from, to) in &lost {
                for moment in *from..*to {
                    *counts.entry(moment / length).or_insert(0u64) += 1;
                }
            }
            let most = counts.values().copied().max().unwrap_or(0);
            prop_assert_eq!(worst(length, &lost), most as f64 / length as f64);
        }
    }
}
