//! A process held by descriptor: whether it has ended, and signals that cannot reach another
//! process to which its number was given since.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

/// A process, held by a descriptor that becomes readable when it has ended. Closed on exec.
#[derive(Debug)]
pub struct PidFd(OwnedFd);

impl PidFd {
    /// Holds the process that has this number now.
    ///
    /// # Errors
    /// ESRCH when there is none; ENOSYS before Linux 5.3.
    pub fn open(pid: u32) -> io::Result<Self> {
        let pid = i32::try_from(pid)
            .ok()
            .and_then(Pid::from_raw)
            .ok_or(Errno::SRCH)?;
        Ok(Self(rustix::process::pidfd_open(pid, PidfdFlags::empty())?))
    }

    /// Holds the calling process, to be handed to one that waits for our end.
    ///
    /// # Errors
    /// ENOSYS before Linux 5.3.
    pub fn of_self() -> io::Result<Self> {
        Self::open(std::process::id())
    }

    /// A descriptor that was inherited.
    pub fn from_inherited(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }

    /// Whether the process has ended (it may still wait to be reaped).
    ///
    /// # Errors
    /// When the descriptor cannot be polled.
    pub fn has_ended(&self) -> io::Result<bool> {
        wait_any_ended(std::slice::from_ref(self), Some(Duration::ZERO))
    }

    /// Waits until the process has ended, without any wake-up before; tells whether it has.
    ///
    /// # Errors
    /// When the descriptor cannot be polled.
    pub fn wait_ended(&self, timeout: Option<Duration>) -> io::Result<bool> {
        wait_any_ended(std::slice::from_ref(self), timeout)
    }

    /// Asks the process to end (SIGTERM). That it has ended already is no error.
    ///
    /// # Errors
    /// EPERM when it is somebody else's.
    pub fn terminate(&self) -> io::Result<()> {
        self.send(Signal::TERM)
    }

    /// Ends the process (SIGKILL). That it has ended already is no error.
    ///
    /// # Errors
    /// EPERM when it is somebody else's.
    pub fn kill(&self) -> io::Result<()> {
        self.send(Signal::KILL)
    }

    fn send(&self, signal: Signal) -> io::Result<()> {
        match rustix::process::pidfd_send_signal(&self.0, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for PidFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<PidFd> for OwnedFd {
    fn from(process: PidFd) -> Self {
        process.0
    }
}

/// Waits until one of the processes has ended; tells whether one has. None at all is `false`.
///
/// # Errors
/// When the descriptors cannot be polled.
pub fn wait_any_ended(processes: &[PidFd], timeout: Option<Duration>) -> io::Result<bool> {
    if processes.is_empty() {
        return Ok(false);
    }
    let deadline = timeout.map(|timeout| Instant::now() + timeout);
    let mut polled: Vec<PollFd<'_>> = processes
        .iter()
        .map(|process| PollFd::new(process, PollFlags::IN))
        .collect();
    loop {
        let left = deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(Instant::now());
            Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            }
        });
        match rustix::event::poll(&mut polled, left.as_ref()) {
            Ok(count) => return Ok(count > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn the_end_of_a_process_is_seen() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let held = PidFd::open(child.id()).unwrap();
        assert!(!held.has_ended().unwrap());
        drop(child.stdin.take());
        assert!(held.wait_ended(None).unwrap());
        child.wait().unwrap();
        // Reaped: its number may be another's, the descriptor is not.
        assert!(held.has_ended().unwrap());
        held.kill().unwrap();
    }

    #[test]
    fn we_have_not_ended() {
        assert!(!PidFd::of_self().unwrap().has_ended().unwrap());
        assert!(PidFd::open(u32::MAX).is_err());
        assert!(PidFd::open(0).is_err());
    }
}
