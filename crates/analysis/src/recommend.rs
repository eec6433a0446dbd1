//! Which levels to choose, and under which combination of the rest.
//!
//! A level is named only when it is the best beyond doubt. The best by its mean is tested against
//! every rival, one-sided, on the differences within blocks; a rival is out when it is worse at
//! alpha divided by the number of tests that the whole recommendation makes. Naming a wrong best
//! takes at least one false rejection among the rivals of the true best, so the chance of any
//! wrong name in the whole recommendation is at most alpha.
//!
//! Where nothing is named and the file has a margin, all may be within it of the best: then any will
//! do. Each rival's difference from the best by its mean is tested against the margin at alpha
//! divided by the number of treatments, each of which might have been that best by chance: to say
//! so wrongly takes one false rejection for it, so that this chance is at most alpha as well.

use knobstat_data::words::Setting;
use knobstat_data::{Better, Record, Treatment};
use knobstat_stats::summary::Summary;

use crate::analysis::{Choice, Recommendation};
use crate::censoring;
use crate::comparisons::{Tested, equivalence, looks, margin, test};
use crate::family::Pair;
use crate::needed::more_blocks;
use crate::observations::Observed;
use crate::{phrase, self_timed};

/// +1 where more is better, -1 where less is.
pub(crate) fn sign(better: Better) -> f64 {
    match better {
        Better::Higher => 1.0,
        Better::Lower => -1.0,
    }
}

/// The factors among whose levels a choice is wanted: those of a partial baseline, else the
/// knobs, else all.
fn chosen_factors(record: &Record) -> Vec<&str> {
    let experiment = &record.experiment;
    let all = || experiment.factors.iter();
    let of_baseline: Vec<&str> = all()
        .map(|factor| factor.name.as_str())
        .filter(|name| experiment.analysis.baseline.level(name).is_some())
        .collect();
    if !of_baseline.is_empty() && of_baseline.len() < experiment.factors.len() {
        return of_baseline;
    }
    let knobs: Vec<&str> = all()
        .filter(|factor| factor.kind.is_knob())
        .map(|factor| factor.name.as_str())
        .collect();
    if knobs.is_empty() {
        all().map(|factor| factor.name.as_str()).collect()
    } else {
        knobs
    }
}

/// The recommendation of a whole experiment.
pub(crate) fn recommend(record: &Record, values: &[Vec<Observed>]) -> Recommendation {
    let metric = &record.experiment.analysis.metric;
    if let Some(factor) = self_timed::forbids_verdict(&record.experiment, metric) {
        return Recommendation {
            sentence: format!(
                "Nothing is recommended: the workload timed {} itself, by the clock that \
                 {factor} changes.",
                metric.name
            ),
            choices: Vec::new(),
        };
    }
    let chosen = chosen_factors(record);
    let mut combinations: Vec<(Treatment, Vec<usize>)> = Vec::new();
    for (index, treatment) in record.plan.participating() {
        let at = treatment.without(&chosen);
        match combinations.iter_mut().find(|(known, _)| *known == at) {
            Some((_, members)) => members.push(index),
            None => combinations.push((at, vec![index])),
        }
    }
    let selection = Selection {
        record,
        values,
        chosen,
        tests: combinations
            .iter()
            .map(|(_, members)| members.len() - 1)
            .sum(),
        alpha: 1.0 - record.experiment.analysis.confidence.0,
    };
    let choices: Vec<Choice> = combinations
        .into_iter()
        .map(|(at, members)| selection.choose(at, &members))
        .collect();
    Recommendation {
        sentence: overall(&choices),
        choices,
    }
}

/// What all choices of an experiment share.
struct Selection<'a> {
    record: &'a Record,
    values: &'a [Vec<Observed>],
    /// The factors among whose levels a choice is wanted.
    chosen: Vec<&'a str>,
    /// How many tests the whole recommendation makes.
    tests: usize,
    alpha: f64,
}

/// What is left of the members of a combination once the best by its mean has met its rivals.
struct Contest {
    leader: usize,
    /// The leader and every rival that may be as good.
    candidates: Vec<usize>,
    largest_p: f64,
    /// For each rival that is not out and was not held down, the blocks that would likely put it
    /// out.
    waits: Vec<Option<u64>>,
    /// Whether every rival is within the margin of the leader.
    within: bool,
}

