//! The journal as a text of lines, each beginning with a checksum of the rest of it:
//!
//! ```text
//! SUM begin 1 BOOT EXPERIMENT
//! SUM old INDEX file FORM PATH BYTES        what a setting was, once per setting
//! SUM old INDEX command KNOB BYTES GET RESTORE
//! SUM change INDEX                          it is about to be changed
//! SUM ours INDEX VALUE…                     what was read back after that, and what was written
//!                                           where that is something else
//! ```
//!
//! Fields are separated by one space; other bytes than plain letters are written `%41`. A last
//! line that a power cut tore is ignored: what it announced was not yet done.

use std::fmt::Write as _;

use super::{Entry, Header, Target};
use crate::checksum::checksum;
use crate::value::Form;

const VERSION: &str = "1";

/// What a journal's bytes say.
pub struct Content {
    /// Whose it is.
    pub header: Header,
    /// The settings that were changed, in the order of their first change.
    pub entries: Vec<Entry>,
    /// Whether the last line is torn.
    pub torn: bool,
}

/// What is wrong with a line, and which one it is, from 1.
pub type Damage = (usize, &'static str);

/// Lines to be written.
#[derive(Default)]
pub struct Lines(String);

impl Lines {
    /// Everything that a journal says, in short.
    pub fn whole(header: &Header, entries: &[Entry]) -> Self {
        let mut lines = Self::default();
        lines.begin(header);
        for (index, entry) in entries.iter().enumerate() {
            lines.old(index, &entry.target, &entry.old);
            if !entry.ours.is_empty() {
                lines.ours(index, &entry.ours);
            }
            if entry.pending {
                lines.change(index);
            }
        }
        lines
    }

    /// Whose journal it is.
    fn begin(&mut self, header: &Header) {
        self.push(&format!(
            "begin {VERSION} {} {}",
            escape(header.boot.as_bytes()),
            header.experiment
        ));
    }

    /// What a setting was.
    pub fn old(&mut self, index: usize, target: &Target, old: &[u8]) {
        self.push(&match target {
            Target::File { path, form } => format!(
                "old {index} file {} {} {}",
                form_word(*form),
                escape(path.as_bytes()),
                escape(old)
            ),
            Target::Command { knob, get, restore } => format!(
                "old {index} command {} {} {} {}",
                escape(knob.as_bytes()),
                escape(old),
                escape_words(get),
                escape_words(restore)
            ),
        });
    }

    /// A setting is about to be changed.
    pub fn change(&mut self, index: usize) {
        self.push(&format!("change {index}"));
    }

    /// The values that it was left with.
    pub fn ours(&mut self, index: usize, values: &[String]) {
        let values: Vec<String> = values
            .iter()
            .map(|value| escape(value.as_bytes()))
            .collect();
        self.push(&format!("ours {index} {}", values.join(" ")));
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    fn push(&mut self, record: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{:016x} {record}", checksum(record.as_bytes()));
    }
}

fn form_word(form: Form) -> &'static str {
    match form {
        Form::Plain => "plain",
        Form::Bracketed => "bracketed",
        Form::Microseconds => "microseconds",
        Form::CpuMask => "cpu-mask",
    }
}

/// Reads a journal's bytes. Nothing where no line of it is whole.
///
/// # Errors
/// The line before the last that does not read as it was written.
pub fn decode(bytes: &[u8]) -> Result<Option<Content>, Damage> {
    let mut content: Option<Content> = None;
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    for (index, line) in lines.iter().enumerate() {
        let taken = match (checked(line), &mut content) {
            (Some(record), Some(content)) => content.take(record),
            (Some(record), none) => begun(record).map(|begun| *none = Some(begun)),
            (None, content) if index + 1 == lines.len() => {
                if let Some(content) = content {
                    content.torn = true;
                }
                Ok(())
            }
            (None, _) => Err("its checksum does not match"),
        };
        taken.map_err(|what| (index + 1, what))?;
    }
    Ok(content)
}

/// The record of a whole line whose checksum matches.
fn checked(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, record) = text.split_once(' ')?;
    let matches =
        sum.len() == 16 && u64::from_str_radix(sum, 16).ok()? == checksum(record.as_bytes());
    matches.then_some(record)
}

fn begun(record: &str) -> Result<Content, &'static str> {
    let fields: Vec<&str> = record.split(' ').collect();
    let ["begin", VERSION, boot, experiment] = fields.as_slice() else {
        return Err("it does not begin as this version's journal does");
    };
    Ok(Content {
        header: Header {
            boot: unescape_text(boot)?,
            experiment: experiment.parse().map_err(|()| "it names no experiment")?,
        },
        entries: Vec::new(),
        torn: false,
    })
}

impl Content {
    fn take(&mut self, record: &str) -> Result<(), &'static str> {
        let fields: Vec<&str> = record.split(' ').collect();
        match fields.as_slice() {
            ["old", index, "file", form, path, old] => {
                let form = [
                    Form::Plain,
                    Form::Bracketed,
                    Form::Microseconds,
                    Form::CpuMask,
                ]
                .into_iter()
                .find(|known| form_word(*known) == *form)
                .ok_or("its form is none")?;
                let target = Target::File {
                    path: unescape_text(path)?,
                    form,
                };
                self.add(index, target, unescape(old)?)
            }
            ["old", index, "command", knob, old, get, restore] => {
                let target = Target::Command {
                    knob: unescape_text(knob)?,
                    get: unescape_words(get)?,
                    restore: unescape_words(restore)?,
                };
                self.add(index, target, unescape(old)?)
            }
            ["change", index] => {
                self.entry(index)?.pending = true;
                Ok(())
            }
            ["ours", index, values @ ..] if !values.is_empty() => {
                let values = values.iter().map(|value| unescape_text(value));
                let values: Vec<String> = values.collect::<Result<_, _>>()?;
                self.entry(index)?.note(values);
                Ok(())
            }
            _ => Err("its record is none of this version"),
        }
    }

    fn add(&mut self, index: &str, target: Target, old: Vec<u8>) -> Result<(), &'static str> {
        if index.parse() != Ok(self.entries.len()) {
            return Err("its number is out of order");
        }
        self.entries.push(Entry::new(target, old));
        Ok(())
    }

    fn entry(&mut self, index: &str) -> Result<&mut Entry, &'static str> {
        index
            .parse::<usize>()
            .ok()
            .and_then(|index| self.entries.get_mut(index))
            .ok_or("it is about a setting that was not named")
    }
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
    use proptest::prelude::*;

    #[test]
    fn nothing_whole_is_no_journal() {
        assert!(matches!(decode(b"half a li"), Ok(None)));
        assert!(matches!(decode(b""), Ok(None)));
        assert!(decode(b"one line\nand another\n").is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_survive_a_field(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let field = escape(&bytes);
            prop_assert!(!field.is_empty() && !field.contains([' ', '\n', ',']));
            prop_assert_eq!(unescape(&field), Ok(bytes));
        }

        #[test]
        fn any_words_survive_a_field(words in prop::collection::vec(".{0,8}", 0..4)) {
            prop_assert_eq!(unescape_words(&escape_words(&words)), Ok(words));
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }

        #[test]
        fn no_record_makes_the_reader_panic(
            records in prop::collection::vec("(begin|old|change|ours)( [a-z0-9%,/]{0,8}){0,7}", 0..6),
        ) {
            let mut lines = Lines::default();
            lines.begin(&Header {
                boot: "boot".to_owned(),
                experiment: "0123456789ab".parse().unwrap(),
            });
            for record in &records {
                lines.push(record);
            }
            let _ = decode(lines.as_bytes());
        }
    }
}
