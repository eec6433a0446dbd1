//! What a reader must know before believing a comparison of plain samples: one caveat a kind, naming
//! every set that it concerns. They mark; they never drop a value.

use knobstat_stats::health::{
    Coarseness, bimodality, change_point, granularity, ljung_box, outliers, trend, warm_up,
};
use knobstat_stats::planning::smallest_reachable_n;
use knobstat_stats::summary::Moments;

use super::arrange::{Arranged, Group, Set};
use super::compare::Question;
use super::findings::Comparison;
use super::rank::MOST_VALUES;
use crate::analysis::Caveat;
use crate::phrase;

/// A check speaks when what it saw has at most this probability in a healthy series.
const SURPRISING: f64 = 0.01;

/// Series longer than this are looked at in means of neighbours, or in part: the checks look for
/// what is plain to see, and it is so in this many values.
const MOST_LOOKED_AT: usize = 10_000;

/// Of normal values so many lie as far from the rest as what counts as far.
const FAR_BY_CHANCE: f64 = 0.000_465;

/// Fewer values than this may well be in order of size by chance.
const FEWEST_SORTED: usize = 6;

/// Sets and values named in a sentence; the rest are counted.
const MOST_NAMED: usize = 4;

/// The caveats, in the order in which they are printed.
pub(super) fn caveats(
    arranged: &Arranged,
    comparisons: &[Vec<Comparison>],
    question: Question,
) -> Vec<Caveat> {
    let several = arranged.groups.len() > 1;
    let sets: Vec<Looked> = arranged
        .groups
        .iter()
        .flat_map(|group| {
            group
                .sets
                .iter()
                .map(move |set| Looked::at(group, set, several))
        })
        .collect();
    let mut caveats = Vec::new();
    caveats.extend(unmatched(arranged));
    caveats.extend(passed_over(&sets));
    caveats.extend(notes(&sets));
    caveats.extend(elsewhere_and_elsewhen(arranged, comparisons, question));
    caveats.extend(on_scale(comparisons));
    caveats.extend(coarse(&sets));
    caveats.extend(few_values(comparisons, question));
    caveats.extend(ranks_disagree(comparisons, question));
    caveats.extend(many_values(comparisons));
    caveats.extend(sorted(&sets));
    caveats.extend(order(&sets));
    caveats.extend(neighbours(&sets));
    caveats.extend(two_clusters(&sets));
    caveats.extend(far_values(&sets));
    caveats
}

/// A set as the checks look at it.
struct Looked<'a> {
    set: &'a Set,
    /// The name by which it is known among all sets.
    name: String,
    /// Its values, or means of neighbours where there are very many.
    thinned: std::borrow::Cow<'a, [f64]>,
    /// Some of its values, spread evenly where there are very many.
    sampled: std::borrow::Cow<'a, [f64]>,
    /// Whether its values stand in order of size, so that the order in which they were measured is
    /// lost.
    sorted: bool,
}

impl<'a> Looked<'a> {
    fn at(group: &Group, set: &'a Set, several: bool) -> Self {
        let values = set.series.values.as_slice();
        let width = values.len().div_ceil(MOST_LOOKED_AT);
        let (thinned, sampled) = if width <= 1 {
            (values.into(), values.into())
        } else {
            let mean = |chunk: &[f64]| chunk.iter().map(|value| value / chunk.len() as f64).sum();
            let thinned: Vec<f64> = values.chunks_exact(width).map(mean).collect();
            let sampled: Vec<f64> = values.iter().copied().step_by(width).collect();
            (thinned.into(), sampled.into())
        };
        Self {
            name: if several && !group.at.is_empty() {
                format!("{} of {}", group.at, set.name)
            } else {
                set.name.clone()
            },
            set,
            thinned,
            sampled,
            sorted: values.len() >= FEWEST_SORTED
                && (values.is_sorted() || values.iter().rev().is_sorted())
                && values.first() != values.last(),
        }
    }
}