impl Selection<'_> {
    /// The choice under one combination.
    fn choose(&self, at: Treatment, members: &[usize]) -> Choice {
        let prefix = phrase::at(&at);
        let Some(contest) = self.contest(members) else {
            return Choice {
                candidates: members.iter().map(|index| self.levels(*index)).collect(),
                best: None,
                p_adjusted: None,
                sentence: phrase::capitalised(&format!("{prefix}nothing was measured.")),
                at,
            };
        };
        let only = members.len() == 1;
        let best = (contest.candidates.len() == 1 && !only).then(|| self.levels(contest.leader));
        let leader = phrase::levels(&self.levels(contest.leader));
        let sentence = if only {
            format!("{prefix}only {leader} was measured, so there is no choice.")
        } else if best.is_some() {
            format!("{prefix}choose {leader}.")
        } else {
            self.undecided(&prefix, &contest)
        };
        Choice {
            at,
            best,
            candidates: contest
                .candidates
                .iter()
                .map(|index| self.levels(*index))
                .collect(),
            p_adjusted: (!only).then_some(contest.largest_p),
            sentence: phrase::capitalised(&sentence),
        }
    }

    /// The levels of a treatment among which a choice is wanted.
    fn levels(&self, index: usize) -> Treatment {
        let settings = &self.record.plan.treatments[index].treatment.settings;
        Treatment::new(
            settings
                .iter()
                .filter(|setting| self.chosen.contains(&setting.factor.as_str()))
                .cloned(),
        )
    }

    /// The member with the best mean; none where nothing was measured.
    fn leader(&self, members: &[usize], sign: f64) -> Option<usize> {
        let mean = |index: usize| {
            let values: Vec<f64> = self.values[index].iter().map(|seen| seen.value).collect();
            Summary::of(&values).map(|summary| summary.mean * sign)
        };
        members
            .iter()
            .filter_map(|index| mean(*index).map(|mean| (*index, mean)))
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
            .map(|(index, _)| index)
    }

    fn contest(&self, members: &[usize]) -> Option<Contest> {
        let experiment = &self.record.experiment;
        let metric = &experiment.analysis.metric;
        let sign = sign(metric.better);
        let leader = self.leader(members, sign)?;
        let mut contest = Contest {
            leader,
            candidates: vec![leader],
            largest_p: 0.0,
            waits: Vec::new(),
            within: true,
        };
        for &rival in members.iter().filter(|member| **member != leader) {
            let pair = Pair {
                treatment: leader,
                baseline: rival,
            };
            let tested = test(pair, self.values, metric, looks(experiment));
            // What was held down may be better than it looks, however bad it looks.
            let held_down = censoring::limit(&self.values[rival]).is_some();
            let p = match &tested.estimate {
                Ok(estimate) if !held_down => {
                    (estimate.p_of_not_better(sign) * self.tests as f64).min(1.0)
                }
                _ => 1.0,
            };
            contest.within &= !held_down && self.is_within(&tested);
            contest.largest_p = contest.largest_p.max(p);
            if p > self.alpha {
                contest.candidates.push(rival);
                if !held_down {
                    contest
                        .waits
                        .push(tested.estimate.as_ref().ok().and_then(|estimate| {
                            more_blocks(
                                estimate.blocks(),
                                estimate.difference.abs() - estimate.shift,
                                estimate.sd,
                                2.0 * self.alpha / self.tests.max(1) as f64,
                            )
                        }));
                }
            }
        }
        contest.candidates.sort_unstable();
        Some(contest)
    }

    /// Whether a rival is within the margin of the leader beyond doubt.
    fn is_within(&self, tested: &Tested) -> bool {
        // No combination has more treatments than twice its tests.
        let alpha = self.alpha / (2 * self.tests) as f64;
        let p = equivalence(tested, margin(&self.record.experiment), self.values);
        p.is_some_and(|p| p <= alpha)
    }

    /// All candidates, or where there are too many for a sentence, how many and the best of them.
    fn named(&self, contest: &Contest) -> String {
        let name = |index: usize| phrase::levels(&self.levels(index));
        if contest.candidates.len() > phrase::MOST_IN_A_SENTENCE {
            return format!(
                "{} choices, of which {} has the best mean",
                contest.candidates.len(),
                name(contest.leader)
            );
        }
        let names: Vec<String> = contest.candidates.iter().map(|one| name(*one)).collect();
        phrase::list(&names, "and")
    }

    fn undecided(&self, prefix: &str, contest: &Contest) -> String {
        let names = self.named(contest);
        if let Some(margin) = margin(&self.record.experiment).filter(|_| contest.within) {
            return format!(
                "{prefix}any of {names} will do: none differs from the best of them by as much as \
                 {} %.",
                phrase::significant(margin * 100.0, 3)
            );
        }
        let without: Vec<String> = contest
            .candidates
            .iter()
            .filter(|index| self.values[**index].is_empty())
            .map(|index| phrase::levels(&self.levels(*index)))
            .collect();
        if !without.is_empty() {
            return format!(
                "{prefix}undecided between {names}; nothing was measured of {}, so more blocks \
                 alone will not decide.",
                phrase::list_of_some(&without, "and")
            );
        }
        let limits: Vec<&str> = contest
            .candidates
            .iter()
            .filter_map(|index| censoring::limit(&self.values[*index]))
            .map(|limit| limit.word())
            .collect();
        let waits: Option<Vec<u64>> = contest.waits.iter().copied().collect();
        let longest = waits.and_then(|waits| waits.into_iter().max());
        let remedy = match (limits.as_slice(), longest) {
            ([limit, _, ..], _) => {
                format!("they were limited by the {limit}, and only a wider limit would decide")
            }
            (_, Some(blocks)) => format!(
                "about {} more would likely decide",
                phrase::count(blocks, "block")
            ),
            _ => "more blocks, or a longer workload, would be needed to decide".to_owned(),
        };
        format!("{prefix}undecided between {names}; {remedy}.")
    }
}

