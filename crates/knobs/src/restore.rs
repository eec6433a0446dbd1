//! Putting a machine back, from the journal and never from what the machine is now.
//!
//! The last change is undone first. A value that is neither the old one nor ours was written by
//! somebody else meanwhile: it is left, and named.

use std::collections::BTreeMap;

use knobstat_data::messages::{Restoration, RestoreFailure};

use crate::files::Files;
use crate::journal::{Entry, Journal, JournalError, Target};
use crate::knob::{Refused, with_value};
use crate::patience::Patience;
use crate::pattern::generalise;
use crate::untold;
use crate::value::Form;

/// Undoing one change may disturb what was undone before it; after this many passes it never
/// settles.
const MOST_PASSES: usize = 4;

/// What a setting is now, compared with the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// As it was before the experiment.
    AsItWas,
    /// As the experiment left it, or unknown because a change was cut short.
    Ours,
    /// Somebody else's value.
    Foreign(String),
    /// Not there: its CPU is offline or its device is gone.
    Gone,
}

/// How a machine is put back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether values of somebody else are overwritten.
    pub overwrite_others: bool,
    /// Whether changes of the machine's own settings are refused.
    pub refused: Refused,
}

/// Puts everything back that a journal names, and clears the journal when all is back.
///
/// # Errors
/// When the journal cannot be cleared. What could not be put back is no error but is in the
/// result, and the journal stays.
pub fn restore(
    files: &dyn Files,
    journal: &mut Journal,
    options: Options,
) -> Result<Restoration, JournalError> {
    let mut restoration = Restoration::default();
    let mut patience = Patience::new(files);
    if journal.entries().iter().any(|entry| entry.pending) {
        patience.let_pass();
    }
    // Who changed what is decided before anything is undone, because undoing changes more than
    // what it writes.
    let states: Vec<State> = journal
        .entries()
        .iter()
        .map(|entry| state(files, entry))
        .collect();
    let mut ours: Vec<usize> = Vec::new();
    for (index, state) in states.iter().enumerate().rev() {
        let entry = &journal.entries()[index];
        match state {
            State::Foreign(value) if !options.overwrite_others => {
                restoration.left_alone.push(foreign(files, entry, value));
            }
            _ => ours.push(index),
        }
    }
    if ours
        .iter()
        .any(|index| !is_back(files, &journal.entries()[*index]))
    {
        // A full disk is no reason to leave the machine as it is: then a death in the midst of
        // it may leave a value that is taken for somebody else's.
        let _ = journal.announce_undoing(files, &ours);
    }
    let ours: Vec<&Entry> = ours
        .iter()
        .map(|index| &journal.entries()[*index])
        .collect();
    let refused = options.refused.of(files);
    let mut put_back: Vec<&Entry> = Vec::new();
    let mut failures: Vec<(&Entry, NotBack)> = Vec::new();
    for _ in 0..MOST_PASSES {
        failures.clear();
        let mut written = false;
        for entry in &ours {
            if is_back(files, entry) {
                continue;
            }
            if let Some(refused) = &refused {
                failures.push((entry, NotBack::of(refused.reason.clone())));
                continue;
            }
            match put_one_back(files, entry, &mut patience) {
                Ok(()) => {
                    written = true;
                    if !put_back.iter().any(|known| std::ptr::eq(*known, *entry)) {
                        put_back.push(entry);
                    }
                }
                Err(not_back) => failures.push((entry, not_back)),
            }
        }
        if !written {
            break;
        }
    }
    // A setting that is not there has nothing to be put back to; it comes back, if it does, with
    // the kernel's default.
    failures.retain(|(entry, not_back)| {
        if not_back.is_the_kernels {
            restoration.left_alone.push(format!(
                "{} was {} and went elsewhere with its CPU: the kernel lets nobody move it back",
                label(files, &entry.target),
                old_value(entry)
            ));
            return false;
        }
        let gone = state(files, entry) == State::Gone;
        let was_back = put_back.iter().any(|known| std::ptr::eq(*known, *entry));
        if gone && !was_back {
            restoration.left_alone.push(format!(
                "{} is gone with its CPU or device: it was {}",
                label(files, &entry.target),
                old_value(entry)
            ));
        }
        !gone
    });
    restoration.put_back = sentences(files, &put_back);
    restoration.failed = failures
        .into_iter()
        .map(|(entry, not_back)| RestoreFailure {
            reason: format!(
                "{} could not be put back to {}: {}",
                label(files, &entry.target),
                old_value(entry),
                not_back.reason
            ),
            command: command(files, entry),
        })
        .collect();
    if !restoration.left_alone.is_empty() {
        // A full disk is no reason to leave the machine as it is; whoever asked is told at once.
        let _ = untold::add(files, &restoration.left_alone);
    }
    if restoration.failed.is_empty() {
        journal.clear(files)?;
    }
    Ok(restoration)
}

/// What [`restore`] would do, without doing it: what would be put back is told as the commands that
/// a person would type.
pub fn plan_restore(files: &dyn Files, journal: &Journal, options: Options) -> Restoration {
    let mut restoration = Restoration::default();
    let mut would: Vec<&Entry> = Vec::new();
    for entry in journal.entries().iter().rev() {
        match state(files, entry) {
            State::AsItWas => {}
            State::Foreign(value) if !options.overwrite_others => {
                restoration.left_alone.push(foreign(files, entry, &value));
            }
            State::Gone | State::Ours | State::Foreign(_) => would.push(entry),
        }
    }
    restoration.put_back = would.iter().map(|entry| command(files, entry)).collect();
    restoration
}

