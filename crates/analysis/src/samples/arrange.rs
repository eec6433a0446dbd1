//! Which series of which sources are compared with each other.
//!
//! One source: its series are compared with each other. Several sources with one series each: those
//! are. Several sources with many: what has the same label in the baseline and in another is.

use thiserror::Error;

use super::origin::Origin;
use super::series::Series;
use crate::phrase;
use knobstat_data::Better;

/// A file or an experiment, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Its name, as the user gave it.
    pub name: String,
    /// What it holds.
    pub series: Vec<Series>,
    /// Where it comes from, where that is known.
    pub origin: Option<Origin>,
}

/// One set of values under the name that tells it from those that it is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// The name.
    pub name: String,
    /// The values and what is known of them.
    pub series: Series,
}

/// Sets that are compared, the first being the baseline of all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What all sets measure, where there is more than one group: a benchmark, a treatment.
    pub at: String,
    /// The quantity; empty where nobody says.
    pub metric: String,
    /// Its unit; empty where nobody says.
    pub unit: String,
    /// Which way is better, where that is known.
    pub better: Option<Better>,
    /// The sets; at least one.
    pub sets: Vec<Set>,
}

/// What is compared, and what has no counterpart.
#[derive(Clone, Debug, PartialEq)]
pub struct Arranged {
    /// The groups; at least one.
    pub groups: Vec<Group>,
    /// Where the sources come from: name and origin.
    pub origins: Vec<(String, Option<Origin>)>,
    /// Labels of the source named first that the other lacks, and the other way round.
    pub unmatched: Vec<String>,
}

/// Why nothing can be compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArrangeError {
    /// There is nothing at all.
    #[error("there is nothing to compare")]
    Nothing,
    /// No set has the name of the baseline.
    #[error("no baseline is called {wanted}; there is {}", phrase::list(.present, "and"))]
    NoBaseline {
        /// The name.
        wanted: String,
        /// The names that there are.
        present: Vec<String>,
    },
    /// No label is in both the baseline and another source.
    #[error(
        "{first} and {second} have nothing in common: the one has {of_first}, the other {of_second}"
    )]
    NothingInCommon {
        /// The baseline.
        first: String,
        /// A source that shares nothing with it.
        second: String,
        /// What the baseline has.
        of_first: String,
        /// What the other has.
        of_second: String,
    },
    /// The values are in different units.
    #[error("{first} is in {of_first} and {second} in {of_second}, which cannot be compared")]
    Units {
        /// A set.
        first: String,
        /// Its unit.
        of_first: String,
        /// Another.
        second: String,
        /// Its unit.
        of_second: String,
    },
    /// The selection leaves nothing.
    #[error("nothing in {source_name} has \"{wanted}\" in its name; it has {present}")]
    NothingSelected {
        /// The source.
        source_name: String,
        /// What was asked for.
        wanted: String,
        /// What it has.
        present: String,
    },
}

/// Arranges sources for comparison. `select` keeps the series whose label has this text in it, of sources that have several;
/// `baseline` names the source, or with a single source the label, that the others are compared with.
///
/// # Errors
/// When there is nothing to compare, a name is not known, or units differ.
pub fn arrange(
    mut sources: Vec<Source>,
    baseline: Option<&str>,
    select: Option<&str>,
) -> Result<Arranged, ArrangeError> {
    if let Some(wanted) = select {
        // A source with one series has nothing to select from.
        for source in sources.iter_mut().filter(|source| source.series.len() > 1) {
            let present = labels(&source.series);
            source.series.retain(|series| series.label.contains(wanted));
            if source.series.is_empty() {
                return Err(ArrangeError::NothingSelected {
                    source_name: source.name.clone(),
                    wanted: wanted.to_owned(),
                    present,
                });
            }
        }
    }
    if sources.len() > 1 {
        lead(&mut sources, baseline, |source| &source.name)?;
        leave_out_common_folder(&mut sources);
    }
    tell_apart(sources.iter_mut().map(|source| &mut source.name));
    let origins = sources
        .iter()
        .map(|source| (source.name.clone(), source.origin.clone()))
        .collect();
    let mut unmatched = Vec::new();
    let groups = match sources.len() {
        0 => return Err(ArrangeError::Nothing),
        1 => vec![within(sources.remove(0), baseline)?],
        _ => {
            if sources.iter().all(|source| source.series.len() == 1) {
                vec![across(sources)?]
            } else {
                by_label(sources, &mut unmatched)?
            }
        }
    };
    Ok(Arranged {
        groups,
        origins,
        unmatched,
    })
}

