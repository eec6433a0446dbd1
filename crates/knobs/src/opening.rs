//! Levels that are not to be had now, and are once another knob of the same experiment is turned:
//! `frequency` under the governor `userspace`, governors of a driver in passive mode.

use knobstat_data::messages::Availability;
use knobstat_data::words::Setting;

use crate::files::Files;
use crate::knob::{Knob, Refused};

/// Whether a setting can be had in an experiment that wants these settings. One that another of
/// them may open can; whether it does will show when both are turned.
pub fn availability(
    files: &dyn Files,
    find: &dyn Fn(&str) -> Option<Knob>,
    setting: &Setting,
    wanted: &[Setting],
    refused: Refused,
) -> Option<Availability> {
    let knob = find(&setting.factor)?;
    let now = knob.availability(files, &setting.level, refused);
    if now == Availability::Available {
        return Some(now);
    }
    let is_opened = wanted.iter().any(|other| {
        let opens = knob
            .entry()
            .and_then(|entry| entry.opened_by.get(&other.factor))
            .is_some_and(|levels| levels.contains(&other.level.to_string()));
        // In force already it has opened what it opens. The order of knobs lets this end: what
        // opens another is turned before it.
        opens
            && !is_in_force(files, find, other)
            && availability(files, find, other, wanted, refused) == Some(Availability::Available)
    });
    Some(if is_opened {
        Availability::Available
    } else {
        now
    })
}

fn is_in_force(files: &dyn Files, find: &dyn Fn(&str) -> Option<Knob>, setting: &Setting) -> bool {
    find(&setting.factor)
        .and_then(|knob| knob.read_as(files, &setting.level).ok())
        .is_some_and(|read| read == setting.level)
}
