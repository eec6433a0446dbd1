//! Taking the machine: one experiment at a time, and one that ended badly is waited for while its
//! guardian puts the machine back.

use std::io;
use std::time::{Duration, Instant};

use knobstat_data::ExperimentId;
use knobstat_sys::lock::{MachineLock, TryLock};
use knobstat_sys::pidfd::PidFd;
use knobstat_sys::processes;
use knobstat_sys::root::Root;

use crate::guardian::{self, Arguments};

/// What came of trying to take the machine.
#[derive(Debug)]
pub enum Taking {
    /// It is ours.
    Taken(MachineLock),
    /// Another experiment has it.
    Busy(Holder),
}

/// Who has the machine, as far as it shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// The experiment.
    pub experiment: Option<ExperimentId>,
    /// The process: the agent, or whatever took the lock.
    pub pid: Option<u32>,
    /// Whether its agent has ended and its guardian still puts the machine back.
    pub putting_back: bool,
}

/// A guardian that runs.
#[derive(Debug)]
struct Running {
    pid: u32,
    arguments: Arguments,
}

/// Takes the machine. Where the experiment that has it has ended and only its guardian is left,
/// that is waited for, at most this long; where the experiment goes on, not at all.
///
/// # Errors
/// When the root cannot be locked.
pub fn take(root: &Root, patience: Duration) -> io::Result<Taking> {
    let deadline = Instant::now() + patience;
    let mut looked_twice = false;
    loop {
        let taken_by = match MachineLock::try_take(root)? {
            TryLock::Taken(lock) => return Ok(Taking::Taken(lock)),
            TryLock::Held { taken_by } => taken_by,
        };
        let Some(guardian) = guardian_of(root) else {
            // It may have ended between the two looks.
            if looked_twice {
                return Ok(Taking::Busy(Holder {
                    pid: taken_by,
                    ..Holder::default()
                }));
            }
            looked_twice = true;
            continue;
        };
        let arguments = guardian.arguments;
        let busy = |putting_back| {
            Ok(Taking::Busy(Holder {
                experiment: Some(arguments.experiment.clone()),
                pid: Some(arguments.agent),
                putting_back,
            }))
        };
        if processes::start_time(arguments.agent) == Some(arguments.agent_started) {
            return busy(false);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let ended = match PidFd::open(guardian.pid) {
            Ok(held) => held.wait_ended(Some(left))?,
            // Gone since it was found.
            Err(_) => true,
        };
        if !ended {
            return busy(true);
        }
    }
}

fn guardian_of(root: &Root) -> Option<Running> {
    processes::all().into_iter().find_map(|process| {
        let words = processes::command_line(process.pid)?;
        let [_, command, rest @ ..] = words.as_slice() else {
            return None;
        };
        if command != guardian::COMMAND {
            return None;
        }
        let arguments = Arguments::parse(rest).ok()?;
        (arguments.root == root.path()).then_some(Running {
            pid: process.pid,
            arguments,
        })
    })
}
