//! A table of the file while it is read: its entries in the order of the file, and where the
//! faults that are found go.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::experiment::diagnostics::Diagnostic;
use crate::experiment::keys::Table;
use crate::experiment::suggest;
use crate::experiment::values::{Fault, describe, quoted};

/// Collects the faults of a file.
pub struct Reader<'s> {
    /// The file's text.
    pub source: &'s str,
    /// What was found so far.
    pub faults: Vec<Diagnostic>,
    /// Whether the file is broken as TOML, so that what seems to be missing may only have been
    /// lost.
    pub broken: bool,
}

/// One key of a table and its value.
#[derive(Clone)]
pub struct Entry<'t> {
    /// The key.
    pub name: &'t str,
    /// Where the key stands.
    pub name_span: Range<usize>,
    /// The value.
    pub value: &'t DeValue<'t>,
    /// Where the value stands.
    pub span: Range<usize>,
}

/// A table of the file.
pub struct Section<'t> {
    /// How messages call it: `[design]`.
    pub title: String,
    /// Where its name stands.
    pub span: Range<usize>,
    /// Its entries, in the order of the file.
    pub entries: Vec<Entry<'t>>,
}

impl<'s> Reader<'s> {
    /// A reader of this text that has found nothing yet.
    pub fn new(source: &'s str) -> Self {
        Self {
            source,
            faults: Vec::new(),
            broken: false,
        }
    }

    /// Records that what `subject` names is wrong, and where.
    pub fn fault(&mut self, subject: &str, span: &Range<usize>, fault: Fault) {
        self.fault_with(subject, span, fault, Vec::new());
    }

    /// The same, with other places that belong to it.
    pub fn fault_with(
        &mut self,
        subject: &str,
        span: &Range<usize>,
        fault: Fault,
        context: Vec<(Range<usize>, String)>,
    ) {
        self.faults.push(Diagnostic {
            message: format!("{subject} {}", fault.predicate),
            label: fault.label,
            remedy: fault.remedy,
            span: span.clone(),
            context,
        });
    }

    /// The result, or its fault recorded.
    pub fn check<T>(
        &mut self,
        subject: &str,
        span: &Range<usize>,
        result: Result<T, Fault>,
    ) -> Option<T> {
        result
            .map_err(|fault| self.fault(subject, span, fault))
            .ok()
    }

    /// Where `text` stands within a span of the file; the whole span where it does not stand
    /// there letter by letter (because of an escape).
    pub fn locate(&self, span: &Range<usize>, text: &str) -> Range<usize> {
        let found = self
            .source
            .get(span.clone())
            .filter(|_| !text.is_empty())
            .and_then(|part| part.find(text));
        match found {
            Some(at) => span.start + at..span.start + at + text.len(),
            None => span.clone(),
        }
    }
}

impl<'t> Entry<'t> {
    /// How messages call the entry of a table: `` `design.seed` ``.
    pub fn subject(&self) -> String {
        quoted(self.name)
    }
}

impl<'t> Section<'t> {
    /// The entries of a table in the order of the file.
    pub fn new(title: impl Into<String>, span: Range<usize>, table: &'t DeTable<'t>) -> Self {
        let mut entries: Vec<Entry<'t>> = table
            .iter()
            .map(|(name, value)| Entry {
                name: name.get_ref(),
                name_span: name.span(),
                value: value.get_ref(),
                span: value.span(),
            })
            .collect();
        entries.sort_by_key(|entry| entry.name_span.start);
        Self {
            title: title.into(),
            span,
            entries,
        }
    }

    /// A table without entries, for one that the file leaves out.
    pub fn empty(title: impl Into<String>, span: Range<usize>) -> Self {
        Self {
            title: title.into(),
            span,
            entries: Vec::new(),
        }
    }

    /// The table that an entry of this one holds; a fault where it holds something else.
    pub fn table(&self, reader: &mut Reader<'_>, name: &str, title: &str) -> Option<Section<'t>> {
        let entry = self.entry(name)?;
        Self::of_entry(reader, entry, title)
    }

    /// The entry's value as a table; a fault where it is something else.
    pub fn of_entry(
        reader: &mut Reader<'_>,
        entry: &Entry<'t>,
        title: &str,
    ) -> Option<Section<'t>> {
        match entry.value {
            DeValue::Table(table) => Some(Section::new(title, entry.name_span.clone(), table)),
            other => {
                let fault = Fault::new(
                    "must be a table",
                    format!("this is {}", describe(other)),
                    format!(
                        "write {title} on a line of its own and its keys below, or {{ key = value }}"
                    ),
                );
                reader.fault(&entry.subject(), &entry.span, fault);
                None
            }
        }
    }

