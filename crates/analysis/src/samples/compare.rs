//! Every comparison of some samples, judged as one family.

use knobstat_data::experiment::Correction;
use knobstat_data::{Better, Ratio};
use knobstat_stats::comparisons::holm;
use knobstat_stats::summary::{Summary, mean_interval};
use knobstat_stats::{Confidence, Degenerate};

use super::arrange::{Arranged, Group, Set};
use super::estimate::Estimate;
use super::findings::{Comparison, Findings, GroupFindings, SetFindings};
use super::health;
use super::no_estimate::no_estimate;
use super::rank;
use crate::censoring::{self, Censored};
use crate::family::{Adjusted, adjust};
use crate::verdict::{Estimated, Evidence, Family, Names, PAIRS, VALUES, equivalences};

/// What is asked of the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// How sure all verdicts together must be.
    pub confidence: Confidence,
    /// Differences smaller than this share of the baseline's mean do not matter; none: not said.
    pub margin: Option<Ratio>,
    /// Which way is better; none: as the files say, where they do.
    pub better: Option<Better>,
    /// Whether equal positions belong together.
    pub paired: bool,
}

impl Default for Question {
    /// 95 % confidence, no margin, independent samples.
    fn default() -> Self {
        Self {
            confidence: Confidence::PERCENT_95,
            margin: None,
            better: None,
            paired: false,
        }
    }
}

/// Compares every set with the baseline of its group.
pub fn compare(arranged: Arranged, question: Question) -> Findings {
    let groups: Vec<Prepared> = arranged
        .groups
        .iter()
        .map(|group| Prepared::of(group, question))
        .collect();
    let tested = || groups.iter().flat_map(|group| &group.tested);
    let alpha = question.confidence.alpha();
    let p: Vec<Option<f64>> = tested()
        .map(|tested| tested.estimate.as_ref().ok().map(Estimate::p))
        .collect();
    let family = Family {
        alpha,
        margin: question.margin.map(|margin| margin.0),
        size: tested().count(),
    };
    let equivalences = equivalences(
        tested().map(|tested| {
            let step = tested.known_step.unwrap_or(0.0);
            (tested.estimate.as_ref().ok(), step)
        }),
        family.margin,
        Correction::Holm,
        alpha,
    );
    let mut judgements = adjust(&p, Correction::Holm, alpha)
        .into_iter()
        .zip(equivalences);
    let mut comparisons: Vec<Vec<Comparison>> = Vec::new();
    for (group, prepared) in arranged.groups.iter().zip(&groups) {
        let judged = prepared
            .tested
            .iter()
            .zip(judgements.by_ref())
            .map(|(tested, (adjusted, equivalence))| {
                tested.judge(group, question, family, adjusted, equivalence)
            })
            .collect();
        comparisons.push(judged);
    }
    adjust_ranks(&mut comparisons, family.size);
    let caveats = health::caveats(&arranged, &comparisons, question);
    let summaries: Vec<Vec<Option<Summary>>> =
        groups.into_iter().map(|group| group.summaries).collect();
    Findings {
        confidence_percent: question.confidence.as_percent(),
        margin_percent: question.margin.map(Ratio::percent),
        paired: question.paired,
        groups: arranged
            .groups
            .into_iter()
            .zip(comparisons)
            .zip(summaries)
            .map(|((group, comparisons), summaries)| {
                described(group, comparisons, summaries, question)
            })
            .collect(),
        caveats,
    }
}

/// A group as it is reported; its values move into it.
fn described(
    group: Group,
    comparisons: Vec<Comparison>,
    summaries: Vec<Option<Summary>>,
    question: Question,
) -> GroupFindings {
    let better = question.better.or(group.better);
    let sets = group
        .sets
        .into_iter()
        .zip(summaries)
        .map(|(set, summary)| SetFindings {
            interval: mean_interval(&set.series.values, question.confidence)
                .filter(|interval| interval.width() > 0.0),
            name: set.name,
            passed_over: set.series.passed_over,
            summary,
            values: set.series.values,
        })
        .collect();
    GroupFindings {
        at: group.at,
        metric: group.metric,
        unit: group.unit,
        better,
        sets,
        comparisons,
    }
}

/// Holm's correction over the rank tests; a comparison without one counts as one that shows nothing.
fn adjust_ranks(comparisons: &mut [Vec<Comparison>], family: usize) {
    let p: Vec<f64> = comparisons
        .iter()
        .flatten()
        .map(|comparison| comparison.rank.map_or(1.0, |rank| rank.p))
        .collect();
    debug_assert_eq!(p.len(), family);
    for (comparison, adjusted) in comparisons.iter_mut().flatten().zip(holm(&p)) {
        if let Some(rank) = &mut comparison.rank {
            rank.p_adjusted = adjusted;
        }
    }
}

