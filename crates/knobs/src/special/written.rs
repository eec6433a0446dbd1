//! Knobs that are files: one value in one file, or the same value in one file for every CPU or
//! every frequency policy.

use std::io;

use knobstat_data::Level;

use crate::availability::{Unavailable, hypervisor};
use crate::catalogue::{Entry, Place};
use crate::files::Files;
use crate::knob::{Plan, Write};
use crate::pattern::expand;
use crate::value::{Form, NO_CPUS};

/// A place that this machine has, and its files as they are now.
struct Found<'a> {
    place: &'a Place,
    contents: Vec<Content>,
}

struct Content {
    path: String,
    bytes: Vec<u8>,
    form: Form,
}

impl Content {
    fn value(&self) -> String {
        self.form.value(&self.bytes)
    }
}

/// The level in force.
///
/// # Errors
/// When no file of it is there, or its files do not agree.
pub fn read(files: &dyn Files, entry: &Entry, places: &[Place]) -> Result<Level, Unavailable> {
    let found = find(files, entry, places)?;
    let mut values = found.contents.iter().map(|content| {
        (
            level_of(found.place, &content.value()),
            content.path.as_str(),
        )
    });
    // `find` returns no place without files.
    let Some((first, first_path)) = values.next() else {
        return Err(missing(files, entry));
    };
    match values.find(|(level, _)| *level != first) {
        None => Ok(Level::text(first)),
        Some((other, path)) => Err(Unavailable::without_remedy(format!(
            "its files differ: {first_path} is {first}, {path} is {other}"
        ))),
    }
}

/// The levels that this machine offers, where it tells.
pub fn offered(files: &dyn Files, entry: &Entry, places: &[Place]) -> Option<Vec<String>> {
    let found = find(files, entry, places).ok()?;
    let words = choices(files, &found)?;
    Some(
        words
            .iter()
            .map(|word| level_of(found.place, word))
            .collect(),
    )
}

/// What has to be written for a level.
///
/// # Errors
/// When the level cannot be had here.
pub fn plan(
    files: &dyn Files,
    entry: &Entry,
    places: &[Place],
    level: &str,
) -> Result<Plan, Unavailable> {
    let found = find(files, entry, places)?;
    let place = found.place;
    if let Some(content) = found
        .contents
        .iter()
        .find(|content| !files.is_setting(&content.path))
    {
        return Err(Unavailable::without_remedy(format!(
            "{} is no file of the kernel",
            content.path
        )));
    }
    if let Some(levels) = &entry.levels
        && !levels.iter().any(|known| known == level)
    {
        return Err(Unavailable::without_remedy(format!(
            "{level} is no level of {}: it has {}",
            entry.name,
            levels.join(", ")
        )));
    }
    let stuck = found.contents.iter().find_map(|content| {
        let value = content.value();
        (level_of(place, &value) != level).then(|| place.stuck.get(&value))?
    });
    if let Some(stuck) = stuck {
        return Err(stuck.clone());
    }
    let word = place.values.get(level).map_or(level, String::as_str);
    if let Some(content) = found.contents.iter().find(|content| {
        content.form == Form::CpuMask
            && word != NO_CPUS
            && word.parse::<knobstat_data::CpuList>().is_err()
    }) {
        return Err(Unavailable::without_remedy(format!(
            "{word} is no list of CPUs for {}: write 0-3,6 or none",
            content.path
        )));
    }
    if let Some(choices) = choices(files, &found)
        && !choices.iter().any(|choice| choice == word)
        && !place.numbers.is_some_and(|numbers| numbers.contain(word))
    {
        return Err(Unavailable {
            reason: format!(
                "this machine's kernel does not offer {level}: it offers {}",
                if choices.is_empty() {
                    "nothing in common to all CPUs".to_owned()
                } else {
                    choices.join(", ")
                }
            ),
            remedy: entry.remedies.get(level).cloned(),
        });
    }
    Ok(Plan {
        side_effects: place
            .side_effects
            .iter()
            .flat_map(|pattern| expand(files, pattern))
            .filter(|path| files.exists(path))
            .collect(),
        writes: found
            .contents
            .into_iter()
            .map(|content| {
                // The same list in the way in which it will be read.
                let value = match content.form {
                    Form::CpuMask => content.form.value(&content.form.bytes(word)),
                    _ => word.to_owned(),
                };
                Write::file(content.path, content.form, value)
            })
            .collect(),
    })
}

/// Why no write leads away from the value that a file of a knob has, where none does.
pub fn captivity(files: &dyn Files, entry: &Entry, places: &[Place]) -> Option<Unavailable> {
    let Found { place, contents } = find(files, entry, places).ok()?;
    contents
        .iter()
        .find_map(|content| place.stuck.get(&content.value()))
        .cloned()
}

/// What it means that no file of a knob is there.
pub fn missing(files: &dyn Files, entry: &Entry) -> Unavailable {
    if let Some(missing) = &entry.missing_in_guest
        && let Some(hypervisor) = hypervisor(files)
    {
        return Unavailable {
            reason: format!("this is a guest of {hypervisor}: {}", missing.reason),
            remedy: missing.remedy.clone(),
        };
    }
    entry.missing.clone().unwrap_or_else(|| {
        Unavailable::without_remedy(format!("this machine has no {}", entry.name))
    })
}

/// The first place of which a file can be read.
fn find<'a>(
    files: &dyn Files,
    entry: &Entry,
    places: &'a [Place],
) -> Result<Found<'a>, Unavailable> {
    let mut refused = None;
    for place in places {
        let mut contents = Vec::new();
        for path in expand(files, &place.files) {
            if place
                .beside
                .as_ref()
                .is_some_and(|wanted| !files.exists(&beside(&path, wanted)))
            {
                continue;
            }
            match files.read(&path) {
                Ok(bytes) => contents.push(Content {
                    form: place.form.unwrap_or_else(|| Form::of(&bytes)),
                    path,
                    bytes,
                }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // A policy whose CPUs are all offline is busy; the others are the knob.
                Err(error) => {
                    refused.get_or_insert((path, error));
                }
            }
        }
        if !contents.is_empty() {
            return Ok(Found { place, contents });
        }
    }
    match refused {
        None => Err(missing(files, entry)),
        Some((path, error)) => Err(crate::knob::refusal(entry, &error).unwrap_or_else(|| {
            Unavailable::without_remedy(format!("{path} cannot be read: {error}"))
        })),
    }
}

/// A path from a file's directory on, its `..` taken by their words.
fn beside(path: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// The words that every file of a place takes, where the kernel lists them.
fn choices(files: &dyn Files, found: &Found<'_>) -> Option<Vec<String>> {
    let lists: Vec<Vec<String>> = match &found.place.available {
        Some(pattern) => expand(files, pattern)
            .iter()
            .filter_map(|path| files.read(path).ok())
            .map(|bytes| {
                String::from_utf8_lossy(&bytes)
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect()
            })
            .collect(),
        None => found
            .contents
            .iter()
            .filter_map(|content| content.form.choices(&content.bytes))
            .collect(),
    };
    let (first, rest) = lists.split_first()?;
    Some(
        first
            .iter()
            .filter(|word| rest.iter().all(|list| list.contains(word)))
            .cloned()
            .collect(),
    )
}

fn level_of(place: &Place, value: &str) -> String {
    place
        .values
        .iter()
        .find(|(_, word)| *word == value)
        .map_or_else(|| value.to_owned(), |(level, _)| level.clone())
}