/// "a, b and 3 more".
fn named(names: &[String]) -> String {
    if names.len() <= MOST_NAMED {
        return phrase::list(names, "and");
    }
    let mut shown = names[..MOST_NAMED].to_vec();
    shown.push(format!("{} more", names.len() - MOST_NAMED));
    phrase::list(&shown, "and")
}

fn caveat(kind: &'static str, sentence: String) -> Option<Caveat> {
    Some(Caveat { kind, sentence })
}

/// The caveat of this kind over all sets for which `found` says something.
fn over_sets(
    sets: &[Looked],
    kind: &'static str,
    found: impl Fn(&Looked) -> Option<String>,
    sentence: impl Fn(&str) -> String,
) -> Option<Caveat> {
    let found: Vec<String> = sets.iter().filter_map(found).collect();
    if found.is_empty() {
        return None;
    }
    caveat(kind, sentence(&named(&found)))
}

fn unmatched(arranged: &Arranged) -> Option<Caveat> {
    if arranged.unmatched.is_empty() {
        return None;
    }
    let listed = named(&arranged.unmatched);
    caveat("unmatched", format!("Not compared: {listed}."))
}

fn passed_over(sets: &[Looked]) -> Option<Caveat> {
    over_sets(
        sets,
        "passed-over",
        |looked| {
            let places = looked.set.series.passed_over;
            (places > 0).then(|| {
                let places = phrase::count(places as u64, "place");
                format!("{} ({places})", looked.name)
            })
        },
        |names| {
            format!(
                "Values are missing and were passed over: {names}. If those runs failed, what is left \
                 may be a selection."
            )
        },
    )
}

fn notes(sets: &[Looked]) -> Vec<Caveat> {
    sets.iter()
        .flat_map(|looked| &looked.set.series.notes)
        .map(|note| Caveat {
            kind: "failed-runs",
            sentence: note.clone(),
        })
        .collect()
}

/// That nothing held the machine still between one set and the next.
fn elsewhere_and_elsewhen(
    arranged: &Arranged,
    comparisons: &[Vec<Comparison>],
    question: Question,
) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let Some((baseline, others)) = arranged.origins.split_first() else {
        return caveats;
    };
    if comparisons.iter().all(Vec::is_empty) || question.paired {
        return caveats;
    }
    let known: Vec<_> = arranged
        .origins
        .iter()
        .filter_map(|(name, origin)| Some((name, origin.as_ref()?)))
        .collect();
    if others.is_empty() {
        caveats.extend(match &baseline.1 {
            Some(origin) => caveat(
                "one-experiment",
                format!(
                    "All values are of one experiment and are compared as if they were \
                     independent; `knobstat report {}` compares them within its blocks.",
                    origin.experiment
                ),
            ),
            None => None,
        });
        return caveats;
    }
    if known.is_empty() {
        caveats.extend(caveat(
            "order-unknown",
            "The sets are taken as independent and measured under the same conditions. A file does \
             not say whether they were: what drifted between them is in the difference."
                .to_owned(),
        ));
        return caveats;
    }
    let when: Vec<String> = known
        .iter()
        .map(|(name, origin)| format!("{name} ran {}", origin.when()))
        .collect();
    caveats.extend(caveat(
        "time-between",
        format!(
            "Time has passed between the sets ({}), and whatever drifted in it is in the \
             difference: temperature, load, updates. One experiment with both in random order would \
             tell.",
            phrase::list(&when, "and")
        ),
    ));
    let first = known[0];
    let elsewhere: Vec<String> = known[1..]
        .iter()
        .filter(|(_, origin)| origin.machine != first.1.machine)
        .map(|(name, _)| (*name).clone())
        .collect();
    if !elsewhere.is_empty() {
        caveats.extend(caveat(
            "other-machine",
            format!(
                "Not on the machine of {}: {}. The difference is also that of the machines.",
                first.0,
                named(&elsewhere)
            ),
        ));
    }
    let kernels: Vec<String> = known[1..]
        .iter()
        .filter(|(_, origin)| origin.machine == first.1.machine && origin.kernel != first.1.kernel)
        .map(|(name, _)| (*name).clone())
        .collect();
    if !kernels.is_empty() {
        caveats.extend(caveat(
            "other-kernel",
            format!(
                "Under another kernel than {}: {}.",
                first.0,
                named(&kernels)
            ),
        ));
    }
    caveats
}

