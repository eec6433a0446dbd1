//! From an estimated difference to a verdict and its sentence: the same for treatments of an
//! experiment and for plain samples.
//!
//! It must not know where the values come from; what is compared, and what is repeated, it has in
//! [`words`].

mod equivalence;
mod estimated;
mod judged;
mod words;

use knobstat_data::Better;
use knobstat_stats::{Confidence, Interval};

use crate::censoring::Censored;
use crate::family::Adjusted;
use crate::phrase;

pub(crate) use equivalence::equivalences;
pub(crate) use estimated::Estimated;
pub use judged::{Judged, Verdict};
pub(crate) use words::{BLOCKS, Idiom, Names, PAIRS, VALUES};

/// What all comparisons of a family share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    /// Its error rate.
    pub(crate) alpha: f64,
    /// The margin of equivalence, as a share of the baseline's mean.
    pub(crate) margin: Option<f64>,
    /// How many comparisons it has.
    pub(crate) size: usize,
}

/// Why there is no estimate.
pub(crate) struct NoEstimate {
    /// The reason in a sentence.
    pub(crate) sentence: String,
    /// How many more repetitions would give one, where it is only that.
    pub(crate) more: Option<u64>,
}

/// Everything that the verdict of one comparison depends on.
pub(crate) struct Evidence<'a, E> {
    /// What is compared.
    pub(crate) names: Names<'a>,
    /// The words for what is repeated.
    pub(crate) idiom: &'a Idiom,
    /// Which way is better, where that is known.
    pub(crate) direction: Option<Better>,
    /// The estimate, or why there is none.
    pub(crate) estimate: Result<&'a E, NoEstimate>,
    /// The adjusted test for a difference.
    pub(crate) adjusted: Adjusted,
    /// The adjusted p-value of the difference being as large as the margin.
    pub(crate) equivalence: Option<f64>,
    /// What held the values down.
    pub(crate) censored: Option<Censored>,
    /// The factor that forbids a verdict on a metric that the workload timed itself.
    pub(crate) self_timed: Option<&'a str>,
    /// What the comparisons of the family share.
    pub(crate) family: Family,
}

/// A verdict with its sentence.
struct Ruling {
    verdict: Verdict,
    better: Option<bool>,
    sentence: String,
    more: Option<u64>,
}

impl Ruling {
    fn undecided(sentence: String) -> Self {
        Self {
            verdict: Verdict::Undecided,
            better: None,
            sentence,
            more: None,
        }
    }
}

