//! `[target]`: the machine that the experiment runs on.

use super::{Reader, Section, virtual_machine};
use crate::experiment::TargetChoice;
use crate::experiment::keys::Table;
use crate::experiment::values::{self, Fault};

/// The kinds of targets that there are.
const KINDS: [(&str, Kind); 3] = [
    ("local", Kind::Local),
    ("vm", Kind::Vm),
    ("model", Kind::Model),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Local,
    Vm,
    Model,
}

/// Kinds that are known and cannot be had yet.
const LATER_KINDS: [&str; 1] = ["ssh"];

/// Reads `[target]`.
pub fn read(reader: &mut Reader<'_>, file: &Section<'_>) -> TargetChoice {
    let Some(section) = file.table(reader, "target", "[target]") else {
        return TargetChoice::Local;
    };
    let kind = section.entry("kind").and_then(|entry| entry.value.as_str());
    let asks_for_later = kind.is_some_and(|kind| LATER_KINDS.contains(&kind));
    if kind == Some("vm") {
        let section = file.table(reader, "target", Table::Guest.title());
        let machine = section.map(|section| virtual_machine::read(reader, &section));
        return TargetChoice::Vm(Box::new(machine.unwrap_or_default()));
    }
    // The keys of a kind that is refused are refused with it.
    if !asks_for_later {
        section.refuse_unknown_keys(reader, Table::Target, &[]);
    }
    let kind = section
        .word(reader, "kind", &KINDS, &LATER_KINDS)
        .unwrap_or(Kind::Local);
    if kind == Kind::Model {
        let machine = section.required(
            reader,
            "machine",
            "`machine = \"…\"`, the path of a machine file",
            values::line,
        );
        return TargetChoice::Model {
            machine: machine.unwrap_or_default(),
        };
    }
    if let Some(entry) = section.entry("machine").filter(|_| !asks_for_later) {
        let fault = Fault::new(
            "is a key of the target kind `model`",
            "this machine has no machine file",
            "add `kind = \"model\"`, or leave it out",
        );
        reader.fault(&entry.subject(), &entry.name_span, fault);
    }
    TargetChoice::Local
}