/// All choices in one sentence: neighbouring combinations with the same answer are taken together
/// where one factor of numbers tells them apart.
fn overall(choices: &[Choice]) -> String {
    if choices.is_empty() {
        return "Nothing is recommended: no treatment takes part.".to_owned();
    }
    if let [one] = choices {
        return one.sentence.clone();
    }
    if choices.iter().all(|choice| choice.best.is_none()) {
        return "Nothing is recommended: under no combination is one choice the best beyond doubt."
            .to_owned();
    }
    let answer = |choice: &Choice| match &choice.best {
        Some(best) => phrase::levels(best),
        None => "undecided".to_owned(),
    };
    let first = answer(&choices[0]);
    if choices.iter().all(|choice| answer(choice) == first) {
        return format!("Choose {first}, under every combination of the rest.");
    }
    let mut runs: Vec<(String, Vec<&Choice>)> = Vec::new();
    let mut in_order: Vec<&Choice> = choices.iter().collect();
    let one_factor = choices.iter().all(|choice| choice.at.settings.len() == 1);
    if one_factor {
        in_order.sort_by(|a, b| a.at.settings[0].level.cmp(&b.at.settings[0].level));
    }
    for choice in in_order {
        let answer = answer(choice);
        match runs.last_mut() {
            Some((last, members)) if *last == answer && one_factor => members.push(choice),
            _ => runs.push((answer, vec![choice])),
        }
    }
    let last = runs.len() - 1;
    let parts: Vec<String> = runs
        .iter()
        .enumerate()
        .map(|(place, (answer, members))| {
            format!("{answer} {}", whereabouts(members, place == last))
        })
        .collect();
    phrase::capitalised(&format!("{}.", parts.join("; ")))
}

/// "at packet_size=64", "from packet_size=128 up", "from packet_size=128 to 512".
fn whereabouts(members: &[&Choice], to_the_end: bool) -> String {
    let settings = |choice: &Choice| phrase::list(&choice.at.settings, "and");
    let level = |setting: Option<&Setting>| {
        setting.map_or_else(String::new, |setting| setting.level.to_string())
    };
    match members {
        [] => String::new(),
        [one] => format!("at {}", settings(one)),
        [first, .., last] => {
            let ordered = first.at.settings[0].level.as_number().is_some();
            if !ordered {
                let all: Vec<String> = members.iter().map(|choice| settings(choice)).collect();
                format!("at {}", phrase::list(&all, "and"))
            } else if to_the_end {
                format!("from {} up", settings(first))
            } else {
                format!(
                    "from {} to {}",
                    settings(first),
                    level(last.at.settings.first())
                )
            }
        }
    }
}