fn on_scale(comparisons: &[Vec<Comparison>]) -> Option<Caveat> {
    let bounded = comparisons
        .iter()
        .flatten()
        .filter(|comparison| comparison.method.is_some_and(|method| method.is_on_scale()))
        .count();
    if bounded == 0 {
        return None;
    }
    caveat(
        "error-bounded-by-scale",
        format!(
            "In {} values vary less than the step of the scale that they were read from; the \
             error there is taken as the most that the scale could hide, and nothing finer than its \
             step is claimed.",
            phrase::count(bounded as u64, "comparison")
        ),
    )
}

/// Values that move in steps as coarse as their spread, whatever the step.
fn coarse(sets: &[Looked]) -> Option<Caveat> {
    over_sets(
        sets,
        "coarse-scale",
        |looked| {
            let sd = Moments::of(&looked.sampled).ok()?.sd?;
            let found = granularity(&looked.sampled).ok()?;
            let step = found.step?;
            (found.n > found.distinct && found.against(sd, None) == Coarseness::CoarserThanSpread)
                .then(|| format!("{} (steps of {})", looked.name, phrase::short(step, 3)))
        },
        |names| {
            format!(
                "Values move in steps that are coarser than their spread, as those of a coarse \
                 clock do: {names}. Means and intervals are rough there."
            )
        },
    )
}

/// Too few values for the rank test to reach the level, whatever it sees.
fn few_values(comparisons: &[Vec<Comparison>], question: Question) -> Option<Caveat> {
    let all = || comparisons.iter().flatten();
    let level = question.confidence.alpha();
    let reachable = smallest_reachable_n(level, all().count().max(1)).ok()?;
    let needed = if question.paired {
        reachable.signed_rank
    } else {
        reachable.mann_whitney
    };
    let few = all()
        .filter(|comparison| {
            comparison.judged.p.is_some() && comparison.n.min(comparison.baseline_n) < needed
        })
        .count();
    if few == 0 {
        return None;
    }
    caveat(
        "few-values",
        format!(
            "{} on fewer than {needed} {}: too few for the rank test to reach the level, so that \
             the verdict rests on the t test, which takes the values to be about normal.",
            if few == 1 {
                "One comparison rests".to_owned()
            } else {
                format!("{few} comparisons rest")
            },
            if question.paired {
                "pairs"
            } else {
                "values of each"
            },
        ),
    )
}

fn ranks_disagree(comparisons: &[Vec<Comparison>], question: Question) -> Option<Caveat> {
    let alpha = question.confidence.alpha();
    let mut finds = Vec::new();
    let mut misses = Vec::new();
    for comparison in comparisons.iter().flatten() {
        let (Some(p), Some(rank)) = (comparison.judged.p_adjusted, comparison.rank) else {
            continue;
        };
        let name = if comparison.at.is_empty() {
            comparison.set.clone()
        } else {
            format!("{} of {}", comparison.at, comparison.set)
        };
        match (p <= alpha, rank.p_adjusted <= alpha) {
            (false, true) => finds.push(name),
            // With few values the ranks cannot agree, which is said elsewhere.
            (true, false) if comparison.n.min(comparison.baseline_n) >= 8 => misses.push(name),
            _ => (),
        }
    }
    let mut parts = Vec::new();
    if !finds.is_empty() {
        parts.push(format!(
            "The rank test finds a difference where the test of the means does not: {}.",
            named(&finds)
        ));
    }
    if !misses.is_empty() {
        parts.push(format!(
            "The rank test finds no difference where the test of the means does: {}.",
            named(&misses)
        ));
    }
    if parts.is_empty() {
        return None;
    }
    parts.push("Look at the plot: a few far values may move the means.".to_owned());
    caveat("tests-disagree", parts.join(" "))
}

