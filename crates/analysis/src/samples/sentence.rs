//! The verdict of one comparison of plain samples, and its sentence.

use knobstat_data::Better;
use knobstat_stats::{Degenerate, Interval};

use super::estimate::Estimate;
use super::outlook::more_values;
use crate::analysis::Verdict;
use crate::censoring::Censored;
use crate::family::Adjusted;
use crate::phrase;

/// Everything that a verdict depends on.
pub(super) struct Evidence<'a> {
    /// What both measure; empty where nothing needs to be told apart.
    pub(super) at: &'a str,
    /// The quantity; empty where nobody says.
    pub(super) metric: &'a str,
    /// Its unit; may be empty.
    pub(super) unit: &'a str,
    /// Which way is better, where that is known.
    pub(super) direction: Option<Better>,
    /// The names and how many values each has.
    pub(super) set: (&'a str, usize),
    pub(super) baseline: (&'a str, usize),
    pub(super) paired: bool,
    /// The estimate, or why there is none.
    pub(super) estimate: Result<&'a Estimate, &'a Degenerate>,
    /// The adjusted test for a difference.
    pub(super) adjusted: Adjusted,
    /// The adjusted p-value of the difference being as large as the margin.
    pub(super) equivalence: Option<f64>,
    /// The margin, as a share of the baseline's mean.
    pub(super) margin: Option<f64>,
    /// The error rate of the family, and its size.
    pub(super) alpha: f64,
    pub(super) family: usize,
    pub(super) interval: Option<Interval>,
    pub(super) percent_interval: Option<Interval>,
    pub(super) censored: Option<Censored>,
    pub(super) self_timed: Option<&'a str>,
}

/// A verdict with its sentence.
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    pub(super) better: Option<bool>,
    pub(super) sentence: String,
    pub(super) more_values: Option<u64>,
}

impl Judged {
    fn undecided(sentence: String) -> Self {
        Self {
            verdict: Verdict::Undecided,
            better: None,
            sentence,
            more_values: None,
        }
    }
}

