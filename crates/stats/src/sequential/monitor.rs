//! Following one comparison block by block.

use super::confidence_sequence::ConfidenceSequence;
use super::e_value::{MixtureScale, log_e_value};
use crate::confidence::Confidence;
use crate::degenerate::{Degenerate, finite};
use crate::interval::Interval;

/// Why a comparison may stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The evidence against "no effect" has reached 1/alpha.
    Different,
    /// The interval of the confidence sequence lies within the margin.
    Equivalent,
    /// The interval is as narrow as was wanted.
    NarrowEnough,
}

/// The state of a comparison that is looked at after every block.
#[derive(Debug, Clone, PartialEq)]
pub struct Monitor {
    sequence: ConfidenceSequence,
    differences: Vec<f64>,
    /// The largest evidence so far; once reached it stays reached.
    log_evidence: f64,
    /// What all intervals so far have in common.
    interval: Option<Interval>,
}

impl Monitor {
    /// A comparison without any block yet.
    pub fn new(confidence: Confidence, scale: MixtureScale) -> Self {
        Self {
            sequence: ConfidenceSequence { confidence, scale },
            differences: Vec::new(),
            log_evidence: 0.0,
            interval: None,
        }
    }

    /// Adds the difference that the next block showed.
    ///
    /// # Errors
    /// When the difference is not finite or a result overflows; then nothing is added.
    pub fn add(&mut self, difference: f64) -> Result<(), Degenerate> {
        self.differences.push(difference);
        let looked = log_e_value(&self.differences, self.sequence.scale)
            .and_then(|evidence| finite(evidence, "the evidence"))
            .and_then(|evidence| Ok((evidence, self.sequence.interval(&self.differences)?)));
        match looked {
            Ok((evidence, interval)) => {
                self.log_evidence = self.log_evidence.max(evidence);
                if let Some(new) = interval {
                    self.interval = Some(self.interval.map_or(new, |old| common(old, new)));
                }
                Ok(())
            }
            Err(error) => {
                self.differences.pop();
                Err(error)
            }
        }
    }

    /// The block differences so far.
    pub fn differences(&self) -> &[f64] {
        &self.differences
    }

    /// A p-value that stays valid however often one looks: the inverse of the largest evidence so
    /// far. It may be adjusted for many comparisons like any other.
    pub fn p(&self) -> f64 {
        libm::exp(-self.log_evidence)
    }

    /// What all intervals so far have in common; none before there are enough blocks.
    pub fn interval(&self) -> Option<Interval> {
        self.interval
    }

    /// Whether the comparison may stop: on a difference, on equivalence within `margin`, or at
    /// `half_width`, whichever were wanted, in this order. `family` comparisons share alpha.
    pub fn stop(
        &self,
        family: usize,
        margin: Option<f64>,
        half_width: Option<f64>,
    ) -> Option<Stop> {
        let alpha = self.sequence.confidence.alpha();
        if self.p() * family.max(1) as f64 <= alpha {
            return Some(Stop::Different);
        }
        let interval = self.interval?;
        if margin.is_some_and(|margin| interval.lies_within(margin)) {
            return Some(Stop::Equivalent);
        }
        half_width
            .is_some_and(|wanted| interval.half_width() <= wanted)
            .then_some(Stop::NarrowEnough)
    }
}

/// What two intervals have in common; where that is nothing, which happens only when one of them
/// misses the truth, the newer one.
fn common(old: Interval, new: Interval) -> Interval {
    let both = Interval {
        low: old.low.max(new.low),
        high: old.high.min(new.high),
    };
    if both.low <= both.high { both } else { new }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Generator;

    fn follow(effect: f64, seed: u64, most: usize) -> Monitor {
        let mut generator = Generator::from_seed(seed);
        let mut monitor = Monitor::new(Confidence::PERCENT_95, MixtureScale::default());
        while monitor.stop(1, Some(0.4), None).is_none() && monitor.differences().len() < most {
            monitor.add(effect + generator.normal()).unwrap();
        }
        monitor
    }

    #[test]
    fn an_effect_and_its_absence_are_both_found() {
        assert_eq!(
            follow(2.0, 3, 200).stop(1, None, None),
            Some(Stop::Different)
        );
        let same = follow(0.0, 3, 2000);
        assert_eq!(same.stop(1, Some(0.4), None), Some(Stop::Equivalent));
        assert_eq!(same.stop(1, None, Some(0.5)), Some(Stop::NarrowEnough));
        assert_eq!(same.stop(1, None, Some(0.01)), None);
    }

    #[test]
    fn what_is_not_finite_is_not_added() {
        let mut monitor = Monitor::new(Confidence::PERCENT_95, MixtureScale::default());
        monitor.add(1.0).unwrap();
        assert!(monitor.add(f64::NAN).is_err());
        assert_eq!(monitor.differences(), [1.0]);
        assert_eq!((monitor.p(), monitor.interval()), (1.0, None));
    }
}
