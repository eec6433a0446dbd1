//! A process that stands by itself: in a session of its own, deaf to the signals of a terminal
//! and of a service manager, and the last to be chosen when memory runs out.

use std::io;

/// The lowest score of proc(5)'s oom_score_adj: never chosen.
const NEVER_CHOSEN: &str = "-1000";

/// Whether the calling process acts as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Makes the calling process a session of its own and ignores SIGINT, SIGQUIT, SIGHUP, SIGTERM
/// and SIGTSTP. That it leads a session already is no error.
///
/// # Errors
/// When the session cannot be made: the process leads a group.
pub fn detach() -> io::Result<()> {
    let me = rustix::process::getpid();
    if rustix::process::getsid(None)? != me {
        rustix::process::setsid()?;
    }
    for signal in [
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGHUP,
        libc::SIGTERM,
        libc::SIGTSTP,
    ] {
        // SAFETY: SIG_IGN runs no code of ours, and the numbers are valid signals.
        if unsafe { libc::signal(signal, libc::SIG_IGN) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Asks that memory running out ends other processes than this one. It needs a privilege, and is
/// worth trying without.
///
/// # Errors
/// EACCES without CAP_SYS_RESOURCE.
pub fn survive_memory_shortage() -> io::Result<()> {
    std::fs::write("/proc/self/oom_score_adj", NEVER_CHOSEN)
}
