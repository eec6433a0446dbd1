//! Which series of which sources are compared with each other.
//!
//! One source: its series are compared with each other. Several sources with one series each: those
//! are. Several sources with many: what has the same label in the baseline and in another is.

mod error;
mod grouping;
mod names;

use knobstat_data::Better;

use self::grouping::{across, by_label, within};
use self::names::{labels, lead, leave_out_common_folder, tell_apart, title};
use super::origin::Origin;
use super::series::Series;

pub use error::ArrangeError;

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

/// Arranges sources for comparison. `select` keeps the series whose label has this text in it;
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
        keep(&mut sources, wanted)?;
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

/// Keeps the series that have this text in their name. A source that is a single series without a
/// label is kept as what the selected ones are compared with.
fn keep(sources: &mut [Source], wanted: &str) -> Result<(), ArrangeError> {
    let nothing = |source: &Source, present| ArrangeError::NothingSelected {
        source_name: source.name.clone(),
        wanted: wanted.to_owned(),
        present,
    };
    let has_names = |source: &Source| {
        source.series.len() > 1 || source.series.iter().any(|series| !series.label.is_empty())
    };
    if let (Some(first), false) = (sources.first(), sources.iter().any(has_names)) {
        return Err(nothing(first, labels(&first.series)));
    }
    for source in sources.iter_mut().filter(|source| has_names(source)) {
        let present = labels(&source.series);
        source
            .series
            .retain(|series| title(series).contains(wanted));
        if source.series.is_empty() {
            return Err(nothing(source, present));
        }
    }
    Ok(())
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
        assert_eq!(names(&arranged.groups[0]), ["b (y)", "a (x)", "a (2) (z)"]);
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
        assert_eq!(names(&arranged.groups[0]), ["old (x1)", "new (x2)"]);
        assert!(matches!(
            arrange(sources, None, Some("q")),
            Err(ArrangeError::NothingSelected { .. })
        ));
    }

    #[test]
    fn sets_of_unlike_labels_are_not_passed_off_as_alike() {
        let of = |labels: [&str; 2]| {
            let sources = ["old", "new"]
                .into_iter()
                .zip(labels)
                .map(|(name, label)| source(name, &[label]))
                .collect();
            let arranged = arrange(sources, None, None).unwrap();
            names(&arranged.groups[0]).join(", ")
        };
        assert_eq!(of(["x", "x"]), "old, new");
        assert_eq!(of(["x", "y"]), "old (x), new (y)");
        assert_eq!(of(["x", ""]), "old (x), new");
    }

    #[test]
    fn what_has_no_name_is_selected_by_none() {
        let nameless = source("plain", &[""]);
        let arranged = arrange(
            vec![source("old", &["x", "y"]), nameless.clone()],
            None,
            Some("x"),
        )
        .unwrap();
        assert_eq!(names(&arranged.groups[0]), ["old (x)", "plain"]);
        for sources in [
            vec![nameless.clone(), nameless.clone()],
            // A single one that has a name is no exception.
            vec![source("old", &["x"]), source("new", &["y"])],
        ] {
            let found = arrange(sources, None, Some("x"));
            assert!(
                matches!(found, Err(ArrangeError::NothingSelected { .. })),
                "{found:?}"
            );
        }
        // Columns go by the names of their headers.
        let mut columns = source("f", &["", ""]);
        columns.series[1].metric = "after".to_owned();
        let arranged = arrange(vec![columns], None, Some("after")).unwrap();
        assert_eq!(arranged.groups[0].metric, "after");
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
