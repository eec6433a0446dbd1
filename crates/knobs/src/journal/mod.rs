//! What was changed, on the disk before it is changed: the one thing that putting a machine back
//! needs.

mod text;

use std::io;
use std::path::PathBuf;

use knobstat_data::ExperimentId;
use thiserror::Error;

use crate::files::Files;
use crate::value::Form;
use text::Lines;

/// Beyond this many bytes a journal is rewritten to what it says in short.
const LONG: u64 = 1 << 20;

/// Why the journal is of no use.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The disk or the directory failed.
    #[error(
        "the journal {path} cannot be kept ({source}), and without it nothing is changed; make room for it or give it a writable place"
    )]
    Storage {
        /// The journal.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A line that is not the last one does not read as it was written.
    #[error(
        "line {line} of the journal {path} is damaged ({what}); put the settings that it names back by hand, then remove the file"
    )]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// Whose journal it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The boot during which it is valid.
    pub boot: String,
    /// The experiment that changes the settings.
    pub experiment: ExperimentId,
}

/// A setting as the journal names it: all that is needed to read it and to put it back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A file.
    File {
        /// Its path beneath the root.
        path: String,
        /// How it shows its value.
        form: Form,
    },
    /// An own knob.
    Command {
        /// Its name.
        knob: String,
        /// The command that prints its value.
        get: Vec<String>,
        /// The command that puts a value back, `{value}` in place of it.
        restore: Vec<String>,
    },
}

impl Target {
    /// The setting's present bytes.
    ///
    /// # Errors
    /// As the kernel or the command says.
    pub fn read(&self, files: &dyn Files) -> io::Result<Vec<u8>> {
        match self {
            Self::File { path, .. } => files.read(path),
            Self::Command { get, .. } => files.run(get),
        }
    }

    /// The value that some bytes of it stand for.
    pub fn value(&self, bytes: &[u8]) -> String {
        match self {
            Self::File { form, .. } => form.value(bytes),
            Self::Command { .. } => Form::Plain.value(bytes),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { path: a, .. }, Self::File { path: b, .. }) => a == b,
            (Self::Command { knob: a, .. }, Self::Command { knob: b, .. }) => a == b,
            _ => false,
        }
    }
}

/// What a setting read after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The setting.
    pub target: Target,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The value that was written to it without an error. Where it reads otherwise the kernel may
    /// still come to it, and then it is ours.
    pub written: Option<String>,
}

/// One setting in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The setting.
    pub target: Target,
    /// Its bytes before the first change.
    pub old: Vec<u8>,
    /// The values that were read back after changes, and those that were written without an error.
    pub ours: Vec<String>,
    /// Whether a change was announced whose outcome is not known: then any value is ours.
    pub pending: bool,
}

impl Entry {
    fn new(target: Target, old: Vec<u8>) -> Self {
        Self {
            target,
            old,
            ours: Vec::new(),
            pending: false,
        }
    }

    /// Notes the values that a change left it with.
    fn note(&mut self, values: Vec<String>) {
        self.pending = false;
        for value in values {
            if !self.ours.contains(&value) {
                self.ours.push(value);
            }
        }
    }
}

/// The journal of one experiment.
#[derive(Clone, Debug)]
pub struct Journal {
    header: Header,
    entries: Vec<Entry>,
    /// Bytes in the file; none of it is there yet at 0.
    length: u64,
    /// Whether the file ends with a torn line.
    torn: bool,
}

impl Journal {
    /// A journal with nothing in it. Nothing is written before the first change.
    pub fn new(header: Header) -> Self {
        Self {
            header,
            entries: Vec::new(),
            length: 0,
            torn: false,
        }
    }

    /// The journal that was left, where one was.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged before its last line.
    pub fn load(files: &dyn Files) -> Result<Option<Self>, JournalError> {
        let bytes = files
            .read_journal()
            .map_err(|source| JournalError::Storage {
                path: files.journal_location(),
                source,
            })?;
        let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else {
            return Ok(None);
        };
        let content = text::decode(&bytes).map_err(|(line, what)| JournalError::Damaged {
            path: files.journal_location(),
            line,
            what,
        })?;
        Ok(content.map(|content| Self {
            header: content.header,
            entries: content.entries,
            length: bytes.len() as u64,
            torn: content.torn,
        }))
    }