/// The series of one source, compared with each other.
fn within(source: Source, baseline: Option<&str>) -> Result<Group, ArrangeError> {
    let same = |of: fn(&Series) -> &String| {
        source
            .series
            .windows(2)
            .all(|pair| of(&pair[0]) == of(&pair[1]))
    };
    let (same_label, same_metric) = (same(|series| &series.label), same(|series| &series.metric));
    let only = source.series.len() == 1;
    let mut sets: Vec<Set> = source
        .series
        .into_iter()
        .map(|series| Set {
            name: match (same_label, same_metric) {
                (true, true) if only && series.label.is_empty() => source.name.clone(),
                (_, true) => series.label.clone(),
                (true, false) => series.metric.clone(),
                (false, false) => format!("{} {}", series.label, series.metric),
            },
            series,
        })
        .collect();
    tell_apart(sets.iter_mut().map(|set| &mut set.name));
    lead(&mut sets, baseline, |set| &set.name)?;
    // Columns that are compared with each other are one quantity, whose name nobody says.
    let metric = if same_metric {
        first(&sets)?.series.metric.clone()
    } else {
        String::new()
    };
    group(String::new(), metric, sets)
}

/// The only series of each source, compared with that of the first.
fn across(sources: Vec<Source>) -> Result<Group, ArrangeError> {
    let sets: Vec<Set> = sources
        .into_iter()
        .filter_map(|mut source| {
            Some(Set {
                name: source.name,
                series: source.series.pop()?,
            })
        })
        .collect();
    let shared = |of: fn(&Series) -> &String| {
        let text = of(&first(&sets)?.series).clone();
        let same = sets.iter().all(|set| *of(&set.series) == text);
        Ok(if same { text } else { String::new() })
    };
    let (at, metric) = (
        shared(|series| &series.label)?,
        shared(|series| &series.metric)?,
    );
    group(at, metric, sets)
}

/// What the first source and others have under the same label and metric.
fn by_label(
    mut sources: Vec<Source>,
    unmatched: &mut Vec<String>,
) -> Result<Vec<Group>, ArrangeError> {
    let baseline = sources.remove(0);
    let nothing = |other: &Source| ArrangeError::NothingInCommon {
        first: baseline.name.clone(),
        second: other.name.clone(),
        of_first: labels(&baseline.series),
        of_second: labels(&other.series),
    };
    let key = |series: &Series| (series.label.clone(), series.metric.clone());
    for other in &sources {
        let known: std::collections::HashSet<_> = baseline.series.iter().map(key).collect();
        let of_other: std::collections::HashSet<_> = other.series.iter().map(key).collect();
        if known.is_disjoint(&of_other) {
            return Err(nothing(other));
        }
        for (have, lack, series) in [
            (&baseline.name, &other.name, &baseline.series),
            (&other.name, &baseline.name, &other.series),
        ] {
            let lacking = if std::ptr::eq(series, &baseline.series) {
                &of_other
            } else {
                &known
            };
            unmatched.extend(
                series
                    .iter()
                    .filter(|series| !lacking.contains(&key(series)))
                    .map(|series| format!("{} is in {have} and not in {lack}", title(series))),
            );
        }
    }
    let several_metrics = baseline
        .series
        .windows(2)
        .any(|pair| pair[0].metric != pair[1].metric);
    let mut others: Vec<(String, std::collections::HashMap<_, Series>)> = sources
        .into_iter()
        .map(|source| {
            let by_key = source
                .series
                .into_iter()
                .map(|series| (key(&series), series));
            (source.name, by_key.collect())
        })
        .collect();
    let mut groups = Vec::new();
    for series in baseline.series {
        let wanted = key(&series);
        let counterparts: Vec<Set> = others
            .iter_mut()
            .filter_map(|(name, by_key)| {
                Some(Set {
                    name: name.clone(),
                    series: by_key.remove(&wanted)?,
                })
            })
            .collect();
        if counterparts.is_empty() {
            continue;
        }
        let (label, metric) = wanted;
        // A file whose columns have names and no labels is parted by its columns alone.
        let at = if label.is_empty() && several_metrics {
            String::new()
        } else {
            label
        };
        let mut sets = vec![Set {
            name: baseline.name.clone(),
            series,
        }];
        sets.extend(counterparts);
        groups.push(group(at, metric, sets)?);
    }
    Ok(groups)
}