impl Evidence<'_> {
    /// "At Encode-8, ", or nothing.
    fn held(&self) -> String {
        if self.at.is_empty() {
            String::new()
        } else {
            format!("At {}, ", self.at)
        }
    }

    /// The quantity as the subject of a sentence.
    fn subject(&self) -> &str {
        if self.metric.is_empty() {
            "the mean"
        } else {
            self.metric
        }
    }

    /// The quantity after "their" or "a value of".
    fn noun(&self) -> &str {
        if self.metric.is_empty() {
            "mean"
        } else {
            self.metric
        }
    }

    /// A number with its unit; to be followed by a blank or a full stop.
    fn with_unit(&self, value: f64) -> String {
        let number = phrase::significant(value, 3);
        if self.unit.is_empty() {
            number
        } else {
            format!("{number} {}", self.unit)
        }
    }

    /// Judges the comparison.
    pub(super) fn judge(&self) -> Judged {
        let (at, set, baseline) = (self.held(), self.set.0, self.baseline.0);
        if let Some(factor) = self.self_timed {
            return Judged::undecided(format!(
                "{at}{set} and {baseline} get no verdict: the workload timed {} itself, by the \
                 clock that {factor} changes. Set trust_self_timed = true in the experiment if it \
                 has a clock of its own.",
                self.noun()
            ));
        }
        let estimate = match self.estimate {
            Ok(estimate) => estimate,
            Err(reason) => return self.no_estimate(reason),
        };
        if let Some(both @ Censored::Both(..)) = self.censored {
            return Judged::undecided(format!(
                "{at}{set} and {baseline} are undecided (both limited by {}): what they would \
                 reach without that limit was not seen.",
                both.words()
            ));
        }
        if let (Some(equivalence), Some(margin), None) =
            (self.equivalence, self.margin, self.censored)
            && equivalence <= self.alpha
        {
            let aside = if self.adjusted.p <= self.alpha {
                " There is a difference, and it is smaller than that."
            } else {
                ""
            };
            return Judged {
                verdict: Verdict::Equivalent,
                better: None,
                sentence: format!(
                    "{at}{set} and {baseline} are equivalent: their {} differs by less than {} \
                     %.{aside}",
                    self.noun(),
                    phrase::short(margin * 100.0, 3)
                ),
                more_values: None,
            };
        }
        if self.adjusted.p <= self.alpha {
            self.different(estimate)
        } else {
            self.undecided(estimate)
        }
    }

    fn no_estimate(&self, reason: &Degenerate) -> Judged {
        let at = self.held();
        let ((set, n), (baseline, m)) = (self.set, self.baseline);
        let noun = self.noun();
        let one = if n <= 1 { set } else { baseline };
        let sentence = match (n, m, reason) {
            (0, 0, _) => {
                format!("{at}{set} and {baseline} have no value of {noun}, so nothing can be said.")
            }
            (0, _, _) | (_, 0, _) => {
                format!("{at}{one} has no value of {noun}, so it cannot be compared.")
            }
            (_, _, Degenerate::LengthsDiffer { left, right }) => format!(
                "{at}{set} and {baseline} cannot be paired: they have {left} and {right} values. \
                 Give as many of each, in the same order, or compare without --paired."
            ),
            (1, 1, _) if self.paired => format!(
                "{at}{set} and {baseline} are one pair: a single difference does not show how much \
                 it would vary. Measure at least two pairs, better six."
            ),
            (1, 1, _) => format!(
                "{at}{set} and {baseline} have a single value each, which does not show how much \
                 it would vary. Measure at least two of each, better six."
            ),
            (1, _, _) | (_, 1, _) => format!(
                "{at}{one} has a single value, which does not show how much it would vary, so it \
                 cannot be compared. Measure at least two, better six."
            ),
            (_, _, Degenerate::ZeroVariance { value: 0.0, .. }) => format!(
                "{at}every value of {set} and of {baseline} is the same and no step of the scale \
                 is known, so nothing can be said of their difference; measure more finely."
            ),
            (_, _, other) => format!("{at}{set} and {baseline} cannot be compared: {other}."),
        };
        let mut judged = Judged::undecided(sentence);
        if (n == 1 || m == 1)
            && n > 0
            && m > 0
            && !matches!(reason, Degenerate::LengthsDiffer { .. })
        {
            judged.more_values = Some(1);
        }
        judged
    }

    fn different(&self, estimate: &Estimate) -> Judged {
        let (at, set, baseline) = (self.held(), self.set.0, self.baseline.0);
        if let Some(Censored::TheWorse(limit)) = self.censored {
            return Judged::undecided(format!(
                "{at}{set} and {baseline} are undecided: the one whose {} looks worse was limited \
                 by the {}, so it may be the better one.",
                self.noun(),
                limit.word()
            ));
        }
        let difference = estimate.difference();
        let at_least = self.censored.map_or("", |_| "at least ");
        let direction = if difference > 0.0 { "higher" } else { "lower" };
        let size = match (estimate.percent(), self.percent_interval) {
            (Some(percent), Some(interval)) => format!(
                "{at_least}{} % {direction} (between {} and {})",
                phrase::significant(percent.abs(), 3),
                phrase::signed_percent(interval.low),
                phrase::signed_percent(interval.high)
            ),
            _ => format!(
                "{at_least}{} {direction}{}, not in percent because the baseline's mean cannot be \
                 told from zero",
                self.with_unit(difference.abs()),
                self.interval.map_or_else(String::new, |interval| format!(
                    " (between {} and {})",
                    phrase::significant(interval.low, 3),
                    phrase::significant(interval.high, 3)
                ))
            ),
        };
        let limited = self
            .censored
            .map(|censored| format!(" It was limited by {}.", censored.words()))
            .unwrap_or_default();
        let better = self
            .direction
            .map(|direction| difference * crate::recommend::sign(direction) > 0.0);
        let subject = self.subject();
        let sentence = match better {
            Some(better) => format!(
                "{at}{set} is {} than {baseline}: {subject} is {size}.{limited}",
                if better { "better" } else { "worse" }
            ),
            None => {
                format!("{at}{set} and {baseline} differ: {subject} of {set} is {size}.{limited}")
            }
        };
        Judged {
            verdict: Verdict::Different,
            better,
            sentence,
            more_values: None,
        }
    }

    fn undecided(&self, estimate: &Estimate) -> Judged {
        let between = match (self.percent_interval, self.interval) {
            (Some(percent), _) => format!(
                "lies between {} and {}",
                phrase::signed_percent(percent.low),
                phrase::signed_percent(percent.high)
            ),
            (None, Some(interval)) => format!(
                "lies between {} and {}",
                phrase::significant(interval.low, 3),
                self.with_unit(interval.high)
            ),
            (None, None) => "has no bounds".to_owned(),
        };
        let mut sentence = format!(
            "{}{} and {} cannot be told apart: the difference of their {} {between}.",
            self.held(),
            self.set.0,
            self.baseline.0,
            if self.metric.is_empty() {
                "means"
            } else {
                self.metric
            },
        );
        let mut more = None;
        let shift = estimate.shift();
        if shift > 0.0 && estimate.difference().abs() <= shift {
            sentence.push_str(&format!(
                " Nothing finer than the step of the scale, {}, is claimed; measure more finely or \
                 run longer.",
                self.with_unit(shift)
            ));
        } else {
            let (values, remark) = self.what_would_decide(estimate);
            more = values;
            sentence.push_str(&remark);
        }
        let mut judged = Judged::undecided(sentence);
        judged.more_values = more;
        judged
    }

    /// How many more values would likely decide, and the words for it.
    fn what_would_decide(&self, estimate: &Estimate) -> (Option<u64>, String) {
        let noun = if self.paired { "pair" } else { "value" };
        let distance = estimate.difference().abs();
        let for_difference =
            more_values(estimate, distance - estimate.shift(), self.adjusted.alpha);
        // Two one-sided tests at alpha are one two-sided test at twice that.
        let for_equivalence = self.margin.and_then(|margin| {
            let room = margin * estimate.baseline_mean().abs() - distance;
            let alpha = 2.0 * self.alpha / self.family.max(1) as f64;
            more_values(estimate, room - estimate.shift(), alpha)
        });
        match [for_difference, for_equivalence]
            .into_iter()
            .flatten()
            .min()
        {
            Some(more) => (
                Some(more),
                format!(
                    " About {more} more {noun}{}{} would likely decide, if the means stay where \
                     they are.",
                    if more == 1 { "" } else { "s" },
                    if self.paired { "" } else { " of each" }
                ),
            ),
            None if self.margin.is_none() => (
                None,
                format!(
                    " A difference this small would take more than a thousand further {noun}s; \
                     give --margin to ask whether they are equivalent."
                ),
            ),
            None => (
                None,
                format!(
                    " It would take more than a thousand further {noun}s to decide; a wider margin \
                     or a longer workload would help."
                ),
            ),
        }
    }
}