    /// Whose it is.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The settings that were changed, in the order of their first change.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Announces a change of settings whose bytes are now these, and waits for the disk. The
    /// order of the settings is the reverse of the order in which they will be put back.
    ///
    /// # Errors
    /// When it cannot be made durable: then nothing may be changed.
    pub fn announce(
        &mut self,
        files: &dyn Files,
        settings: Vec<(Target, Vec<u8>)>,
    ) -> Result<(), JournalError> {
        let mut lines = Lines::default();
        let mut entries = self.entries.clone();
        for (target, old) in settings {
            let known = entries
                .iter()
                .position(|entry| entry.target.is_same(&target));
            let index = known.unwrap_or_else(|| {
                let index = entries.len();
                lines.old(index, &target, &old);
                entries.push(Entry::new(target, old));
                index
            });
            if !entries[index].pending {
                lines.change(index);
            }
            entries[index].pending = true;
        }
        self.write(files, entries, &lines)
    }

    /// Announces that these settings, by their index, are about to be put back, and waits for the
    /// disk. Undoing one may have the kernel reset another; if it is cut short, that is ours.
    ///
    /// # Errors
    /// When it cannot be made durable.
    pub fn announce_undoing(
        &mut self,
        files: &dyn Files,
        indexes: &[usize],
    ) -> Result<(), JournalError> {
        let mut lines = Lines::default();
        let mut entries = self.entries.clone();
        for index in indexes {
            if let Some(entry) = entries.get_mut(*index)
                && !entry.pending
            {
                lines.change(*index);
                entry.pending = true;
            }
        }
        if lines.as_bytes().is_empty() {
            return Ok(());
        }
        self.write(files, entries, &lines)
    }

    /// Notes what was read back after a change, and waits for the disk.
    ///
    /// # Errors
    /// When it cannot be made durable. The change stays announced, so that any value is ours.
    pub fn confirm(&mut self, files: &dyn Files, readings: &[Reading]) -> Result<(), JournalError> {
        let mut lines = Lines::default();
        let mut entries = self.entries.clone();
        for reading in readings {
            for (index, entry) in entries.iter_mut().enumerate() {
                if entry.target.is_same(&reading.target) {
                    let mut values = vec![entry.target.value(&reading.bytes)];
                    let written = reading.written.clone();
                    values.extend(written.filter(|written| *written != values[0]));
                    lines.ours(index, &values);
                    entry.note(values);
                }
            }
        }
        self.write(files, entries, &lines)
    }