fn many_values(comparisons: &[Vec<Comparison>]) -> Option<Caveat> {
    let many = comparisons
        .iter()
        .flatten()
        .any(|comparison| comparison.n + comparison.baseline_n > MOST_VALUES);
    if !many {
        return None;
    }
    caveat(
        "no-rank-test",
        format!("The rank test is left out where there are more than {MOST_VALUES} values."),
    )
}

/// Values in order of size.
fn sorted(sets: &[Looked]) -> Option<Caveat> {
    over_sets(
        sets,
        "sorted",
        |looked| looked.sorted.then(|| looked.name.clone()),
        |names| {
            format!(
                "Values stand in order of size: {names}. The order in which they were measured is \
                 lost, and with it whether they drifted."
            )
        },
    )
}

/// Whether values rise, fall, jump, or begin unlike the rest.
fn order(sets: &[Looked]) -> Option<Caveat> {
    over_sets(
        sets,
        "drift",
        |looked| {
            if looked.sorted {
                return None;
            }
            let values = &looked.thinned;
            let drifts = |values: &[f64]| trend(values).is_ok_and(|trend| trend.p <= SURPRISING);
            // A beginning unlike a rest that goes on the same way is no warm-up.
            let warm_up = warm_up(values, SURPRISING)
                .ok()
                .flatten()
                .filter(|warm_up| !drifts(&values[warm_up.length..]));
            let what = if let Some(warm_up) = warm_up {
                let place = warm_up.length * looked.set.series.values.len() / values.len();
                format!("the first {}", phrase::count(place.max(1) as u64, "value"))
            } else if drifts(values) {
                let up = trend(values).is_ok_and(|trend| trend.slope > 0.0);
                (if up { "rising" } else { "falling" }).to_owned()
            } else {
                let found = change_point(values)
                    .ok()
                    .filter(|found| found.p <= SURPRISING)?;
                let place = found.at * looked.set.series.values.len() / values.len();
                format!("a jump at value {}", place + 1)
            };
            Some(format!("{} ({what})", looked.name))
        },
        |names| {
            format!(
                "Values changed over time, in the order in which they stand: {names}. If they were \
                 measured in that order, their mean depends on when one began and ended."
            )
        },
    )
}

/// Whether neighbours resemble each other.
fn neighbours(sets: &[Looked]) -> Option<Caveat> {
    over_sets(
        sets,
        "autocorrelated",
        |looked| {
            let values = &looked.set.series.values;
            let values = &values[..values.len().min(MOST_LOOKED_AT)];
            if looked.sorted || values.len() < 10 {
                return None;
            }
            let lags = (values.len() / 5).min(10);
            let found = ljung_box(values, lags).ok()?;
            (found.p <= SURPRISING).then(|| looked.name.clone())
        },
        |names| {
            format!(
                "Neighbouring values resemble each other: {names}. They say less than as many \
                 independent ones, and a difference is found too easily."
            )
        },
    )
}

fn two_clusters(sets: &[Looked]) -> Option<Caveat> {
    over_sets(
        sets,
        "two-clusters",
        |looked| {
            let modes = bimodality(&looked.sampled).ok()??;
            Some(format!(
                "{} (about {} and about {})",
                looked.name,
                phrase::significant(modes.lower, 4),
                phrase::significant(modes.upper, 4)
            ))
        },
        |names| {
            format!(
                "Values fall into two clusters: {names}. Something has two states there, and the \
                 mean describes neither."
            )
        },
    )
}

fn far_values(sets: &[Looked]) -> Option<Caveat> {
    over_sets(
        sets,
        "outliers",
        |looked| {
            if bimodality(&looked.sampled).is_ok_and(|modes| modes.is_some()) {
                return None;
            }
            let places = outliers(&looked.sampled).ok()?;
            let by_chance = FAR_BY_CHANCE * looked.sampled.len() as f64;
            if places.len() as f64 <= 2.0 * by_chance {
                return None;
            }
            let far: Vec<String> = places
                .iter()
                .filter_map(|place| looked.sampled.get(*place))
                .map(|value| phrase::significant(*value, 4))
                .collect();
            Some(format!("{} of {}", named(&far), looked.name))
        },
        |values| format!("Far from the rest: {values}. They are kept and counted."),
    )
}