fn group(at: String, metric: String, mut sets: Vec<Set>) -> Result<Group, ArrangeError> {
    let (first, unit) = {
        let known = sets.iter().find(|set| !set.series.unit.is_empty());
        known.map_or_else(Default::default, |set| {
            (set.name.clone(), set.series.unit.clone())
        })
    };
    for set in &mut sets {
        let of_set = &set.series.unit;
        if !of_set.is_empty() && *of_set != unit {
            return Err(ArrangeError::Units {
                first,
                of_first: unit,
                second: set.name.clone(),
                of_second: of_set.clone(),
            });
        }
    }
    let better = sets.iter().find_map(|set| set.series.better);
    Ok(Group {
        at,
        metric,
        unit,
        better,
        sets,
    })
}

fn first(sets: &[Set]) -> Result<&Set, ArrangeError> {
    sets.first().ok_or(ArrangeError::Nothing)
}

/// Puts the one that is called `wanted` first: by its whole name, or by the only one that has it as
/// a part.
fn lead<T>(
    items: &mut [T],
    wanted: Option<&str>,
    name: fn(&T) -> &String,
) -> Result<(), ArrangeError> {
    let Some(wanted) = wanted else {
        return Ok(());
    };
    let whole = items.iter().position(|item| name(item) == wanted);
    let part = || {
        let mut holding = items
            .iter()
            .enumerate()
            .filter(|(_, item)| name(item).contains(wanted));
        match (holding.next(), holding.next()) {
            (Some((place, _)), None) => Some(place),
            _ => None,
        }
    };
    let place = whole
        .or_else(part)
        .ok_or_else(|| ArrangeError::NoBaseline {
            wanted: wanted.to_owned(),
            present: items.iter().map(|item| name(item).clone()).collect(),
        })?;
    items[..=place].rotate_right(1);
    Ok(())
}

/// Leaves the folder out of the names where all sources are in the same one.
fn leave_out_common_folder(sources: &mut [Source]) {
    let folder = |name: &str| name.rfind('/').map(|end| name[..=end].to_owned());
    let Some(common) = sources.first().and_then(|source| folder(&source.name)) else {
        return;
    };
    let shared = |source: &Source| folder(&source.name).as_ref() == Some(&common);
    if sources.iter().all(shared) {
        for source in sources {
            source.name.drain(..common.len());
        }
    }
}

/// Numbers names that occur more than once.
fn tell_apart<'a>(names: impl Iterator<Item = &'a mut String>) {
    let mut seen: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    for name in names {
        let times = seen.entry(name.clone()).or_insert(0);
        *times += 1;
        if *times > 1 {
            *name = format!("{name} ({times})");
        }
    }
}

fn title(series: &Series) -> String {
    if series.label.is_empty() {
        series.metric.clone()
    } else {
        series.label.clone()
    }
}

