//! A probability for which a quantile exists.

use crate::confidence::Confidence;
use crate::degenerate::Degenerate;

/// A probability strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    /// Checks that `value` lies strictly between 0 and 1.
    ///
    /// # Errors
    /// When it does not.
    pub fn new(value: f64) -> Result<Self, Degenerate> {
        if value > 0.0 && value < 1.0 {
            Ok(Self(value))
        } else {
            Err(Degenerate::OutOfRange {
                name: "a probability",
                value,
                wanted: "strictly between 0 and 1",
            })
        }
    }

    /// The area of one tail of a two-sided interval: 0.025 at 95 %.
    pub fn of_one_tail(confidence: Confidence) -> Self {
        Self(confidence.alpha() / 2.0)
    }

    /// What `confidence` leaves, all in one tail: 0.05 at 95 %.
    pub fn of_both_tails(confidence: Confidence) -> Self {
        Self(confidence.alpha())
    }

    /// The number itself.
    pub fn get(self) -> f64 {
        self.0
    }
}
