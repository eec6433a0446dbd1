//! Knobs by name, a new journal, and turning the one with the other.

use knobstat_data::Level;

use crate::apply::{ApplyError, Turning};
use crate::files::Files;
use crate::journal::{Header, Journal};
use crate::knob::{Knob, Refused};

/// The knob of this name; fails where there is none.
#[track_caller]
pub fn knob(name: &str) -> Knob {
    Knob::find(name, &[]).unwrap_or_else(|| panic!("{name}"))
}

/// A journal without an entry.
pub fn journal() -> Journal {
    Journal::new(Header {
        boot: "boot".to_owned(),
        experiment: "0123456789ab".parse().unwrap(),
    })
}

/// Turns knobs with a guardian that lives and nothing refused.
pub fn turn_all(
    files: &dyn Files,
    journal: &mut Journal,
    wanted: &[(Knob, Level)],
) -> Result<bool, ApplyError> {
    Turning {
        files,
        journal,
        refused: Refused(false),
        guarded: &|| true,
    }
    .turn_all(wanted)
}

/// Turns knobs by their names.
pub fn turn(
    files: &dyn Files,
    journal: &mut Journal,
    wanted: &[(&str, &str)],
) -> Result<bool, ApplyError> {
    let wanted: Vec<(Knob, Level)> = wanted
        .iter()
        .map(|(name, level)| (knob(name), Level::text(*level)))
        .collect();
    turn_all(files, journal, &wanted)
}
