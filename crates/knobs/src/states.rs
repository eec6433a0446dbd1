//! Every knob as it stands on a machine, for people.

use knobstat_data::messages::KnobState;
use knobstat_data::vocabulary::KnobWord;
use knobstat_sys::root::Root;

use crate::catalogue::{Catalogue, EffectCheck};
use crate::files::{Files, RootedFiles};
use crate::knob::{Knob, Refused};
use crate::system::System;

/// Every knob of the catalogue with its value, its levels, and whether it can be turned here,
/// by this process in its environment.
pub fn states(root: &Root) -> Vec<KnobState> {
    System::of(root)
        .catalogue()
        .entries()
        .iter()
        .filter_map(|entry| state_of(root, &entry.name))
        .collect()
}

/// One knob, which may also be `sysctl:NAME`, `sysfs:PATH` or `cmdline:NAME`. None where there is
/// no such knob.
pub fn state_of(root: &Root, name: &str) -> Option<KnobState> {
    let files = RootedFiles::to_look_at(root.clone());
    let refused = Refused::from_environment();
    Knob::find_on(&System::of(root), name, &[]).map(|knob| state(&files, &knob, refused))
}

fn state(files: &dyn Files, knob: &Knob, refused: Refused) -> KnobState {
    KnobState {
        name: knob.name().to_owned(),
        summary: knob.summary().to_owned(),
        scope: knob.scope(),
        value: knob.read(files).map_err(|unavailable| unavailable.reason),
        levels: knob
            .levels(files)
            .into_iter()
            .map(|level| {
                let availability = knob.availability(files, &level, refused);
                (level, availability)
            })
            .collect(),
        settable: knob.settable(files, refused),
    }
}

/// Whether a knob's levels differ from boot to boot alone.
pub fn needs_boot(name: &str) -> bool {
    Knob::find(name, &[]).is_some_and(|knob| knob.scope().needs_boot())
}

/// The check of a knob's effect that its entry names, where it names one.
pub fn effect_check(name: &str) -> Option<EffectCheck> {
    Knob::find(name, &[])?.entry()?.effect_check
}

/// Every knob, for the reader of experiment files: those of the system beneath a root, which says
/// when a change takes effect, and those that only the other system has, so that they are left out
/// with a reason and are no mistake. One that both have takes the levels of both.
pub fn vocabulary(root: &Root) -> Vec<KnobWord> {
    let mut catalogues = [Catalogue::linux(), Catalogue::freebsd()];
    if System::of(root) != System::Linux {
        catalogues.reverse();
    }
    let mut words: Vec<KnobWord> = Vec::new();
    for catalogue in catalogues {
        for entry in catalogue.entries() {
            match words.iter_mut().find(|word| word.name == entry.name) {
                None => words.push(KnobWord {
                    name: entry.name.clone(),
                    scope: entry.scope,
                    levels: entry.levels.clone(),
                }),
                Some(word) => word.levels = both(word.levels.take(), entry.levels.as_ref()),
            }
        }
    }
    words
}

/// The levels of two lists; no list, where either machine decides by itself.
fn both(one: Option<Vec<String>>, other: Option<&Vec<String>>) -> Option<Vec<String>> {
    let mut levels = one?;
    for level in other? {
        if !levels.contains(level) {
            levels.push(level.clone());
        }
    }
    Some(levels)
}
