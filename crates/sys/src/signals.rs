//! Signals as something to wait for, and the few process attributes that go with them.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::process::{Pid, Signal};

pub use libc::{SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGTERM};

/// Sees to the two signals without which our own calls do not do what they say, whatever the
/// process was started with. To be called before anything else.
///
/// Who ignores SIGCHLD is not told how a child ended (wait(2)), and that is inherited from
/// whatever started us. Who does not ignore SIGXFSZ is ended by it where a file may not grow,
/// with settings turned or not; ignored, it is an error of the write. The programs of runs have it
/// set back, as SIGPIPE.
pub fn take_charge() {
    // SAFETY: neither action runs code of ours. The calls fail for numbers alone that are no
    // signals, and these are.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Signals that are blocked and read from a descriptor instead of interrupting. Closed on exec.
#[derive(Debug)]
pub struct SignalFd(OwnedFd);

impl SignalFd {
    /// Blocks these signals for the calling thread, and makes the descriptor that becomes
    /// readable when one is pending. To be called before any thread is started: threads started
    /// earlier still take them.
    ///
    /// # Errors
    /// As signalfd(2) says.
    pub fn block(signals: &[libc::c_int]) -> io::Result<Self> {
        let set = set_of(signals);
        // SAFETY: `set` is initialised; a null old set is allowed.
        let error =
            unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        // SAFETY: -1 asks for a new descriptor; `set` is initialised.
        let descriptor = unsafe { libc::signalfd(-1, &raw const set, flags) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just made and nobody else has it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor) }))
    }

    /// Takes one pending signal, its number; `None` when none is pending.
    ///
    /// # Errors
    /// As read(2) says.
    pub fn take(&self) -> io::Result<Option<libc::c_int>> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::uninit();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: `info` has room for `size` bytes.
        let length = unsafe { libc::read(self.0.as_raw_fd(), info.as_mut_ptr().cast(), size) };
        if usize::try_from(length) == Ok(size) {
            // SAFETY: the kernel has filled the whole of it.
            let info = unsafe { info.assume_init() };
            return Ok(libc::c_int::try_from(info.ssi_signo).ok());
        }
        let error = io::Error::last_os_error();
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
            _ => Err(error),
        }
    }
}

impl AsFd for SignalFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn set_of(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set; sigaddset refuses numbers that are no signals.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), *signal);
        }
        set.assume_init()
    }
}

/// Whether a signal is ignored by this process, as a shell has it for `command &`.
pub fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: a null new action changes nothing; the old one is written when the call succeeds.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Ignores a signal from here on. Programs started later inherit that.
///
/// # Errors
/// EINVAL for what is no signal, SIGKILL and SIGSTOP.
pub fn ignore(signal: libc::c_int) -> io::Result<()> {
    // SAFETY: SIG_IGN runs no code of ours.
    if unsafe { libc::signal(signal, libc::SIG_IGN) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Makes orphaned descendants children of this process, so that none is out of sight.
///
/// # Errors
/// As prctl(2) says.
pub fn become_subreaper() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(
        rustix::process::Pid::from_raw(1),
    )?)
}

/// Whether orphaned descendants become children of this process.
pub fn is_subreaper() -> bool {
    rustix::process::child_subreaper().is_ok_and(|state| state.is_some())
}

/// Makes the calling process the leader of a session of its own, away from any terminal.
///
/// # Errors
/// EPERM when it leads a process group already.
pub fn new_session() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}

/// Sends a signal to a whole process group. That none of it is left is no error.
///
/// # Errors
/// EPERM when all of them are somebody else's; EINVAL for numbers that name no group or signal.
pub fn signal_group(group: u32, signal: libc::c_int) -> io::Result<()> {
    let group = i32::try_from(group).ok().and_then(Pid::from_raw);
    let signal = Signal::from_named_raw(signal);
    let (Some(group), Some(signal)) = (group, signal) else {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    };
    match rustix::process::kill_process_group(group, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_signal_is_read_and_not_suffered() {
        let signals = SignalFd::block(&[libc::SIGUSR1]).unwrap();
        assert_eq!(signals.take().unwrap(), None);
        // SAFETY: sends a signal that is blocked to this very thread.
        unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGUSR1) };
        assert_eq!(signals.take().unwrap(), Some(libc::SIGUSR1));
        assert_eq!(signals.take().unwrap(), None);
    }

    #[test]
    fn what_is_ignored_is_known() {
        // SIGURG is ignored by default without being set so, and used by nothing else here.
        assert!(!is_ignored(libc::SIGURG));
        ignore(libc::SIGURG).unwrap();
        assert!(is_ignored(libc::SIGURG));
        assert!(ignore(libc::SIGKILL).is_err());
        // Rust's runtime ignores it, which is why children have it set back.
        assert!(is_ignored(libc::SIGPIPE));
    }

    #[test]
    fn a_group_that_is_gone_is_no_error_and_none_at_all_is() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        signal_group(child.id(), libc::SIGTERM).unwrap();
        assert!(signal_group(0, libc::SIGTERM).is_err());
        assert!(signal_group(u32::MAX, libc::SIGTERM).is_err());
    }
}
