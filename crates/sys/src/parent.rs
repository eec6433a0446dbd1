//! Ending with one's parent: a process that must not be left behind.

use std::io;

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

/// Asks the kernel to kill this process when its parent ends, however it ends. Stays in force
/// over an exec.
///
/// # Errors
/// As prctl(2) says; and when the parent has ended already, which is told by it not being the
/// one expected any more.
pub fn end_with_parent(parent: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let expected = i32::try_from(parent).ok().and_then(Pid::from_raw);
    if getppid() == expected {
        Ok(())
    } else {
        Err(io::Error::other(
            "the process that started this one has ended",
        ))
    }
}