/// The labels of some series for a message, the first few of them.
fn labels(series: &[Series]) -> String {
    const MOST: usize = 6;
    let mut names: Vec<String> = series
        .iter()
        .take(MOST)
        .map(|series| match title(series) {
            title if title.is_empty() => "values without a name".to_owned(),
            title => title,
        })
        .collect();
    if series.len() > MOST {
        names.push(format!("{} more", series.len() - MOST));
    }
    phrase::list(&names, "and")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, labels: &[&str]) -> Source {
        Source {
            name: name.to_owned(),
            series: labels
                .iter()
                .map(|label| Series::new((*label).to_owned(), "ns/op".to_owned()))
                .collect(),
            origin: None,
        }
    }

    fn names(group: &Group) -> Vec<&str> {
        group.sets.iter().map(|set| set.name.as_str()).collect()
    }

    #[test]
    fn one_source_is_compared_within() {
        let arranged = arrange(vec![source("f", &["a", "b", "b"])], Some("b"), None).unwrap();
        assert_eq!(names(&arranged.groups[0]), ["b", "a", "b (2)"]);
        assert_eq!(arranged.groups[0].metric, "ns/op");
        let mut columns = source("f", &["", ""]);
        columns.series[1].metric = "after".to_owned();
        columns.series[0].metric = "before".to_owned();
        let arranged = arrange(vec![columns], None, None).unwrap();
        assert_eq!(names(&arranged.groups[0]), ["before", "after"]);
        assert_eq!(arranged.groups[0].metric, "");
        let alone = arrange(vec![source("f", &[""])], None, None).unwrap();
        assert_eq!(names(&alone.groups[0]), ["f"]);
    }

    #[test]
    fn several_sources_are_compared_label_by_label() {
        let sources = vec![source("old", &["x", "y"]), source("new", &["y", "z"])];
        let arranged = arrange(sources, None, None).unwrap();
        assert_eq!(arranged.groups.len(), 1);
        assert_eq!(arranged.groups[0].at, "y");
        assert_eq!(names(&arranged.groups[0]), ["old", "new"]);
        assert_eq!(
            arranged.unmatched,
            ["x is in old and not in new", "z is in new and not in old"]
        );
    }

    #[test]
    fn single_series_are_compared_whatever_their_labels() {
        let sources = vec![
            source("a", &["x"]),
            source("b", &["y"]),
            source("a", &["z"]),
        ];
        let arranged = arrange(sources, Some("b"), None).unwrap();
        assert_eq!(names(&arranged.groups[0]), ["b", "a", "a (2)"]);
        assert_eq!(arranged.groups[0].at, "");
    }

    #[test]
    fn a_folder_that_all_share_is_left_out() {
        let of = |paths: [&str; 2], baseline| {
            let sources = paths.map(|path| source(path, &["x"])).to_vec();
            let arranged = arrange(sources, Some(baseline), None).unwrap();
            names(&arranged.groups[0]).join(" ")
        };
        assert_eq!(of(["/data/a", "/data/b"], "/data/b"), "b a");
        assert_eq!(of(["old/a", "new/a"], "new"), "new/a old/a");
        assert_eq!(of(["a", "new/b"], "a"), "a new/b");
    }

    #[test]
    fn a_selection_leaves_what_has_the_text() {
        let sources = vec![source("old", &["x1", "y"]), source("new", &["x2", "z"])];
        let arranged = arrange(sources.clone(), None, Some("x")).unwrap();
        assert_eq!(names(&arranged.groups[0]), ["old", "new"]);
        assert!(matches!(
            arrange(sources, None, Some("q")),
            Err(ArrangeError::NothingSelected { .. })
        ));
    }

    #[test]
    fn what_cannot_be_compared_is_named() {
        let two = || vec![source("old", &["x", "y"]), source("new", &["z"])];
        assert!(matches!(
            arrange(two(), None, None),
            Err(ArrangeError::NothingInCommon { .. })
        ));
        assert!(matches!(
            arrange(two(), Some("q"), None),
            Err(ArrangeError::NoBaseline { .. })
        ));
        assert_eq!(arrange(vec![], None, None), Err(ArrangeError::Nothing));
        let mut units = vec![source("old", &["x"]), source("new", &["x"])];
        units[0].series[0].unit = "s".to_owned();
        units[1].series[0].unit = "B".to_owned();
        assert!(matches!(
            arrange(units, None, None),
            Err(ArrangeError::Units { .. })
        ));
    }
}
