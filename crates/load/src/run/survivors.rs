//! What a run leaves running: found, ended and named.
//!
//! The harness is a subreaper, so that whatever a process started becomes the harness's child
//! when its parent ends, in whatever session or group it has hidden.

use std::fs;
use std::io;
use std::time::Duration;

use knobstat_sys::clock::{Clock, now};
use knobstat_sys::pidfd::{PidFd, wait_any_ended};
use knobstat_sys::spawn::{children, reap};

/// How long they may take to end by themselves once they were asked to.
const GRACE: Duration = Duration::from_secs(2);

/// How long a killed one may take to vanish.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Each pass ends one more generation; none has as many.
const MOST_PASSES: usize = 64;

/// The children that were there before: whatever comes later is left over from what was run.
#[derive(Clone, Debug)]
pub(super) struct Household(Vec<u32>);

impl Household {
    /// The children of now.
    ///
    /// # Errors
    /// When /proc cannot be read.
    pub(super) fn now() -> io::Result<Self> {
        children().map(Self)
    }

    /// Ends all that came later, and whatever they have started; says in sentences what that
    /// was. Nothing is said of those that had ended by themselves.
    pub(super) fn end_newcomers(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for pass in 0..MOST_PASSES {
            let left = self.newcomers();
            if left.is_empty() {
                return notes;
            }
            let last_chance = pass > 0;
            for survivor in &left {
                if !last_chance {
                    notes.push(format!(
                        "{} (process {}) was left running, and was ended",
                        survivor.name, survivor.pid
                    ));
                }
                // Fails for another user's, which are named below.
                let _ = if last_chance {
                    survivor.held.kill()
                } else {
                    survivor.held.terminate()
                };
            }
            let wait = if last_chance { LAST_WAIT } else { GRACE };
            if !wait_for_all(left, wait) && last_chance {
                break;
            }
        }
        for survivor in self.newcomers() {
            notes.push(format!(
                "{} (process {}) is still running and could not be ended",
                survivor.name, survivor.pid
            ));
        }
        notes
    }

    /// Those that came later and still run; those that have ended are reaped.
    fn newcomers(&self) -> Vec<Survivor> {
        children()
            .unwrap_or_default()
            .into_iter()
            .filter(|pid| !self.0.contains(pid))
            .filter_map(|pid| match reap(pid) {
                Ok(None) => Survivor::of(pid),
                Ok(Some(_)) | Err(_) => None,
            })
            .collect()
    }
}

struct Survivor {
    pid: u32,
    name: String,
    held: PidFd,
}

impl Survivor {
    /// The number is our unreaped child's, so it is nobody else's.
    fn of(pid: u32) -> Option<Self> {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        Some(Self {
            pid,
            name: name.trim().to_owned(),
            held: PidFd::open(pid).ok()?,
        })
    }
}

/// Whether all have ended in time.
fn wait_for_all(survivors: Vec<Survivor>, wait: Duration) -> bool {
    let deadline = now(Clock::Monotonic) + wait;
    let mut held: Vec<PidFd> = survivors
        .into_iter()
        .map(|survivor| survivor.held)
        .collect();
    loop {
        held.retain(|process| !process.has_ended().unwrap_or(true));
        let left = deadline.saturating_sub(now(Clock::Monotonic));
        if held.is_empty() {
            return true;
        }
        if left.is_zero() || !wait_any_ended(&held, Some(left)).unwrap_or(false) {
            return false;
        }
    }
}