/// A group whose comparisons are estimated and not yet judged.
struct Prepared {
    summaries: Vec<Option<Summary>>,
    tested: Vec<Tested>,
}

/// What is known of one comparison before its family is looked at.
struct Tested {
    /// The set's place in its group.
    place: usize,
    estimate: Result<Estimate, Degenerate>,
    censored: Option<Censored>,
    /// The step of the clock of either set, where it is known.
    known_step: Option<f64>,
}

impl Prepared {
    fn of(group: &Group, question: Question) -> Self {
        let summaries: Vec<Option<Summary>> = group
            .sets
            .iter()
            .map(|set| Summary::of(&set.series.values))
            .collect();
        let better = question.better.or(group.better);
        let tested = (1..group.sets.len())
            .map(|place| {
                let (set, baseline) = (&group.sets[place], &group.sets[0]);
                Tested::of(
                    place,
                    (set, summaries[place].as_ref()),
                    (baseline, summaries[0].as_ref()),
                    (question.paired, better),
                )
            })
            .collect();
        Self { summaries, tested }
    }
}

impl Tested {
    fn of(
        place: usize,
        (set, of_set): (&Set, Option<&Summary>),
        (baseline, of_baseline): (&Set, Option<&Summary>),
        (paired, better): (bool, Option<Better>),
    ) -> Self {
        let known_step = [set.series.granularity, baseline.series.granularity]
            .into_iter()
            .flatten()
            .reduce(f64::max);
        let values = (&set.series.values, &baseline.series.values);
        let fewer = values.0.len().min(values.1.len());
        let estimate = match (of_set, of_baseline) {
            _ if fewer == 0 => Err(Degenerate::TooFew { needed: 2, got: 0 }),
            _ if paired => Estimate::paired(values.0, values.1, known_step),
            (Some(of_set), Some(of_baseline)) => {
                Estimate::independent((values.0, of_set), (values.1, of_baseline), known_step)
            }
            _ => Err(Degenerate::Overflow {
                what: "a mean or a standard deviation",
            }),
        };
        let difference = estimate.as_ref().map_or(0.0, Estimate::difference);
        Self {
            place,
            censored: better.and_then(|better| {
                let (set, baseline) = (set.series.limited_by, baseline.series.limited_by);
                censoring::censored(set, baseline, difference, better)
            }),
            estimate,
            known_step,
        }
    }

    fn judge(
        &self,
        group: &Group,
        question: Question,
        family: Family,
        adjusted: Adjusted,
        equivalence: Option<f64>,
    ) -> Comparison {
        let (set, baseline) = (&group.sets[self.place], &group.sets[0]);
        let self_timed = set.series.self_timed.as_ref();
        let self_timed = self_timed.or(baseline.series.self_timed.as_ref());
        let (n, baseline_n) = (set.series.values.len(), baseline.series.values.len());
        let names = names(group, set, baseline);
        let evidence = Evidence {
            estimate: self
                .estimate
                .as_ref()
                .map_err(|reason| no_estimate(&names, (n, baseline_n), question.paired, reason)),
            names,
            idiom: if question.paired { &PAIRS } else { &VALUES },
            direction: question.better.or(group.better),
            adjusted,
            equivalence,
            censored: self.censored,
            self_timed: self_timed.map(String::as_str),
            family,
        };
        Comparison {
            at: group.at.clone(),
            set: set.name.clone(),
            baseline: baseline.name.clone(),
            n,
            baseline_n,
            judged: evidence.judge(single_difference(set, baseline)),
            p_equivalence: equivalence.filter(|_| self_timed.is_none()),
            method: self.estimate.as_ref().ok().map(Estimate::method),
            rank: self_timed.map_or_else(
                || {
                    rank::test(
                        &set.series.values,
                        &baseline.series.values,
                        question.paired,
                        evidence.confidence(),
                    )
                },
                |_| None,
            ),
        }
    }
}

/// What a sentence calls a set and the baseline of its group.
fn names<'a>(group: &'a Group, set: &Set, baseline: &Set) -> Names<'a> {
    Names {
        at: if group.at.is_empty() {
            String::new()
        } else {
            format!("At {}, ", group.at)
        },
        set: set.name.clone(),
        baseline: baseline.name.clone(),
        metric: &group.metric,
        unit: group.unit.clone(),
    }
}

/// The difference where each has one value.
fn single_difference(set: &Set, baseline: &Set) -> Option<f64> {
    match (
        set.series.values.as_slice(),
        baseline.series.values.as_slice(),
    ) {
        ([set], [baseline]) => Some(set - baseline).filter(|difference| difference.is_finite()),
        _ => None,
    }
}
