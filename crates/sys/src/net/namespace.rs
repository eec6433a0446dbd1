//! Network namespaces without a name: held by a descriptor, gone with the last one.
//!
//! Whoever lacks the right to make one can have it in a user namespace of its own, where the
//! kernel allows that.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

/// A network namespace.
#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// The one of the calling thread.
    ///
    /// # Errors
    /// Where /proc is not there.
    pub fn current() -> io::Result<Self> {
        File::open("/proc/thread-self/ns/net").map(Self)
    }

    /// A new one, with nothing in it but its own loopback interface, which is down.
    ///
    /// # Errors
    /// EPERM without CAP_SYS_ADMIN; ENOSPC at a limit of the machine's.
    pub fn create() -> io::Result<Self> {
        on_a_thread(|| {
            unshare(UnshareFlags::NEWNET)?;
            Self::current()
        })
    }

    /// Moves the calling thread into it, for good.
    ///
    /// # Errors
    /// EPERM without CAP_SYS_ADMIN over it.
    pub fn enter(&self) -> io::Result<()> {
        Ok(move_into_link_name_space(
            self.0.as_fd(),
            Some(LinkNameSpaceType::Network),
        )?)
    }

    /// Does something within it, on a thread of its own: what is opened there stays there.
    ///
    /// # Errors
    /// When the namespace cannot be entered, or what is done fails.
    pub fn within<T: Send>(&self, what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        on_a_thread(|| {
            self.enter()?;
            what()
        })
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn on_a_thread<T: Send>(what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .spawn_scoped(scope, what)?
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("a thread in a namespace panicked")))
    })
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: no descriptor table is unshared, which is all that could pull one from under others.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Whether this process may make namespaces without a user namespace of its own: it has
/// CAP_SYS_ADMIN. Makes no thread, so that the other way stays open.
pub fn may_create() -> bool {
    std::fs::read_to_string("/proc/thread-self/status")
        .ok()
        .and_then(|text| effective_capabilities(&text))
        .is_some_and(|capabilities| capabilities & (1 << CAP_SYS_ADMIN) != 0)
}

/// Of linux/capability.h.
const CAP_SYS_ADMIN: u32 = 21;

fn effective_capabilities(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

/// Moves this process, which must have one thread, into a user namespace of its own, in which it
/// has every right over namespaces made from there. Its user and group stay as they are.
///
/// # Errors
/// EPERM or ENOSPC where the machine forbids it; EINVAL with more than one thread.
pub fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (
        rustix::process::geteuid().as_raw(),
        rustix::process::getegid().as_raw(),
    );
    unshare(UnshareFlags::NEWUSER)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// What can be asked for in a namespace of one's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// A network namespace at all.
    Namespace,
    /// A packet socket (AF_PACKET) in it.
    PacketSocket,
    /// An AF_XDP socket in it.
    XdpSocket,
}

/// Whether this process could have something in a namespace of its own, found out by trying in a
/// child process that ends at once: nothing of the caller changes.
///
/// # Errors
/// What the kernel said to the child, or why there is no child.
pub fn try_in_a_child(wanted: Capability) -> io::Result<()> {
    // SAFETY: the child only makes system calls and ends without unwinding or running any
    // destructor of the parent's: it allocates nothing and takes no lock.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(io::Error::last_os_error());
    }
    if child == 0 {
        let code = errno_of(wanted);
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    loop {
        // SAFETY: `child` is this process's own child, not yet waited for.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        if waited == child {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    match libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)) {
        Some(0) => Ok(()),
        Some(errno) => Err(io::Error::from_raw_os_error(errno)),
        None => Err(io::Error::other("the child that tried was ended")),
    }
}

/// Zero, or the number of the error. Async-signal-safe.
fn errno_of(wanted: Capability) -> i32 {
    let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(1);
    // SAFETY: system calls on this process alone.
    unsafe {
        if libc::unshare(libc::CLONE_NEWNET) != 0
            && libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) != 0
        {
            return errno();
        }
        let family = match wanted {
            Capability::Namespace => return 0,
            Capability::PacketSocket => libc::AF_PACKET,
            Capability::XdpSocket => libc::AF_XDP,
        };
        if libc::socket(family, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) < 0 {
            return errno();
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_opened_in_a_namespace_stays_in_it() {
        let Ok(namespace) = Namespace::create() else {
            eprintln!("skipped: no network namespace can be made here without a user namespace");
            return;
        };
        let inside = namespace
            .within(|| std::fs::read_link("/proc/thread-self/ns/net"))
            .unwrap();
        let outside = std::fs::read_link("/proc/thread-self/ns/net").unwrap();
        assert_ne!(inside, outside);
    }

    #[test]
    fn capabilities_are_read_from_a_status() {
        let text = "Name:\tx\nCapPrm:\t0\nCapEff:\t0000000000200000\n";
        assert_eq!(effective_capabilities(text), Some(1 << CAP_SYS_ADMIN));
        assert_eq!(effective_capabilities("CapEff:\tnone\n"), None);
        assert_eq!(effective_capabilities(""), None);
    }

    #[test]
    fn trying_changes_nothing_of_the_caller() {
        let link = || std::fs::read_link("/proc/self/ns/net").unwrap();
        let before = link();
        // Whatever the answer is here.
        let _ = try_in_a_child(Capability::Namespace);
        assert_eq!(link(), before);
    }
}
