//! What an interrupted experiment left behind: found in its journal, and put back by whoever takes
//! the machine next.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use knobstat_data::ExperimentId;
use knobstat_data::messages::{Refusal, RefusalKind, Restoration};
use knobstat_sys::lock::MachineLock;
use knobstat_sys::processes::{self, Process};
use knobstat_sys::root::Root;
use knobstat_sys::session;
use thiserror::Error;

use crate::boot::boot_id;
use crate::boot_entry::{BootError, Boots};
use crate::files::RootedFiles;
use crate::guardian::{GuardianError, MARK};
use crate::journal::{Journal, JournalError};
use crate::knob::Refused;
use crate::refusal::refusal;
use crate::restore;
use crate::session::Options;
use crate::state_directory::StateDirectory;
use crate::taking::{Holder, Taking, take};
use crate::untold;

/// How long a left-over process may take to end by itself once asked.
const GRACE: Duration = Duration::from_secs(2);

/// Why the machine could not be taken.
#[derive(Debug, Error)]
pub enum BeginError {
    /// Another experiment has it.
    #[error("{}", busy(.0))]
    Busy(Holder),
    /// What an earlier experiment left behind could not be put back.
    #[error(
        "an earlier experiment left settings behind that could not be put back: {}; put them back by hand, then run `knobstat restore`",
        reasons(.0)
    )]
    LeftBehind(Restoration),
    /// The root cannot be locked.
    #[error(
        "the machine cannot be taken: its root {path} cannot be locked ({source}); use a root on a local file system"
    )]
    Lock {
        /// The root.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// There is no guardian.
    #[error(transparent)]
    Guardian(#[from] GuardianError),
    /// What the boots of an experiment left could not be removed.
    #[error("{0}")]
    Boots(Box<BootError>),
}

fn busy(holder: &Holder) -> String {
    let who = match (&holder.experiment, holder.pid) {
        (Some(experiment), Some(pid)) => format!("experiment {experiment} (process {pid})"),
        (Some(experiment), None) => format!("experiment {experiment}"),
        (None, Some(pid)) => format!("process {pid}"),
        (None, None) => "another process".to_owned(),
    };
    if holder.putting_back {
        format!("{who} has ended and its guardian still puts the machine back; try again later")
    } else {
        format!("{who} runs on this machine; wait for its end, or interrupt it")
    }
}

fn reasons(restoration: &Restoration) -> String {
    restoration
        .failed
        .iter()
        .map(|failure| format!("{} (`{}`)", failure.reason, failure.command))
        .collect::<Vec<_>>()
        .join(", ")
}

impl From<&BeginError> for Refusal {
    fn from(error: &BeginError) -> Self {
        let kind = match error {
            BeginError::Busy(_) => RefusalKind::Busy,
            BeginError::LeftBehind(_) => RefusalKind::Restore,
            BeginError::Lock { .. } | BeginError::Journal(_) => RefusalKind::Disk,
            BeginError::Guardian(_) => RefusalKind::Unguarded,
            BeginError::Boots(_) => RefusalKind::Restore,
        };
        refusal(kind, &error.to_string())
    }
}

/// Puts back what an interrupted experiment left behind: the whole of `knobstat restore`.
///
/// # Errors
/// When an experiment runs, or the journal is of no use. What could not be put back is in the
/// result.
pub fn put_back(
    root: &Root,
    state: &StateDirectory,
    options: &Options,
) -> Result<Restoration, BeginError> {
    let _lock = lock(root, options.patience)?;
    let files = RootedFiles::new(root.clone(), state.clone());
    let options = restore::Options {
        overwrite_others: options.overwrite_others,
        refused: options.refused,
    };
    let mut restoration = put_back_leftovers(root, &files, options)?;
    let boots = boots(root, state, options.refused);
    // What root's experiments wrote for their boots is nobody else's to remove.
    if !root.is_real() || session::is_root() {
        let removed = boots.remove_traces();
        restoration
            .put_back
            .extend(removed.map_err(|error| BeginError::Boots(Box::new(error)))?);
    }
    restoration.left_alone.extend(still_in_a_boot(&boots));
    Ok(restoration)
}

fn boots(root: &Root, state: &StateDirectory, refused: Refused) -> Boots {
    Boots::new(root.clone(), state.clone(), refused, PathBuf::new())
}

/// A word about a machine that no restoring makes as it boots by itself.
fn still_in_a_boot(boots: &Boots) -> Option<String> {
    boots.is_in_a_boot().then(|| {
        "the machine is still in a boot of an experiment: a reboot makes it as it boots by itself"
            .to_owned()
    })
}

/// What [`put_back`] would do, without doing it and without waiting.
///
/// # Errors
/// When an experiment runs, or the journal is of no use.
pub fn plan_put_back(
    root: &Root,
    state: &StateDirectory,
    options: &Options,
) -> Result<Restoration, BeginError> {
    let _lock = lock(root, Duration::ZERO)?;
    let files = RootedFiles::new(root.clone(), state.clone());
    let options = restore::Options {
        overwrite_others: options.overwrite_others,
        refused: options.refused,
    };
    let mut restoration = match Journal::load(&files)? {
        None => Restoration::default(),
        Some(journal) => match void(root, &journal) {
            Some(void) => Restoration {
                put_back: vec![void],
                ..Restoration::default()
            },
            None => restore::plan_restore(&files, &journal, options),
        },
    };
    let boots = boots(root, state, options.refused);
    let commands = boots.traces().into_iter().map(|trace| trace.command);
    restoration.put_back.extend(commands);
    restoration.left_alone.extend(still_in_a_boot(&boots));
    Ok(restoration)
}

/// Takes the machine, or tells who has it.
///
/// # Errors
/// When another experiment has it, or it cannot be locked.
pub fn lock(root: &Root, patience: Duration) -> Result<MachineLock, BeginError> {
    match take(root, patience) {
        Ok(Taking::Taken(lock)) => Ok(lock),
        Ok(Taking::Busy(holder)) => Err(BeginError::Busy(holder)),
        Err(source) => Err(BeginError::Lock {
            path: root.path().to_owned(),
            source,
        }),
    }
}

/// Ends what is left of the runs of an experiment that has ended, so that nothing of an old run
/// lives into the next, nor runs while the machine is put back. A sentence where there was any.
pub fn end_left_over_processes(experiment: &ExperimentId) -> Option<String> {
    let ended = processes::end_marked(MARK, experiment.as_str(), GRACE);
    let names = |processes: &[Process]| {
        processes
            .iter()
            .map(|process| format!("{} ({})", process.name, process.pid))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match (ended.ended.as_slice(), ended.remaining.as_slice()) {
        ([], []) => None,
        (gone, []) => Some(format!(
            "ended what experiment {experiment} left running: {}",
            names(gone)
        )),
        (_, remaining) => Some(format!(
            "experiment {experiment} left processes running that could not be ended: {}",
            names(remaining)
        )),
    }
}

/// Puts back what the journal names, given the lock.
///
/// # Errors
/// When the journal is of no use.
pub fn put_back_leftovers(
    root: &Root,
    files: &RootedFiles,
    options: restore::Options,
) -> Result<Restoration, JournalError> {
    // What was left alone earlier comes first. One that cannot be read is no reason not to put
    // back; it stays where it is.
    let mut left_alone = untold::read(files).unwrap_or_default();
    let mut restoration = put_back_journal(root, files, options)?;
    restoration
        .left_alone
        .retain(|sentence| !left_alone.contains(sentence));
    left_alone.append(&mut restoration.left_alone);
    restoration.left_alone = left_alone;
    Ok(restoration)
}

fn put_back_journal(
    root: &Root,
    files: &RootedFiles,
    options: restore::Options,
) -> Result<Restoration, JournalError> {
    let Some(mut journal) = Journal::load(files)? else {
        return Ok(Restoration::default());
    };
    if let Some(void) = void(root, &journal) {
        journal.clear(files)?;
        return Ok(Restoration {
            put_back: vec![void],
            ..Restoration::default()
        });
    }
    let ended = end_left_over_processes(&journal.header().experiment);
    let mut restoration = restore::restore(files, &mut journal, options)?;
    restoration.put_back.splice(0..0, ended);
    Ok(restoration)
}

/// What [`put_back`] told of values that were left alone was heard: it is not told again.
///
/// # Errors
/// When it cannot be forgotten: then the next who comes is told once more.
pub fn heard(root: &Root, state: &StateDirectory) -> io::Result<()> {
    untold::forget(&RootedFiles::new(root.clone(), state.clone()))
}

/// A word about a journal of an earlier boot.
fn void(root: &Root, journal: &Journal) -> Option<String> {
    let header = journal.header();
    (header.boot != boot_id(root)).then(|| {
        format!(
            "the journal of experiment {} is of an earlier boot: the reboot put its settings back, \
             and it is cleared",
            header.experiment
        )
    })
}
