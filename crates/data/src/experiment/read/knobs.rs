//! `[knobs.NAME]`: knobs that the file declares.

use super::parameters::command_words;
use super::{Entry, Reader, Section};
use crate::experiment::OwnKnob;
use crate::experiment::keys::Table;
use crate::experiment::values::{Fault, quoted};
use crate::vocabulary::{Scope, Vocabulary};

/// A declared knob; faulty ones are known by their name all the same.
pub struct DeclaredKnob {
    /// Its name.
    pub name: String,
    /// When a change of it takes effect.
    pub scope: Scope,
    /// The knob, where its declaration is right.
    pub knob: Option<OwnKnob>,
}

/// The knobs of `[knobs]`, in the order of the file.
pub fn read(
    reader: &mut Reader<'_>,
    file: &Section<'_>,
    vocabulary: &Vocabulary,
) -> Vec<DeclaredKnob> {
    let Some(section) = file.table(reader, "knobs", "[knobs.NAME]") else {
        return Vec::new();
    };
    section
        .entries
        .iter()
        .filter_map(|entry| read_one(reader, entry, vocabulary))
        .collect()
}

fn read_one(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    vocabulary: &Vocabulary,
) -> Option<DeclaredKnob> {
    let name = entry.name;
    let allowed = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    if name.is_empty() || !name.chars().all(allowed) {
        let fault = Fault::new(
            "cannot name a knob",
            "letters, digits, `_`, `-` and `.` only",
            "choose another name",
        );
        reader.fault(&quoted(name), &entry.name_span, fault);
        return None;
    }
    if vocabulary.knob(name).is_some() {
        let fault = Fault::new(
            "is a knob that knobstat knows already",
            "this name is taken",
            "choose another name, or use the knob that there is",
        );
        reader.fault(&quoted(name), &entry.name_span, fault);
        return None;
    }
    let title = format!("[knobs.{name}]");
    let section = Section::of_entry(reader, entry, &title)?;
    section.refuse_unknown_keys(reader, Table::Knob, &[]);
    let get = command(reader, &section, "get");
    let set = command(reader, &section, "set");
    let restore = command(reader, &section, "restore");
    for (key, example) in [
        (
            "get",
            "`get = \"…\"`, a command that prints the present value",
        ),
        ("set", "`set = \"… {value}\"`, a command that sets it"),
    ] {
        if section.entry(key).is_none() {
            section.missing(reader, key, example);
        }
    }
    if let (Some(words), Some(entry)) = (&set, section.entry("set"))
        && !words.iter().any(|word| word.contains("{value}"))
    {
        let fault = Fault::new(
            "does the same for every level",
            "there is no {value} in it",
            "put {value} where the level belongs",
        );
        reader.fault(&entry.subject(), &entry.span, fault);
    }
    let scopes = [("runtime", Scope::Runtime), ("boot", Scope::Boot)];
    let scope = section
        .word(reader, "scope", &scopes, &[])
        .unwrap_or(Scope::Runtime);
    let knob = get.zip(set).map(|(get, set)| OwnKnob {
        name: name.to_owned(),
        get,
        restore: restore.unwrap_or_else(|| set.clone()),
        set,
        scope,
    });
    Some(DeclaredKnob {
        name: name.to_owned(),
        scope,
        knob,
    })
}

fn command(reader: &mut Reader<'_>, section: &Section<'_>, name: &str) -> Option<Vec<String>> {
    let entry = section.entry(name)?;
    command_words(reader, &entry.subject(), entry.value, &entry.span)
}
