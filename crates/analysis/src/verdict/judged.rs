//! What a comparison came to: plain values, whatever was compared.

use knobstat_stats::Interval;

/// A difference, how sure it is, and the verdict on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The mean minus that of the baseline; of treatments, over the common blocks.
    pub difference: Option<f64>,
    /// The difference in percent of the baseline's mean.
    pub percent: Option<f64>,
    /// The interval of the difference, at [`Judged::confidence_percent`].
    pub interval: Option<Interval>,
    /// The interval of the difference in percent of the baseline's mean.
    pub percent_interval: Option<Interval>,
    /// The confidence at which this comparison was tested so that the whole family keeps its own.
    pub confidence_percent: f64,
    /// The two-sided p-value by itself.
    pub p: Option<f64>,
    /// The p-value adjusted for the family.
    pub p_adjusted: Option<f64>,
    /// How many comparisons the family has.
    pub family: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether a difference is one for the better; none unless the verdict is "different" and it is
    /// known which way is better.
    pub better: Option<bool>,
    /// The verdict in a plain sentence.
    pub sentence: String,
    /// Blocks, pairs or values of each beyond those that there are, which would likely decide, where
    /// the verdict is "undecided" and they would help.
    pub more: Option<u64>,
}

/// The three verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The means differ, beyond the error rate of the family.
    Different,
    /// The means differ by less than the margin that was given.
    Equivalent,
    /// Neither can be said.
    Undecided,
}

impl Verdict {
    /// The word, as it is printed and exported.
    pub fn word(self) -> &'static str {
        match self {
            Self::Different => "different",
            Self::Equivalent => "equivalent",
            Self::Undecided => "undecided",
        }
    }
}
