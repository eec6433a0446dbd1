//! Which levels to choose, and under which combination of the rest.
//!
//! A level is named only when it is the best beyond doubt. The best by its mean is tested against
//! every rival, one-sided, on the differences within blocks; a rival is out when it is worse at
//! alpha divided by the number of tests that the whole recommendation makes. Naming a wrong best
//! takes at least one false rejection among the rivals of the true best, so the chance of any
//! wrong name in the whole recommendation is at most alpha.

use knobstat_data::words::Setting;
use knobstat_data::{Better, Record, Treatment};
use knobstat_stats::summary::Summary;

use crate::analysis::{Choice, Recommendation};
use crate::censoring;
use crate::comparisons::{looks, test};
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
    for (index, planned) in record.plan.treatments.iter().enumerate() {
        if planned.omitted.is_some() {
            continue;
        }
        let at = planned.treatment.without(&chosen);
        match combinations.iter_mut().find(|(known, _)| *known == at) {
            Some((_, members)) => members.push(index),
            None => combinations.push((at, vec![index])),
        }
    }
    let tests: usize = combinations
        .iter()
        .map(|(_, members)| members.len().saturating_sub(1))
        .sum();
    let alpha = 1.0 - record.experiment.analysis.confidence.0;
    let choices: Vec<Choice> = combinations
        .into_iter()
        .map(|(at, members)| {
            let short = |index: usize| {
                let levels = &record.plan.treatments[index].treatment;
                Treatment::new(
                    levels
                        .settings
                        .iter()
                        .filter(|setting| chosen.contains(&setting.factor.as_str()))
                        .cloned(),
                )
            };
            choose(at, &members, &short, record, values, tests, alpha)
        })
        .collect();
    Recommendation {
        sentence: overall(&choices),
        choices,
    }
}

/// The choice under one combination.
fn choose(
    at: Treatment,
    members: &[usize],
    short: &dyn Fn(usize) -> Treatment,
    record: &Record,
    values: &[Vec<Observed>],
    tests: usize,
    alpha: f64,
) -> Choice {
    let metric = &record.experiment.analysis.metric;
    let sign = sign(metric.better);
    let mean = |index: usize| {
        let of_cell: Vec<f64> = values[index]
            .iter()
            .map(|observed| observed.value)
            .collect();
        Summary::of(&of_cell).map(|summary| summary.mean * sign)
    };
    let leader = members
        .iter()
        .filter_map(|index| mean(*index).map(|mean| (*index, mean)))
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .map(|(index, _)| index);
    let prefix = phrase::at(&at);
    let Some(leader) = leader else {
        return Choice {
            candidates: members.iter().map(|index| short(*index)).collect(),
            best: None,
            p_adjusted: None,
            sentence: phrase::capitalised(&format!("{prefix}nothing was measured.")),
            at,
        };
    };
    let mut candidates = vec![leader];
    let mut largest_p = 0.0_f64;
    let mut waits = Vec::new();
    for &rival in members.iter().filter(|member| **member != leader) {
        let pair = Pair {
            treatment: leader,
            baseline: rival,
        };
        let tested = test(pair, values, metric, looks(&record.experiment));
        let held_down = censoring::limit(&values[rival]).is_some();
        let p = match &tested.estimate {
            Ok(estimate) if !held_down => (estimate.p_of_not_better(sign) * tests as f64).min(1.0),
            _ => 1.0,
        };
        largest_p = largest_p.max(p);
        if p > alpha {
            candidates.push(rival);
            if !held_down {
                waits.push(tested.estimate.as_ref().ok().and_then(|estimate| {
                    more_blocks(
                        estimate.blocks(),
                        estimate.difference.abs() - estimate.shift,
                        estimate.sd,
                        2.0 * alpha / tests.max(1) as f64,
                    )
                }));
            }
        }
    }
    candidates.sort_unstable();
    let names: Vec<String> = candidates
        .iter()
        .map(|index| phrase::levels(&short(*index)))
        .collect();
    let only = members.len() == 1;
    let best = (candidates.len() == 1 && !only).then(|| short(leader));
    let sentence = if only {
        format!(
            "{prefix}only {} was measured, so there is no choice.",
            names[0]
        )
    } else if best.is_some() {
        format!("{prefix}choose {}.", names[0])
    } else {
        let limits: Vec<&str> = candidates
            .iter()
            .filter_map(|index| censoring::limit(&values[*index]))
            .map(|limit| limit.word())
            .collect();
        let remedy = match (
            limits.first(),
            waits.iter().copied().collect::<Option<Vec<u64>>>(),
        ) {
            (Some(limit), _) if limits.len() > 1 => {
                format!("they were limited by the {limit}, and only a wider limit would decide")
            }
            (_, Some(blocks)) if !blocks.is_empty() => format!(
                "about {} more would likely decide",
                phrase::count(blocks.iter().copied().max().unwrap_or(1), "block")
            ),
            _ => "more blocks, or a longer workload, would be needed to decide".to_owned(),
        };
        format!(
            "{prefix}undecided between {}; {remedy}.",
            phrase::list(&names, "and")
        )
    };
    Choice {
        at,
        best,
        candidates: candidates.iter().map(|index| short(*index)).collect(),
        p_adjusted: (!only).then_some(largest_p),
        sentence: phrase::capitalised(&sentence),
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