    /// The entry of this name.
    pub fn entry(&self, name: &str) -> Option<&Entry<'t>> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Faults for every key that is neither one of the table's nor one of `others`.
    pub fn refuse_unknown_keys(&self, reader: &mut Reader<'_>, table: Table, others: &[&str]) {
        let known: Vec<&str> = table
            .keys()
            .iter()
            .map(|key| key.name)
            .chain(others.iter().copied())
            .collect();
        for entry in &self.entries {
            if known.contains(&entry.name) {
                continue;
            }
            let fault = Fault::new(
                format!("is not a key of {}", self.title),
                "unknown key",
                unknown_key_remedy(entry.name, &known, table),
            );
            reader.fault(&entry.subject(), &entry.name_span, fault);
        }
    }

    /// The value of a key as `read` makes it; nothing where the key is absent or faulty.
    pub fn read<T>(
        &self,
        reader: &mut Reader<'_>,
        name: &str,
        read: impl FnOnce(&DeValue<'_>) -> Result<T, Fault>,
    ) -> Option<T> {
        let entry = self.entry(name)?;
        reader.check(&entry.subject(), &entry.span, read(entry.value))
    }

    /// The same for a key that must be there.
    pub fn required<T>(
        &self,
        reader: &mut Reader<'_>,
        name: &str,
        example: &str,
        read: impl FnOnce(&DeValue<'_>) -> Result<T, Fault>,
    ) -> Option<T> {
        if self.entry(name).is_none() {
            self.missing(reader, name, example);
        }
        self.read(reader, name, read)
    }

    /// Records that a key is missing.
    pub fn missing(&self, reader: &mut Reader<'_>, name: &str, example: &str) {
        if reader.broken {
            return;
        }
        let fault = Fault::new(
            format!("is missing from {}", self.title),
            format!("without `{name}`"),
            format!("add {example}"),
        );
        reader.fault(&quoted(name), &self.span, fault);
    }

    /// The value of a key that is one of these words, as what the word stands for.
    pub fn word<T: Clone>(
        &self,
        reader: &mut Reader<'_>,
        name: &str,
        words: &[(&str, T)],
        later: &[&str],
    ) -> Option<T> {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let chosen = self.read(reader, name, |value| {
            crate::experiment::values::word(value, &names, later).map(str::to_owned)
        })?;
        words
            .iter()
            .find(|(word, _)| *word == chosen)
            .map(|(_, meaning)| meaning.clone())
    }
}

/// What to do about an unknown key: the nearest known one, the table that it belongs to, or the
/// list of what there is.
fn unknown_key_remedy(name: &str, known: &[&str], table: Table) -> String {
    if let Some(near) = suggest::nearest(name, known.iter().copied()) {
        return format!("did you mean `{near}`?");
    }
    let elsewhere = |other: &&Table| **other != table;
    let home = Table::ALL
        .iter()
        .filter(elsewhere)
        .find(|other| other.keys().iter().any(|key| key.name == name));
    if let Some(home) = home {
        return format!("`{name}` is a key of {}: move it there", home.title());
    }
    let near_elsewhere = Table::ALL.iter().filter(elsewhere).find_map(|other| {
        let keys = other.keys().iter().map(|key| key.name);
        Some((suggest::nearest(name, keys)?, other.title()))
    });
    match near_elsewhere {
        Some((near, title)) => format!("did you mean `{near}`, a key of {title}?"),
        None => format!("its keys are {}", suggest::listed(known.iter().copied())),
    }
}

/// The members of a list with their places; a fault where the value is no list.
pub fn members<'t>(
    reader: &mut Reader<'_>,
    entry: &Entry<'t>,
    example: &str,
) -> Option<&'t [Spanned<DeValue<'t>>]> {
    match entry.value {
        DeValue::Array(list) => Some(list),
        other => {
            let fault = Fault::new(
                "must be a list",
                format!("this is {}", describe(other)),
                format!("write it in brackets, as in {example}"),
            );
            reader.fault(&entry.subject(), &entry.span, fault);
            None
        }
    }
}
