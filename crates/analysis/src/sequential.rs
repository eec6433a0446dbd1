//! The test of one comparison that may be looked at after every block.
//!
//! An experiment with a stop rule looks after every block, and a plain t test would cry wolf in a
//! quarter of all such experiments. The running evidence of [`knobstat_stats::sequential`] is
//! worth the same however often it is looked at; its p-value and its intervals hold at all blocks
//! together.

use knobstat_stats::sequential::{ConfidenceSequence, MixtureScale, log_e_value};
use knobstat_stats::summary::Summary;
use knobstat_stats::{Confidence, Interval};

/// The differences after every block, as the scale's step lets them be read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Course {
    /// For every number of blocks from two on, differences that stand for those seen, and how far
    /// the scale may have moved their mean.
    looks: Vec<(Vec<f64>, f64)>,
}

impl Course {
    /// The course of these block differences, read from a scale of this step.
    pub(crate) fn of(differences: &[f64], step: Option<f64>) -> Self {
        let looks = (2..=differences.len())
            .map(|blocks| look(&differences[..blocks], step))
            .collect();
        Self { looks }
    }

    /// The p-value of no difference, valid at all looks together: the inverse of the largest
    /// evidence so far.
    pub(crate) fn p(&self) -> f64 {
        let largest = self
            .looks
            .iter()
            .map(|(differences, shift)| {
                let towards_zero = shifted(differences, *shift);
                log_e_value(&towards_zero, MixtureScale::default()).unwrap_or(0.0)
            })
            .fold(0.0, f64::max);
        (-largest).exp()
    }

    /// What the intervals of the mean difference at all looks have in common; none before there
    /// are enough blocks for any.
    pub(crate) fn interval(&self, confidence: Confidence) -> Option<Interval> {
        let sequence = ConfidenceSequence {
            confidence,
            scale: MixtureScale::default(),
        };
        self.looks
            .iter()
            .filter_map(|(differences, shift)| {
                let interval = sequence.interval(differences).ok().flatten()?;
                Some(Interval {
                    low: interval.low - shift,
                    high: interval.high + shift,
                })
            })
            .filter(|interval| interval.low.is_finite() && interval.high.is_finite())
            .reduce(|old, new| {
                let both = Interval {
                    low: old.low.max(new.low),
                    high: old.high.min(new.high),
                };
                // Nothing in common: one of them misses the truth, and the newer knows more.
                if both.low <= both.high { both } else { new }
            })
    }

    /// The p-value of the mean difference being as large as `margin`: the smallest error rate at
    /// which the interval lies within it.
    pub(crate) fn p_of_not_within(&self, margin: f64) -> f64 {
        let within = |alpha: f64| {
            Confidence::from_alpha(alpha)
                .ok()
                .and_then(|confidence| self.interval(confidence))
                .is_some_and(|interval| interval.lies_within(margin))
        };
        let (mut fails, mut holds) = (-30.0_f64, -0.01_f64);
        if !within(holds.exp()) {
            return 1.0;
        }
        for _ in 0..30 {
            let middle = (fails + holds) / 2.0;
            if within(middle.exp()) {
                holds = middle;
            } else {
                fails = middle;
            }
        }
        holds.exp()
    }
}

/// The differences themselves, or, where they vary less than the step of the scale could hide,
/// differences of the same mean with the largest spread that it could.
fn look(differences: &[f64], step: Option<f64>) -> (Vec<f64>, f64) {
    let n = differences.len() as f64;
    let hidden = step.map_or(0.0, |step| step * (n / (n - 1.0)).sqrt());
    match Summary::of(differences) {
        Some(Summary {
            mean, sd: Some(sd), ..
        }) if sd < hidden => {
            // Two values at equal distances from the mean and the rest at it.
            let distance = hidden * ((n - 1.0) / 2.0).sqrt();
            let mut widest = vec![mean; differences.len()];
            widest[0] += distance;
            widest[1] -= distance;
            (widest, step.unwrap_or(0.0))
        }
        _ => (differences.to_vec(), 0.0),
    }
}

/// The differences moved towards zero, and to it where that is nearer.
fn shifted(differences: &[f64], shift: f64) -> Vec<f64> {
    if shift == 0.0 {
        return differences.to_vec();
    }
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    let moved = mean.signum() * mean.abs().min(shift);
    differences
        .iter()
        .map(|difference| difference - moved)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use knobstat_stats::sequential::Monitor;

    const DIFFERENCES: [f64; 8] = [1.2, 0.7, 1.9, 0.4, 1.1, 0.8, 1.5, 1.0];

    #[test]
    fn agrees_with_a_monitor_that_is_fed_block_by_block() {
        let mut monitor = Monitor::new(Confidence::PERCENT_95, MixtureScale::default());
        for difference in DIFFERENCES {
            monitor.add(difference).unwrap();
        }
        let course = Course::of(&DIFFERENCES, Some(0.1));
        assert!((course.p() / monitor.p() - 1.0).abs() < 1e-12);
        let (ours, theirs) = (
            course.interval(Confidence::PERCENT_95).unwrap(),
            monitor.interval().unwrap(),
        );
        assert!((ours.low - theirs.low).abs() < 1e-12 && (ours.high - theirs.high).abs() < 1e-12);
    }

    #[test]
    fn equal_differences_are_no_more_certain_than_their_scale() {
        let near = Course::of(&[1.0; 20], Some(1.0));
        assert_eq!(near.p(), 1.0);
        let far = Course::of(&[373.0; 20], Some(1.0));
        assert!(far.p() < 1e-6);
        assert!(!far.interval(Confidence::PERCENT_95).unwrap().contains(0.0));
    }

    #[test]
    fn equivalence_is_the_interval_within_the_margin() {
        let course = Course::of(&DIFFERENCES, None);
        let p = course.p_of_not_within(3.0);
        let at = |alpha| {
            course
                .interval(Confidence::from_alpha(alpha).unwrap())
                .unwrap()
        };
        assert!(at(p * 1.01).lies_within(3.0));
        assert!(!at(p * 0.99).lies_within(3.0));
        assert_eq!(course.p_of_not_within(0.1), 1.0);
    }
}
