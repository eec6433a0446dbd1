//! What was changed, on the disk before it is changed: the one thing that putting a machine back
//! needs.
//!
//! The journal is a text of lines, each beginning with a checksum of the rest of it:
//!
//! ```text
//! SUM begin 1 BOOT EXPERIMENT
//! SUM old INDEX file FORM PATH BYTES        what a setting was, once per setting
//! SUM old INDEX command KNOB BYTES GET RESTORE
//! SUM change INDEX                          it is about to be changed
//! SUM ours INDEX VALUE                      what was read back after that
//! ```
//!
//! Fields are separated by one space; other bytes than plain letters are written `%41`. A last
//! line that a power cut tore is ignored: what it announced was not yet done.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use knobstat_data::ExperimentId;
use thiserror::Error;

use crate::checksum::checksum;
use crate::files::Files;
use crate::value::Form;

const VERSION: &str = "1";

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

/// One setting in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The setting.
    pub target: Target,
    /// Its bytes before the first change.
    pub old: Vec<u8>,
    /// The values that were read back after changes.
    pub ours: Vec<String>,
    /// Whether a change was announced whose outcome is not known: then any value is ours.
    pub pending: bool,
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
        decode(&bytes).map_err(|(line, what)| JournalError::Damaged {
            path: files.journal_location(),
            line,
            what,
        })
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
        let mut lines = String::new();
        let mut entries = self.entries.clone();
        for (target, old) in settings {
            let known = entries
                .iter()
                .position(|entry| entry.target.is_same(&target));
            let index = known.unwrap_or_else(|| {
                let index = entries.len();
                push_line(&mut lines, &old_record(index, &target, &old));
                entries.push(Entry {
                    target,
                    old,
                    ours: Vec::new(),
                    pending: false,
                });
                index
            });
            if !entries[index].pending {
                push_line(&mut lines, &format!("change {index}"));
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
        let mut lines = String::new();
        let mut entries = self.entries.clone();
        for index in indexes {
            if let Some(entry) = entries.get_mut(*index)
                && !entry.pending
            {
                push_line(&mut lines, &format!("change {index}"));
                entry.pending = true;
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        self.write(files, entries, &lines)
    }

    /// Notes what was read back after a change, and waits for the disk.
    ///
    /// # Errors
    /// When it cannot be made durable. The change stays announced, so that any value is ours.
    pub fn confirm(
        &mut self,
        files: &dyn Files,
        readings: &[(Target, Vec<u8>)],
    ) -> Result<(), JournalError> {
        let mut lines = String::new();
        let mut entries = self.entries.clone();
        for (target, bytes) in readings {
            for (index, entry) in entries.iter_mut().enumerate() {
                if entry.target.is_same(target) {
                    let value = entry.target.value(bytes);
                    push_line(
                        &mut lines,
                        &format!("ours {index} {}", escape(value.as_bytes())),
                    );
                    note(entry, value);
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
        lines: &str,
    ) -> Result<(), JournalError> {
        let storage = |source| JournalError::Storage {
            path: files.journal_location(),
            source,
        };
        if self.torn || self.length > LONG {
            let whole = encode(&self.header, &entries);
            files.replace_journal(whole.as_bytes()).map_err(storage)?;
            self.length = whole.len() as u64;
            self.torn = false;
        } else {
            let lines = if self.length == 0 {
                let mut whole = String::new();
                push_line(&mut whole, &begin_record(&self.header));
                whole + lines
            } else {
                lines.to_owned()
            };
            files.append_journal(lines.as_bytes()).map_err(storage)?;
            self.length += lines.len() as u64;
        }
        self.entries = entries;
        Ok(())
    }
}

fn note(entry: &mut Entry, value: String) {
    entry.pending = false;
    if !entry.ours.contains(&value) {
        entry.ours.push(value);
    }
}

/// Everything that a journal says, in short.
fn encode(header: &Header, entries: &[Entry]) -> String {
    let mut text = String::new();
    push_line(&mut text, &begin_record(header));
    for (index, entry) in entries.iter().enumerate() {
        push_line(&mut text, &old_record(index, &entry.target, &entry.old));
        for value in &entry.ours {
            push_line(
                &mut text,
                &format!("ours {index} {}", escape(value.as_bytes())),
            );
        }
        if entry.pending {
            push_line(&mut text, &format!("change {index}"));
        }
    }
    text
}

fn begin_record(header: &Header) -> String {
    format!(
        "begin {VERSION} {} {}",
        escape(header.boot.as_bytes()),
        header.experiment
    )
}

fn old_record(index: usize, target: &Target, old: &[u8]) -> String {
    match target {
        Target::File { path, form } => {
            let form = match form {
                Form::Plain => "plain",
                Form::Bracketed => "bracketed",
                Form::Microseconds => "microseconds",
            };
            format!(
                "old {index} file {form} {} {}",
                escape(path.as_bytes()),
                escape(old)
            )
        }
        Target::Command { knob, get, restore } => format!(
            "old {index} command {} {} {} {}",
            escape(knob.as_bytes()),
            escape(old),
            escape_words(get),
            escape_words(restore)
        ),
    }
}

fn push_line(text: &mut String, record: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{:016x} {record}", checksum(record.as_bytes()));
}

/// Reads a journal's bytes; an error names the line and what is wrong with it.
fn decode(bytes: &[u8]) -> Result<Option<Journal>, (usize, &'static str)> {
    let mut journal: Option<Journal> = None;
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    for (index, line) in lines.iter().enumerate() {
        match checked(line) {
            Some(record) => take(&mut journal, record).map_err(|what| (index + 1, what))?,
            None if index + 1 == lines.len() => {
                if let Some(journal) = &mut journal {
                    journal.torn = true;
                }
            }
            None => return Err((index + 1, "its checksum does not match")),
        }
    }
    if let Some(journal) = &mut journal {
        journal.length = bytes.len() as u64;
    }
    Ok(journal)
}

/// The record of a whole line whose checksum matches.
fn checked(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, record) = text.split_once(' ')?;
    let matches =
        sum.len() == 16 && u64::from_str_radix(sum, 16).ok()? == checksum(record.as_bytes());
    matches.then_some(record)
}

fn take(journal: &mut Option<Journal>, record: &str) -> Result<(), &'static str> {
    let fields: Vec<&str> = record.split(' ').collect();
    let Some(journal) = journal else {
        let ["begin", VERSION, boot, experiment] = fields.as_slice() else {
            return Err("it does not begin as this version's journal does");
        };
        let header = Header {
            boot: unescape_text(boot)?,
            experiment: experiment.parse().map_err(|()| "it names no experiment")?,
        };
        *journal = Some(Journal::new(header));
        return Ok(());
    };
    match fields.as_slice() {
        ["old", index, "file", form, path, old] => {
            let form = match *form {
                "plain" => Form::Plain,
                "bracketed" => Form::Bracketed,
                "microseconds" => Form::Microseconds,
                _ => return Err("its form is none"),
            };
            let target = Target::File {
                path: unescape_text(path)?,
                form,
            };
            add(journal, index, target, unescape(old)?)
        }
        ["old", index, "command", knob, old, get, restore] => {
            let target = Target::Command {
                knob: unescape_text(knob)?,
                get: unescape_words(get)?,
                restore: unescape_words(restore)?,
            };
            add(journal, index, target, unescape(old)?)
        }
        ["change", index] => {
            entry(journal, index)?.pending = true;
            Ok(())
        }
        ["ours", index, value] => {
            let value = unescape_text(value)?;
            note(entry(journal, index)?, value);
            Ok(())
        }
        _ => Err("its record is none of this version"),
    }
}

fn add(
    journal: &mut Journal,
    index: &str,
    target: Target,
    old: Vec<u8>,
) -> Result<(), &'static str> {
    if index.parse() != Ok(journal.entries.len()) {
        return Err("its number is out of order");
    }
    journal.entries.push(Entry {
        target,
        old,
        ours: Vec::new(),
        pending: false,
    });
    Ok(())
}

fn entry<'a>(journal: &'a mut Journal, index: &str) -> Result<&'a mut Entry, &'static str> {
    index
        .parse::<usize>()
        .ok()
        .and_then(|index| journal.entries.get_mut(index))
        .ok_or("it is about a setting that was not named")
}

/// Bytes as one field: never empty, without spaces and line ends. An empty one is `%`.
fn escape(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "%".to_owned();
    }
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"/._-:+[]{}=".contains(byte) {
            text.push(char::from(*byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(text, "%{byte:02x}");
        }
    }
    text
}

fn unescape(field: &str) -> Result<Vec<u8>, &'static str> {
    const WRONG: &str = "a field is not escaped as it should be";
    if field == "%" {
        return Ok(Vec::new());
    }
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let (digits, after) = after.split_at_checked(2).ok_or(WRONG)?;
            let digits = std::str::from_utf8(digits).map_err(|_| WRONG)?;
            bytes.push(u8::from_str_radix(digits, 16).map_err(|_| WRONG)?);
            rest = after;
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    Ok(bytes)
}