impl<E: Estimated> Evidence<'_, E> {
    /// Judges the comparison, at the confidence that its place in the family asks for.
    /// `only_difference` is the difference where a single one was seen.
    pub(crate) fn judge(&self, only_difference: Option<f64>) -> Judged {
        let confidence = self.confidence();
        let estimate = self.estimate.as_ref().ok();
        let interval = estimate.and_then(|estimate| estimate.interval(confidence));
        let percent_interval = estimate.and_then(|estimate| estimate.percent_interval(confidence));
        let ruling = self.rule(Intervals {
            absolute: interval,
            percent: percent_interval,
        });
        let tested = estimate.filter(|_| self.self_timed.is_none());
        Judged {
            difference: estimate.map_or(only_difference, |estimate| Some(estimate.difference())),
            percent: estimate.and_then(|estimate| estimate.percent()),
            interval,
            percent_interval,
            confidence_percent: confidence.as_percent(),
            p: tested.map(|estimate| estimate.p()),
            p_adjusted: tested.map(|_| self.adjusted.p),
            family: self.family.size,
            verdict: ruling.verdict,
            better: ruling.better,
            sentence: ruling.sentence,
            more: ruling.more,
        }
    }

    /// The confidence at which the comparison is tested so that its family keeps its own.
    pub(crate) fn confidence(&self) -> Confidence {
        Confidence::from_alpha(self.adjusted.alpha)
            .or_else(|_| Confidence::from_alpha(self.family.alpha))
            .unwrap_or(Confidence::PERCENT_95)
    }

    fn rule(&self, intervals: Intervals) -> Ruling {
        let Names {
            at, set, baseline, ..
        } = &self.names;
        if let Some(factor) = self.self_timed {
            return Ruling::undecided(format!(
                "{at}{set} and {baseline} get no verdict: the workload timed {} itself, by the \
                 clock that {factor} changes. {} if it has a clock of its own.",
                self.names.noun(),
                self.idiom.trust
            ));
        }
        let estimate = match &self.estimate {
            Ok(estimate) => *estimate,
            Err(none) => {
                return Ruling {
                    more: none.more,
                    ..Ruling::undecided(none.sentence.clone())
                };
            }
        };
        if let Some(both @ Censored::Both(..)) = self.censored {
            return Ruling::undecided(format!(
                "{at}{set} and {baseline} are undecided (both limited by {}): what they would \
                 reach without that limit was not seen.",
                both.words()
            ));
        }
        if let (Some(equivalence), Some(margin), None) =
            (self.equivalence, self.family.margin, self.censored)
            && equivalence <= self.family.alpha
        {
            return self.equivalent(margin);
        }
        if self.adjusted.p <= self.family.alpha {
            self.different(estimate, intervals)
        } else {
            self.undecided(estimate, intervals)
        }
    }

    fn equivalent(&self, margin: f64) -> Ruling {
        let Names {
            at, set, baseline, ..
        } = &self.names;
        let aside = if self.adjusted.p <= self.family.alpha {
            " There is a difference, and it is smaller than that."
        } else {
            ""
        };
        Ruling {
            verdict: Verdict::Equivalent,
            better: None,
            sentence: format!(
                "{at}{set} and {baseline} are equivalent: their {} differs by less than {} \
                 %.{aside}",
                self.names.noun(),
                (self.idiom.margin_number)(margin * 100.0, 3)
            ),
            more: None,
        }
    }

    fn different(&self, estimate: &E, intervals: Intervals) -> Ruling {
        let Names {
            at, set, baseline, ..
        } = &self.names;
        if let Some(Censored::TheWorse(limit)) = self.censored {
            return Ruling::undecided(format!(
                "{at}{set} and {baseline} are undecided: the one whose {} looks worse was limited \
                 by the {}, so it may be the better one.",
                self.names.noun(),
                limit.word()
            ));
        }
        let size = self.size(estimate, intervals);
        let limited = self
            .censored
            .map(|censored| format!(" It was limited by {}.", censored.words()))
            .unwrap_or_default();
        let better = self
            .direction
            .map(|direction| estimate.difference() * crate::recommend::sign(direction) > 0.0);
        let subject = self.names.subject();
        let sentence = match better {
            Some(better) => format!(
                "{at}{set} is {} than {baseline}: {subject} is {size}.{limited}",
                if better { "better" } else { "worse" }
            ),
            None => {
                format!("{at}{set} and {baseline} differ: {subject} of {set} is {size}.{limited}")
            }
        };
        Ruling {
            verdict: Verdict::Different,
            better,
            sentence,
            more: None,
        }
    }

    /// "at least 3.5 % higher (between +2.1 % and +4.9 %)".
    fn size(&self, estimate: &E, intervals: Intervals) -> String {
        let difference = estimate.difference();
        let at_least = self.censored.map_or("", |_| "at least ");
        let direction = if difference > 0.0 { "higher" } else { "lower" };
        match (estimate.percent(), intervals.percent) {
            (Some(percent), Some(interval)) => format!(
                "{at_least}{} % {direction} (between {} and {})",
                phrase::significant(percent.abs(), 3),
                phrase::signed_percent(interval.low),
                phrase::signed_percent(interval.high)
            ),
            _ => format!(
                "{at_least}{} {direction}{}, {} because the baseline's mean cannot be told from \
                 zero",
                self.names.with_unit(difference.abs(), 3),
                intervals
                    .absolute
                    .map_or_else(String::new, |interval| format!(
                        " (between {} and {})",
                        phrase::significant(interval.low, 3),
                        phrase::significant(interval.high, 3)
                    )),
                self.idiom.not_in_percent
            ),
        }
    }

    fn undecided(&self, estimate: &E, intervals: Intervals) -> Ruling {
        let between = match (intervals.percent, intervals.absolute) {
            (Some(percent), _) => format!(
                "lies between {} and {}",
                phrase::signed_percent(percent.low),
                phrase::signed_percent(percent.high)
            ),
            (None, Some(interval)) => format!(
                "lies between {} and {}",
                phrase::significant(interval.low, 3),
                self.names.with_unit(interval.high, 3)
            ),
            (None, None) => "has no bounds".to_owned(),
        };
        let step = estimate.shift();
        let (more, remark) = if estimate.is_on_scale() && estimate.difference().abs() <= step {
            let remark = format!(
                "Nothing finer than the step of the scale, {}, is claimed; measure more finely or \
                 run longer.",
                self.names.with_unit(step, self.idiom.step_digits)
            );
            (None, remark)
        } else {
            self.what_would_decide(estimate)
        };
        let sentence = format!(
            "{}{} and {} cannot be told apart: the difference of their {} {between}. {remark}",
            self.names.at,
            self.names.set,
            self.names.baseline,
            self.names.plural(),
        );
        Ruling {
            more,
            ..Ruling::undecided(sentence)
        }
    }

    /// How many more repetitions would likely decide, and the words for it.
    fn what_would_decide(&self, estimate: &E) -> (Option<u64>, String) {
        let distance = estimate.difference().abs();
        let for_difference = estimate.more_needed(distance - estimate.shift(), self.adjusted.alpha);
        // Two one-sided tests at alpha are one two-sided test at twice that.
        let for_equivalence = self.family.margin.and_then(|margin| {
            let room = margin * estimate.baseline_mean().abs() - distance;
            let alpha = 2.0 * self.family.alpha / self.family.size.max(1) as f64;
            estimate.more_needed(room - estimate.shift(), alpha)
        });
        let fewest = [for_difference, for_equivalence]
            .into_iter()
            .flatten()
            .min();
        let thousand = self.idiom.thousand;
        let remark = match fewest {
            Some(more) => format!(
                "About {} would likely decide, if the means stay where they are.",
                (self.idiom.more)(more)
            ),
            None if self.family.margin.is_none() => format!(
                "A difference this small would take more than {thousand}; give {} to ask whether \
                 they are equivalent.",
                self.idiom.margin
            ),
            None => format!(
                "It would take more than {thousand} to decide; a wider margin or a longer workload \
                 would help."
            ),
        };
        (fewest, remark)
    }
}

/// The intervals of a difference.
#[derive(Clone, Copy, Debug)]
struct Intervals {
    absolute: Option<Interval>,
    /// In percent of the baseline's mean.
    percent: Option<Interval>,
}
