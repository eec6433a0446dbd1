//! The names of what is compared: choosing one by it, shortening them and telling them apart.

use std::collections::HashMap;

use super::{ArrangeError, Source};
use crate::phrase;
use crate::samples::series::Series;

/// Puts the one that is called `wanted` first: by its whole name, or by the only one that has it as
/// a part.
pub(super) fn lead<T>(
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
pub(super) fn leave_out_common_folder(sources: &mut [Source]) {
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
pub(super) fn tell_apart<'a>(names: impl Iterator<Item = &'a mut String>) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for name in names {
        let times = seen.entry(name.clone()).or_insert(0);
        *times += 1;
        if *times > 1 {
            *name = format!("{name} ({times})");
        }
    }
}

/// What a message calls a series.
pub(super) fn title(series: &Series) -> String {
    if series.label.is_empty() {
        series.metric.clone()
    } else {
        series.label.clone()
    }
}

/// The labels of some series for a message, the first few of them.
pub(super) fn labels(series: &[Series]) -> String {
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