fn state(files: &dyn Files, entry: &Entry) -> State {
    let bytes = match entry.target.read(files) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return State::Gone,
        // It is there, and whether it can be written will show.
        Err(_) => return State::Ours,
    };
    let value = entry.target.value(&bytes);
    if value == old_value(entry) {
        State::AsItWas
    } else if entry.pending || entry.ours.contains(&value) {
        State::Ours
    } else {
        State::Foreign(value)
    }
}

/// Whether a setting is as it was, byte for byte where its file keeps bytes.
fn is_back(files: &dyn Files, entry: &Entry) -> bool {
    entry.target.read(files).is_ok_and(|bytes| {
        let exact = files.keeps_bytes() && matches!(entry.target, Target::File { .. });
        if exact {
            bytes == entry.old
        } else {
            entry.target.value(&bytes) == old_value(entry)
        }
    })
}

/// Why a setting is not back.
struct NotBack {
    reason: String,
    /// Whether it is an interrupt that only the kernel moves, as one of a single CPU's timer.
    is_the_kernels: bool,
}

impl NotBack {
    fn of(reason: String) -> Self {
        Self {
            reason,
            is_the_kernels: false,
        }
    }
}

/// What the kernel answers where it does not let an interrupt be moved (EIO; `write_irq_affinity`
/// of kernel/irq/proc.c).
const CANNOT_BE_MOVED: i32 = 5;

fn put_one_back(
    files: &dyn Files,
    entry: &Entry,
    patience: &mut Patience<'_>,
) -> Result<(), NotBack> {
    match &entry.target {
        Target::File { path, form } => {
            let write = |bytes: &[u8]| {
                files.write(path, bytes).map_err(|error| NotBack {
                    reason: crate::availability::explain(files, &[path], &error).reason,
                    is_the_kernels: path.starts_with("/proc/irq/")
                        && error.raw_os_error() == Some(CANNOT_BE_MOVED),
                })
            };
            let bytes = form.bytes_to_write_back(&entry.old);
            write(&bytes)?;
            // A plain file of a laid-out tree does not show the choices again by itself.
            if files.keeps_bytes() && bytes != entry.old && !is_back(files, entry) {
                write(&entry.old)?;
            }
            patience.until(|| is_back(files, entry));
        }
        Target::Command { restore, .. } => {
            files
                .run(&with_value(restore, &old_value(entry)))
                .map_err(|error| NotBack::of(format!("its command failed: {error}")))?;
        }
    }
    if is_back(files, entry) {
        return Ok(());
    }
    Err(NotBack::of(match entry.target.read(files) {
        Ok(bytes) => format!(
            "the write succeeded, but it reads {}",
            entry.target.value(&bytes)
        ),
        Err(error) => format!("the write succeeded, but it cannot be read: {error}"),
    }))
}

fn old_value(entry: &Entry) -> String {
    entry.target.value(&entry.old)
}

fn label(files: &dyn Files, target: &Target) -> String {
    match target {
        Target::File { path, .. } => files.location(path).display().to_string(),
        Target::Command { knob, .. } => knob.clone(),
    }
}

fn foreign(files: &dyn Files, entry: &Entry, value: &str) -> String {
    let ours = match entry.ours.as_slice() {
        [] => String::new(),
        values => format!(" nor ours ({})", values.join(", ")),
    };
    format!(
        "{} is {value}, which is not the old value ({}){ours}: somebody else set it, and it was \
         left alone",
        label(files, &entry.target),
        old_value(entry)
    )
}

/// Many files of one knob and one value are one sentence.
fn sentences(files: &dyn Files, entries: &[&Entry]) -> Vec<String> {
    let mut order: Vec<(String, String)> = Vec::new();
    let mut groups: BTreeMap<(String, String), Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        let key = (generalise(&label(files, &entry.target)), old_value(entry));
        if !order.contains(&key) {
            order.push(key.clone());
        }
        groups.entry(key).or_default().push(entry);
    }
    order
        .into_iter()
        .filter_map(|key| {
            let group = groups.get(&key)?;
            let (pattern, value) = key;
            Some(match group.as_slice() {
                [entry] => format!("put {} back to {value}", label(files, &entry.target)),
                many => format!("put {pattern} ({} files) back to {value}", many.len()),
            })
        })
        .collect()
}

/// The command that a person would type to put one setting back.
fn command(files: &dyn Files, entry: &Entry) -> String {
    let old = old_value(entry);
    match &entry.target {
        Target::File { path, form } => {
            // A laid-out file that shows choices is put back with all of them.
            let text = if files.keeps_bytes() && *form == Form::Bracketed {
                Form::Plain.value(&entry.old)
            } else {
                old
            };
            let path = quote(&files.location(path).display().to_string());
            if *form == Form::Microseconds && Form::Plain.value(&entry.old) != text {
                let octal: String = entry
                    .old
                    .iter()
                    .map(|byte| format!("\\{byte:03o}"))
                    .collect();
                return format!("printf '{octal}' > {path}");
            }
            format!("echo {} > {path}", quote(&text))
        }
        Target::Command { restore, .. } => with_value(restore, &old)
            .iter()
            .map(|word| quote(word))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// A word as a shell takes it.
pub(crate) fn quote(word: &str) -> String {
    let plain = !word.is_empty()
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "/._-:+=,@%".contains(c));
    if plain {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_needs_it() {
        for (word, quoted) in [
            ("powersave", "powersave"),
            ("/sys/a-b/c.d", "/sys/a-b/c.d"),
            ("", "''"),
            ("4096 131072", "'4096 131072'"),
            ("it's", "'it'\\''s'"),
            ("$(x)", "'$(x)'"),
        ] {
            assert_eq!(quote(word), quoted);
        }
    }
}
