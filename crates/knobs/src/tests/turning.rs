//! Knobs by name, whether they can be had, a new journal, and turning the one with the other.

use knobstat_data::Level;
use knobstat_data::messages::Availability;

use crate::apply::{ApplyError, Turning};
use crate::fake::FakeMachine;
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

/// Why a level cannot be had, and what would help; fails where it can.
#[track_caller]
pub fn unavailable(machine: &FakeMachine, name: &str, level: &str) -> (String, Option<String>) {
    match knob(name).availability(machine, &Level::text(level), Refused(false)) {
        Availability::Available => panic!("{name}={level} is available"),
        Availability::Unavailable { reason, remedy } => (reason, remedy),
    }
}

/// Whether a level can be had.
pub fn is_available(machine: &FakeMachine, name: &str, level: &str) -> bool {
    knob(name).availability(machine, &Level::text(level), Refused(false)) == Availability::Available
}
