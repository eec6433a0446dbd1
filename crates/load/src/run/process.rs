//! Sleeping until a process ends, and ending it when it must.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use knobstat_sys::poll::{self, MOST_DESCRIPTORS};
use knobstat_sys::signals::{SIGCONT, SIGKILL, SIGTERM, signal_group};
use knobstat_sys::spawn::{Child, Status};

/// How long a step that runs after an interruption may take.
pub const STEP_LIMIT_AFTER_INTERRUPT: Duration = Duration::from_secs(10);

/// How long a process group may take to end by itself once it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// How long a killed process may take to vanish.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StepEnd {
    Done,
    Interrupted,
    /// Why, in words.
    Failed(String),
}

/// Why the wait for a process was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// It has ended.
    Ended,
    /// It still ran at its timeout.
    TimedOut,
    /// An interruption came first.
    Interrupted,
}

/// Sleeps in one system call until a process ends, an interruption comes or the time is over.
/// An end that comes together with an interruption is an end: the run is complete.
pub(super) fn sleep_until_end(
    child: &Child,
    interrupts: &[BorrowedFd<'_>],
    timeout: Option<Duration>,
) -> io::Result<Woken> {
    let mut descriptors = [child.as_fd(); MOST_DESCRIPTORS];
    let used = descriptors
        .get_mut(1..=interrupts.len())
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    used.copy_from_slice(interrupts);
    let ready = poll::wait(&descriptors[..=interrupts.len()], timeout)?;
    Ok(if ready.has(0) {
        Woken::Ended
    } else if ready.timed_out() {
        Woken::TimedOut
    } else {
        Woken::Interrupted
    })
}

/// Ends a process and its whole group: asked first, killed after a grace. Tells whether it has
/// ended; one that another user owns may not have.
pub(super) fn end_group(child: &Child) -> bool {
    let ended = |wait| poll::wait(&[child.as_fd()], Some(wait)).is_ok_and(|ready| ready.has(0));
    // A group that cannot be signalled at all shows in that it does not end.
    let _ = signal_group(child.pid(), SIGTERM);
    // One that is stopped takes the signal only when it goes on.
    let _ = signal_group(child.pid(), SIGCONT);
    if ended(GRACE) {
        return true;
    }
    let _ = signal_group(child.pid(), SIGKILL);
    ended(LAST_WAIT)
}

/// The signal that a process gets when the harness ends.
pub(super) const SIGNAL_OF_PARENTS_DEATH: i32 = SIGKILL;

/// How a process ended, in words that follow "it".
pub(super) fn in_words(status: Status) -> String {
    match status {
        Status::Code(code) => format!("ended with exit code {code}"),
        Status::Signal {
            signal,
            core_dumped,
        } => {
            let core = if core_dumped { " and dumped core" } else { "" };
            format!("was ended by signal {signal}{core}")
        }
    }
}
