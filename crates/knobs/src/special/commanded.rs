//! Knobs that programs such as ethtool(8) read and turn, once for each instance.

use knobstat_data::Level;

use crate::availability::Unavailable;
use crate::catalogue::{Commands, Entry};
use crate::files::Files;
use crate::journal::Target;
use crate::knob::{Plan, Write, with_value};
use crate::pattern::names;
use crate::special::written::missing;

/// An instance and its value now.
struct Instance {
    name: String,
    target: Target,
    value: String,
}

/// The level in force.
///
/// # Errors
/// When no instance of it is here, or the instances do not agree.
pub fn read(files: &dyn Files, entry: &Entry, commands: &Commands) -> Result<Level, Unavailable> {
    let instances = instances(files, entry, commands)?;
    let Some((first, rest)) = instances.split_first() else {
        return Err(missing(files, entry));
    };
    match rest.iter().find(|other| other.value != first.value) {
        None => Ok(Level::text(first.value.clone())),
        Some(other) => Err(Unavailable::without_remedy(format!(
            "they differ: {} has {}, {} has {}",
            first.name, first.value, other.name, other.value
        ))),
    }
}

/// What has to be set for a level.
///
/// # Errors
/// When no instance of it is here, or it has no such level.
pub fn plan(
    files: &dyn Files,
    entry: &Entry,
    commands: &Commands,
    level: &str,
) -> Result<Plan, Unavailable> {
    if let Some(levels) = &entry.levels
        && !levels.iter().any(|known| known == level)
    {
        return Err(Unavailable::without_remedy(format!(
            "{level} is no level of {}: it has {}",
            entry.name,
            levels.join(", ")
        )));
    }
    Ok(Plan {
        side_effects: Vec::new(),
        writes: instances(files, entry, commands)?
            .into_iter()
            .map(|instance| Write {
                command: with_value(&of(&commands.set, &instance.name), level),
                target: instance.target,
                value: level.to_owned(),
                held: false,
            })
            .collect(),
    })
}

/// The instances that have the knob.
fn instances(
    files: &dyn Files,
    entry: &Entry,
    commands: &Commands,
) -> Result<Vec<Instance>, Unavailable> {
    // The programs reach the machine that this runs on, and no tree of files.
    if files.keeps_bytes() {
        return Err(Unavailable::without_remedy(format!(
            "{} belongs to the machine itself and not to a laid-out tree",
            entry.name
        )));
    }
    let found: Vec<Instance> = instance_names(files, &commands.each)
        .into_iter()
        .filter_map(|name| {
            let target = Target::Command {
                knob: format!("{} of {name}", entry.name),
                get: of(&commands.get, &name),
                restore: of(&commands.set, &name),
            };
            let value = target.value(&target.read(files).ok()?);
            Some(Instance {
                name,
                target,
                value,
            })
        })
        .collect();
    if found.is_empty() {
        Err(missing(files, entry))
    } else {
        Ok(found)
    }
}

/// What stands in the place of the path's `*`, where the whole path exists.
fn instance_names(files: &dyn Files, each: &str) -> Vec<String> {
    let Some((before, after)) = each.split_once('*') else {
        return Vec::new();
    };
    let mut found = names(files, before.trim_end_matches('/'), "", "");
    found.retain(|name| files.exists(&format!("{before}{name}{after}")));
    found
}

fn of(words: &[String], instance: &str) -> Vec<String> {
    words
        .iter()
        .map(|word| word.replace("{instance}", instance))
        .collect()
}
