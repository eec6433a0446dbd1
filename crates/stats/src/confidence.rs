//! A level of confidence, said in percent as people say it.

use crate::degenerate::Degenerate;

/// A level of confidence strictly between 0 % and 100 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    percent: f64,
    /// Kept beside the percentage, which cannot hold a very small one.
    alpha: f64,
}

impl Confidence {
    /// The level of 95 %.
    pub const PERCENT_95: Confidence = Confidence {
        percent: 95.0,
        alpha: 0.05,
    };

    /// The level of `percent`, for example 95.0.
    ///
    /// # Errors
    /// When `percent` does not lie strictly between 0 and 100.
    pub fn percent(percent: f64) -> Result<Self, Degenerate> {
        let alpha = (100.0 - percent) / 100.0;
        if alpha > 0.0 && alpha < 1.0 {
            Ok(Self { percent, alpha })
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
        if alpha > 0.0 && alpha < 1.0 {
            Ok(Self {
                percent: 100.0 * (1.0 - alpha),
                alpha,
            })
        } else {
            Err(Degenerate::OutOfRange {
                name: "alpha",
                value: alpha,
                wanted: "strictly between 0 and 1",
            })
        }
    }

    /// The probability of error that the level leaves: 0.05 at 95 %.
    pub fn alpha(self) -> f64 {
        self.alpha
    }

    /// The level in percent.
    pub fn as_percent(self) -> f64 {
        self.percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_and_alpha_belong_together() {
        assert_eq!(Confidence::percent(95.0).unwrap(), Confidence::PERCENT_95);
        assert_eq!(Confidence::from_alpha(0.05).unwrap().as_percent(), 95.0);
        assert_eq!(Confidence::from_alpha(1e-30).unwrap().alpha(), 1e-30);
        for percent in [0.0, 100.0, -5.0, f64::NAN, 1e-20] {
            assert!(Confidence::percent(percent).is_err(), "{percent}");
        }
        assert!(Confidence::from_alpha(1.0).is_err());
    }
}
