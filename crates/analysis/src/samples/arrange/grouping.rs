//! Series that belong together, as groups with the baseline first.

use std::collections::{HashMap, HashSet};

use super::names::{labels, lead, tell_apart, title};
use super::{ArrangeError, Group, Set, Source};
use crate::samples::series::Series;

/// The series of one source, compared with each other.
pub(super) fn within(source: Source, baseline: Option<&str>) -> Result<Group, ArrangeError> {
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

/// The only series of each source, compared with that of the first. Where they are labelled
/// otherwise, as two benchmarks or two commands are, the label stands with the name.
pub(super) fn across(sources: Vec<Source>) -> Result<Group, ArrangeError> {
    let mut sets: Vec<Set> = sources
        .into_iter()
        .filter_map(|mut source| {
            Some(Set {
                name: source.name,
                series: source.series.pop()?,
            })
        })
        .collect();
    let same_label = sets
        .windows(2)
        .all(|pair| pair[0].series.label == pair[1].series.label);
    if !same_label {
        for set in sets.iter_mut().filter(|set| !set.series.label.is_empty()) {
            set.name = format!("{} ({})", set.name, set.series.label);
        }
    }
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
pub(super) fn by_label(
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
        let known: HashSet<_> = baseline.series.iter().map(key).collect();
        let of_other: HashSet<_> = other.series.iter().map(key).collect();
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
    let mut others: Vec<(String, HashMap<_, Series>)> = sources
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
