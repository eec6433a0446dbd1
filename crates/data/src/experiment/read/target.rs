//! `[target]`: the machine that the experiment runs on.

use super::{Reader, Section};
use crate::experiment::TargetChoice;
use crate::experiment::keys::Table;

/// The kinds of targets that there are.
const KINDS: [(&str, TargetChoice); 1] = [("local", TargetChoice::Local)];

/// Kinds that are known and cannot be had yet.
const LATER_KINDS: [&str; 3] = ["vm", "model", "ssh"];

/// Reads `[target]`.
pub fn read(reader: &mut Reader<'_>, file: &Section<'_>) -> TargetChoice {
    let Some(section) = file.table(reader, "target", "[target]") else {
        return TargetChoice::Local;
    };
    let asks_for_later = section
        .entry("kind")
        .and_then(|entry| entry.value.as_str())
        .is_some_and(|kind| LATER_KINDS.contains(&kind));
    // The keys of a kind that is refused are refused with it.
    if !asks_for_later {
        section.refuse_unknown_keys(reader, Table::Target, &[]);
    }
    section
        .word(reader, "kind", &KINDS, &LATER_KINDS)
        .unwrap_or(TargetChoice::Local)
}
