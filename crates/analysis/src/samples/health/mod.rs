//! What a reader must know before believing a comparison of plain samples: one caveat a kind, naming
//! every set that it concerns. They mark; they never drop a value.

mod conditions;
mod course;
mod missing;
mod ranks;
mod scale;
mod shape;

use super::arrange::{Arranged, Group, Set};
use super::compare::Question;
use super::findings::Comparison;
use crate::analysis::Caveat;
use crate::phrase;

/// Series longer than this are looked at in means of neighbours, or in part: the checks look for
/// what is plain to see, and it is so in this many values.
const MOST_LOOKED_AT: usize = 10_000;

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
    caveats.extend(missing::unmatched(arranged));
    caveats.extend(missing::passed_over(&sets));
    caveats.extend(missing::notes(&sets));
    caveats.extend(conditions::elsewhere_and_elsewhen(
        arranged,
        comparisons,
        question,
    ));
    caveats.extend(scale::on_scale(comparisons));
    caveats.extend(scale::coarse(&sets));
    caveats.extend(ranks::few_values(comparisons, question));
    caveats.extend(ranks::ranks_disagree(comparisons, question));
    caveats.extend(ranks::many_values(comparisons));
    caveats.extend(course::sorted(&sets));
    caveats.extend(course::order(&sets));
    caveats.extend(course::neighbours(&sets));
    caveats.extend(shape::two_clusters(&sets));
    caveats.extend(shape::far_values(&sets));
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
