//! A level of confidence, said in percent as people say it.

use crate::degenerate::Degenerate;

/// A level of confidence strictly between 0 % and 100 %.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Confidence {
    percent: f64,
}

impl Confidence {
    /// The level of 95 %.
    pub const PERCENT_95: Confidence = Confidence { percent: 95.0 };

    /// The level of `percent`, for example 95.0.
    ///
    /// # Errors
    /// When `percent` does not lie strictly between 0 and 100.
    pub fn percent(percent: f64) -> Result<Self, Degenerate> {
        let confidence = Self { percent };
        if percent > 0.0 && percent < 100.0 && confidence.alpha() > 0.0 && confidence.alpha() < 1.0
        {
            Ok(confidence)
        } else {
            Err(Degenerate::OutOfRange {
                name: "confidence in percent",
                value: percent,
                wanted: "strictly between 0 and 100",
            })
        }
    }

    /// The level whose probability of error is `alpha`, for example 0.05.
    ///
    /// # Errors
    /// When `alpha` does not lie strictly between 0 and 1.
    pub fn from_alpha(alpha: f64) -> Result<Self, Degenerate> {
        Self::percent(100.0 * (1.0 - alpha)).map_err(|_| Degenerate::OutOfRange {
            name: "alpha",
            value: alpha,
            wanted: "strictly between 0 and 1",
        })
    }

    /// The probability of error that the level leaves: 0.05 at 95 %.
    pub fn alpha(self) -> f64 {
        (100.0 - self.percent) / 100.0
    }

    /// The level in percent.
    pub fn as_percent(self) -> f64 {
        self.percent
    }
}
