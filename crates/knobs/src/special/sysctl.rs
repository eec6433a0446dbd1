//! Knobs of FreeBSD: variables that sysctl(8) reads and sets.
//!
//! `sysctl -n NAME` prints a value, `sysctl NAME=VALUE` sets one, `sysctl -N NODE` lists the names
//! beneath a node. Unlike Linux's clock source, an unknown name is refused; but a frequency is
//! rounded to one of the levels and `Cmax` becomes the deepest state's name, so that reading back
//! tells here as well. (sysctl(8), timecounters(4), eventtimers(4), cpufreq(4), acpi(4) of FreeBSD.)

use knobstat_data::Level;

use crate::availability::Unavailable;
use crate::catalogue::{Entry, Listing, Sysctl};
use crate::files::Files;
use crate::journal::Target;
use crate::knob::{Plan, Write};

/// FreeBSD's word for the deepest idle state that there can be, and what it reads as. Both are taken
/// by every CPU, however deep its states go.
const DEEPEST: (&str, &str) = ("Cmax", "C8");

/// A variable of the knob and its value now.
struct Variable {
    target: Target,
    set: Vec<String>,
    value: String,
}

/// The level in force.
///
/// # Errors
/// When no variable of it is there, or they do not agree.
pub fn read(files: &dyn Files, entry: &Entry, sysctl: &Sysctl) -> Result<Level, Unavailable> {
    let variables = variables(files, entry, sysctl)?;
    let values: Vec<(String, String)> = levels_with_values(files, sysctl);
    let level_of = |value: &str| {
        values
            .iter()
            .find(|(_, known)| known == value)
            .map_or_else(|| value.to_owned(), |(level, _)| level.clone())
    };
    let Some((first, rest)) = variables.split_first() else {
        return Err(missing(entry, sysctl));
    };
    match rest.iter().find(|other| other.value != first.value) {
        None => Ok(Level::text(level_of(&first.value))),
        Some(other) => Err(Unavailable::without_remedy(format!(
            "its variables differ: one is {}, another {}",
            first.value, other.value
        ))),
    }
}

/// The levels that the system offers, where it tells.
pub fn offered(files: &dyn Files, sysctl: &Sysctl) -> Vec<String> {
    let values = levels_with_values(files, sysctl);
    choices(files, sysctl)
        .unwrap_or_default()
        .into_iter()
        .map(|choice| {
            values
                .iter()
                .find(|(_, value)| *value == choice)
                .map_or_else(|| choice.clone(), |(level, _)| level.clone())
        })
        .collect()
}

/// What has to be set for a level.
///
/// # Errors
/// When it cannot be had here, or is decided at boot.
pub fn plan(
    files: &dyn Files,
    entry: &Entry,
    sysctl: &Sysctl,
    level: &str,
) -> Result<Plan, Unavailable> {
    if let Some(tunable) = &sysctl.tunable {
        let present = read(files, entry, sysctl)?;
        if present == Level::text(level) {
            return Ok(Plan::default());
        }
        let value = sysctl.values.get(level).map_or(level, String::as_str);
        return Err(Unavailable::new(
            format!(
                "{} was decided at boot and is {present}: {level} needs another boot",
                entry.name
            ),
            format!("write {tunable}=\"{value}\" to /boot/loader.conf and reboot"),
        ));
    }
    let variables = variables(files, entry, sysctl)?;
    if let Some(levels) = &entry.levels
        && !levels.iter().any(|known| known == level)
    {
        return Err(Unavailable::without_remedy(format!(
            "{level} is no level of {}: it has {}",
            entry.name,
            levels.join(", ")
        )));
    }
    let values = levels_with_values(files, sysctl);
    let known = values.iter().find(|(name, _)| name == level);
    if sysctl.listing == Listing::Turbo && known.is_none() {
        return Err(Unavailable {
            reason: "no frequency level 1 MHz above the nominal one is there, which would be turbo"
                .to_owned(),
            remedy: entry.remedies.get(level).cloned(),
        });
    }
    let word = known.map_or(level, |(_, value)| value);
    if let Some(choices) = choices(files, sysctl)
        && ![DEEPEST.0, DEEPEST.1].contains(&word)
        && !choices.iter().any(|choice| choice == word)
    {
        return Err(Unavailable {
            reason: format!(
                "this system does not offer {level}: it offers {}",
                choices.join(", ")
            ),
            remedy: entry.remedies.get(level).cloned(),
        });
    }
    Ok(Plan {
        side_effects: Vec::new(),
        writes: variables
            .into_iter()
            .map(|variable| Write {
                command: variable
                    .set
                    .iter()
                    .map(|part| part.replace("{value}", word))
                    .collect(),
                target: variable.target,
                value: word.to_owned(),
                held: false,
            })
            .collect(),
    })
}

/// Whether a level that was read is another way to write the one asked for.
pub fn is_same(read: &Level, asked: &Level) -> bool {
    *asked == Level::text(DEEPEST.0) && *read == Level::text(DEEPEST.1)
}