fn unescape_text(field: &str) -> Result<String, &'static str> {
    String::from_utf8(unescape(field)?).map_err(|_| "a field is not text")
}

fn escape_words(words: &[String]) -> String {
    if words.is_empty() {
        return ",".to_owned();
    }
    words
        .iter()
        .map(|word| escape(word.as_bytes()))
        .collect::<Vec<_>>()
        .join(",")
}

fn unescape_words(field: &str) -> Result<Vec<String>, &'static str> {
    if field == "," {
        return Ok(Vec::new());
    }
    field.split(',').map(unescape_text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;
    use proptest::prelude::*;

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
            .confirm(machine, &[(file("/sys/a b"), b"performance\n".to_vec())])
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
        assert_eq!(first.ours, ["performance"]);
        assert!(!first.pending);
        assert_eq!(second.target, command());
        assert!(second.pending);
        // In short it says the same.
        let short = encode(loaded.header(), loaded.entries());
        let again = decode(short.as_bytes()).unwrap().unwrap();
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

    proptest! {
        #[test]
        fn any_bytes_survive_a_field(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let field = escape(&bytes);
            prop_assert!(!field.is_empty() && !field.contains([' ', '\n', ',']));
            prop_assert_eq!(unescape(&field), Ok(bytes));
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }

        #[test]
        fn no_record_makes_the_reader_panic(
            records in prop::collection::vec("(begin|old|change|ours)( [a-z0-9%,/]{0,8}){0,7}", 0..6),
        ) {
            let mut text = String::new();
            push_line(&mut text, &begin_record(&header()));
            for record in &records {
                push_line(&mut text, record);
            }
            let _ = decode(text.as_bytes());
        }
    }
}