    /// Removes it: everything is back.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn clear(&mut self, files: &dyn Files) -> Result<(), JournalError> {
        files
            .remove_journal()
            .map_err(|source| JournalError::Storage {
                path: files.journal_location(),
                source,
            })?;
        self.entries.clear();
        self.length = 0;
        self.torn = false;
        Ok(())
    }

    /// Takes up new entries once they are on the disk.
    fn write(
        &mut self,
        files: &dyn Files,
        entries: Vec<Entry>,
        lines: &Lines,
    ) -> Result<(), JournalError> {
        let storage = |source| JournalError::Storage {
            path: files.journal_location(),
            source,
        };
        // The first time in place of whatever a power cut left of another one.
        if self.length == 0 || self.torn || self.length > LONG {
            let whole = Lines::whole(&self.header, &entries);
            files.replace_journal(whole.as_bytes()).map_err(storage)?;
            self.length = whole.as_bytes().len() as u64;
            self.torn = false;
        } else {
            files.append_journal(lines.as_bytes()).map_err(storage)?;
            self.length += lines.as_bytes().len() as u64;
        }
        self.entries = entries;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    fn file(path: &str) -> Target {
        Target::File {
            path: path.to_owned(),
            form: Form::Plain,
        }
    }

    fn command() -> Target {
        Target::Command {
            knob: "coalescing, rx".to_owned(),
            get: vec!["sh".to_owned(), "-c".to_owned(), "cat \"a b\"".to_owned()],
            restore: vec!["set".to_owned(), String::new(), "{value}".to_owned()],
        }
    }

    fn header() -> Header {
        Header {
            boot: "ea38ce5c-2721".to_owned(),
            experiment: "0123456789ab".parse().unwrap(),
        }
    }

    fn sample(machine: &FakeMachine) -> Journal {
        let mut journal = Journal::new(header());
        journal
            .announce(
                machine,
                vec![
                    (file("/sys/a b"), b"powersave\n".to_vec()),
                    (command(), b"".to_vec()),
                ],
            )
            .unwrap();
        journal
            .confirm(
                machine,
                &[Reading {
                    target: file("/sys/a b"),
                    bytes: b"performance\n".to_vec(),
                    written: Some("schedutil now".to_owned()),
                }],
            )
            .unwrap();
        journal
    }

    #[test]
    fn what_was_written_is_read_again() {
        let machine = FakeMachine::new(&[]);
        assert!(Journal::load(&machine).unwrap().is_none());
        let journal = sample(&machine);
        let loaded = Journal::load(&machine).unwrap().unwrap();
        assert_eq!(loaded.header(), &header());
        assert_eq!(loaded.entries(), journal.entries());
        let [first, second] = loaded.entries() else {
            panic!("two settings were announced");
        };
        assert_eq!(first.ours, ["performance", "schedutil now"]);
        assert!(!first.pending);
        assert_eq!(second.target, command());
        assert!(second.pending);
        // In short it says the same.
        let short = Lines::whole(loaded.header(), loaded.entries());
        machine.set_journal(short.as_bytes());
        let again = Journal::load(&machine).unwrap().unwrap();
        assert_eq!(again.entries(), loaded.entries());
    }

    #[test]
    fn the_first_old_value_is_kept() {
        let machine = FakeMachine::new(&[]);
        let mut journal = sample(&machine);
        journal
            .announce(
                &machine,
                vec![(file("/sys/a b"), b"performance\n".to_vec())],
            )
            .unwrap();
        assert_eq!(journal.entries()[0].old, b"powersave\n");
        assert!(journal.entries()[0].pending);
        assert_eq!(journal.entries().len(), 2);
    }

    #[test]
    fn a_torn_last_line_is_ignored_at_every_length() {
        let machine = FakeMachine::new(&[]);
        let mut journal = sample(&machine);
        let before = machine.journal().unwrap();
        journal
            .announce(&machine, vec![(file("/sys/c"), b"1\n".to_vec())])
            .unwrap();
        let after = machine.journal().unwrap();
        for length in before.len()..after.len() {
            machine.set_journal(&after[..length]);
            let mut torn = Journal::load(&machine).unwrap().unwrap();
            assert!(torn.entries().len() >= 2);
            // It can be written on, and then reads whole.
            torn.announce(&machine, vec![(file("/sys/d"), b"2\n".to_vec())])
                .unwrap();
            let whole = Journal::load(&machine).unwrap().unwrap();
            assert_eq!(whole.entries(), torn.entries());
        }
    }

    #[test]
    fn damage_before_the_last_line_is_an_error_that_names_it() {
        let machine = FakeMachine::new(&[]);
        sample(&machine);
        let good = machine.journal().unwrap();
        let last_line = good[..good.len() - 1]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .unwrap();
        for at in 0..last_line {
            let mut bad = good.clone();
            bad[at] ^= 0x02;
            machine.set_journal(&bad);
            let error = Journal::load(&machine).unwrap_err();
            assert!(
                matches!(error, JournalError::Damaged { .. }),
                "{at}: {error}"
            );
        }
    }

    #[test]
    fn a_long_journal_is_made_short() {
        let machine = FakeMachine::new(&[]);
        let mut journal = sample(&machine);
        journal.length = LONG + 1;
        journal
            .announce(&machine, vec![(file("/sys/c"), b"1\n".to_vec())])
            .unwrap();
        assert!(journal.length < 1000);
        let loaded = Journal::load(&machine).unwrap().unwrap();
        assert_eq!(loaded.entries(), journal.entries());
    }

    #[test]
    fn what_is_left_of_no_journal_is_replaced() {
        let machine = FakeMachine::new(&[]);
        machine.set_journal(b"0123 beg");
        assert!(Journal::load(&machine).unwrap().is_none());
        let journal = sample(&machine);
        let loaded = Journal::load(&machine).unwrap().unwrap();
        assert_eq!(loaded.entries(), journal.entries());
    }
}
