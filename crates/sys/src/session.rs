//! A process that stands by itself: in a session of its own, deaf to the signals of a terminal
//! and of a service manager, and the last to be chosen when memory runs out.

use std::io;

use rustix::io::Errno;

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
    match rustix::process::setsid() {
        Ok(_) => {}
        Err(Errno::PERM) if leads_its_session() => {}
        Err(error) => return Err(error.into()),
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

/// Whether the calling process leads its session.
///
/// The number of a session that was begun outside of our PID namespace is 0 in it (getsid(2)
/// translates it), as for a process that was brought into a container from outside; so it is
/// read as a number, and not as that of a process.
fn leads_its_session() -> bool {
    // SAFETY: getsid touches no memory of ours, and 0 is the calling process.
    let session = unsafe { libc::getsid(0) };
    u32::try_from(session) == Ok(std::process::id())
}

/// Asks that memory running out ends other processes than this one. It needs a privilege, and is
/// worth trying without.
///
/// # Errors
/// EACCES without CAP_SYS_RESOURCE.
pub fn survive_memory_shortage() -> io::Result<()> {
    std::fs::write("/proc/self/oom_score_adj", NEVER_CHOSEN)
}