/// The levels that stand for other words than their own.
fn levels_with_values(files: &dyn Files, sysctl: &Sysctl) -> Vec<(String, String)> {
    if sysctl.listing != Listing::Turbo {
        return sysctl
            .values
            .iter()
            .map(|(level, value)| (level.clone(), value.clone()))
            .collect();
    }
    // The level 1 MHz above the nominal frequency is the switch.
    let frequencies: Vec<u64> = choices(files, sysctl)
        .unwrap_or_default()
        .iter()
        .filter_map(|choice| choice.parse().ok())
        .collect();
    match frequencies.as_slice() {
        [turbo, nominal, ..] if turbo.checked_sub(*nominal) == Some(1) => vec![
            ("on".to_owned(), turbo.to_string()),
            ("off".to_owned(), nominal.to_string()),
        ],
        _ => Vec::new(),
    }
}

/// What every variable of the knob can be set to, where the system lists it.
fn choices(files: &dyn Files, sysctl: &Sysctl) -> Option<Vec<String>> {
    let names = names(files, sysctl, sysctl.available.as_ref()?);
    let lists: Vec<Vec<String>> = names
        .iter()
        .filter_map(|name| get(files, sysctl, name).ok())
        .map(|text| list(sysctl.listing, &text))
        .collect();
    let (first, rest) = lists.split_first()?;
    Some(
        first
            .iter()
            .filter(|word| rest.iter().all(|list| list.contains(word)))
            .cloned()
            .collect(),
    )
}

fn list(listing: Listing, text: &str) -> Vec<String> {
    text.split([' ', ','])
        .filter(|word| !word.is_empty())
        .filter_map(|word| match listing {
            Listing::Words => Some(word),
            Listing::Scored => {
                let (name, quality) = word.strip_suffix(')')?.rsplit_once('(')?;
                // One of negative quality is never chosen by itself, but can be by hand; the one
                // without a counter cannot keep time.
                (quality != "-1000000").then_some(name)
            }
            Listing::Slashed | Listing::Turbo => word.split('/').next(),
        })
        .map(str::to_owned)
        .collect()
}

fn variables(
    files: &dyn Files,
    entry: &Entry,
    sysctl: &Sysctl,
) -> Result<Vec<Variable>, Unavailable> {
    let found: Vec<Variable> = names(files, sysctl, &sysctl.variable)
        .into_iter()
        .filter_map(|name| {
            let set = [sysctl.program.clone(), vec![format!("{name}={{value}}")]].concat();
            let target = Target::Command {
                knob: name.clone(),
                get: [sysctl.program.clone(), vec!["-n".to_owned(), name]].concat(),
                restore: set.clone(),
            };
            let value = target.value(&target.read(files).ok()?);
            Some(Variable { target, set, value })
        })
        .collect();
    if found.is_empty() {
        Err(missing(entry, sysctl))
    } else {
        Ok(found)
    }
}

/// The names that a variable with a `#` in one part stands for, in the order of their numbers.
fn names(files: &dyn Files, sysctl: &Sysctl, pattern: &str) -> Vec<String> {
    let Some((before, after)) = pattern.split_once('#') else {
        return vec![pattern.to_owned()];
    };
    let command = [
        sysctl.program.clone(),
        vec!["-N".to_owned(), before.trim_end_matches('.').to_owned()],
    ]
    .concat();
    let listed = files.run(&command).unwrap_or_default();
    let mut numbers: Vec<u32> = String::from_utf8_lossy(&listed)
        .split_whitespace()
        .filter_map(|name| name.strip_prefix(before)?.strip_suffix(after)?.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers
        .into_iter()
        .map(|number| format!("{before}{number}{after}"))
        .collect()
}

fn get(files: &dyn Files, sysctl: &Sysctl, name: &str) -> std::io::Result<String> {
    let command = [
        sysctl.program.clone(),
        vec!["-n".to_owned(), name.to_owned()],
    ]
    .concat();
    let bytes = files.run(&command)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

fn missing(entry: &Entry, sysctl: &Sysctl) -> Unavailable {
    entry.missing.clone().unwrap_or_else(|| {
        Unavailable::without_remedy(format!("this system has no {}", sysctl.variable))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ways_in_which_freebsd_lists_what_can_be_chosen() {
        assert_eq!(
            list(
                Listing::Scored,
                "TSC-low(1000) HPET(950) i8254(0) tricky(-100) dummy(-1000000)"
            ),
            ["TSC-low", "HPET", "i8254", "tricky"]
        );
        assert_eq!(
            list(Listing::Slashed, "C1/1/1 C2/2/41 C3/3/96"),
            ["C1", "C2", "C3"]
        );
        assert_eq!(
            list(Listing::Turbo, "2934/106000 2933/95000"),
            ["2934", "2933"]
        );
        assert_eq!(
            list(Listing::Words, "spin, mwait, hlt, acpi"),
            ["spin", "mwait", "hlt", "acpi"]
        );
    }
}
