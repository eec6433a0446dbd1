//! One experiment at a time: a flock on the directory that stands for `/`.
//!
//! It locks the machine and a laid-out tree alike, leaves no file, and ends with the last
//! descriptor that holds it, so a harness killed in any way leaves no stale lock. A descriptor
//! inherited by another process holds the same lock.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::root::Root;

/// The machine, taken. Given back when the last descriptor of it is closed.
#[derive(Debug)]
pub struct MachineLock(OwnedFd);

/// What came of trying to take the machine.
#[derive(Debug)]
pub enum TryLock {
    /// It is taken.
    Taken(MachineLock),
    /// Somebody else has it.
    Held {
        /// The process that took it, where the kernel tells: it may have ended since, and left
        /// the lock to a process that inherited the descriptor.
        taken_by: Option<u32>,
    },
}

impl MachineLock {
    /// Takes the machine, if nobody has it.
    ///
    /// # Errors
    /// When the root's directory cannot be opened or its file system knows no locks.
    pub fn try_take(root: &Root) -> io::Result<TryLock> {
        // A description of its own: a lock belongs to the open file description.
        let directory = rustix::fs::open(
            root.path(),
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        match rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(TryLock::Taken(Self(directory))),
            Err(Errno::WOULDBLOCK) => {
                let taken_by = std::fs::read_to_string("/proc/locks")
                    .ok()
                    .zip(file_identity(&directory))
                    .and_then(|(locks, identity)| taker(&locks, &identity));
                Ok(TryLock::Held { taken_by })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A lock that was inherited as a descriptor.
    ///
    /// # Errors
    /// When the descriptor does not hold the lock of what it is open on.
    pub fn from_inherited(descriptor: OwnedFd) -> io::Result<Self> {
        // Taking a lock that the same open file description has changes nothing.
        rustix::fs::flock(&descriptor, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self(descriptor))
    }

    /// Another descriptor of the same lock, to be handed to another process.
    ///
    /// # Errors
    /// When no descriptor is left.
    pub fn try_clone(&self) -> io::Result<OwnedFd> {
        self.0.try_clone()
    }
}

impl AsFd for MachineLock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The open file as /proc/locks names it: `MAJOR:MINOR:INODE`, the device in hexadecimal digits.
///
/// stat(2) is not asked, because layered file systems (overlayfs, btrfs) show another device
/// there than the lock table does; the mount's own entry in mountinfo agrees with the table.
fn file_identity(file: &OwnedFd) -> Option<String> {
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    let field = |name: &str| {
        info.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .map(str::trim)
    };
    let mount = field("mnt_id")?;
    let inode = match field("ino") {
        Some(inode) => inode.to_owned(),
        // Kernels before 5.14.
        None => rustix::fs::fstat(file).ok()?.st_ino.to_string(),
    };
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let device = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        (fields.next()? == mount).then(|| fields.nth(1))?
    })?;
    let (major, minor) = device.split_once(':')?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    Some(format!("{major:02x}:{minor:02x}:{inode}"))
}

/// The process that took a flock on a file, from the text of /proc/locks.
///
/// A line is `1: FLOCK  ADVISORY  WRITE 359 00:13:11691 0 EOF`; waiting ones have an arrow.
fn taker(locks: &str, identity: &str) -> Option<u32> {
    locks.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields.as_slice() {
            [_, "FLOCK", _, _, pid, file, ..] if *file == identity => {
                pid.parse().ok().filter(|pid| *pid > 0)
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_taken_once_and_its_taker_is_known() {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::laid_out(directory.path()).unwrap();
        let TryLock::Taken(lock) = MachineLock::try_take(&root).unwrap() else {
            panic!("a fresh directory was locked");
        };
        let TryLock::Held { taken_by } = MachineLock::try_take(&root).unwrap() else {
            panic!("the machine was taken twice");
        };
        assert_eq!(taken_by, Some(std::process::id()));

        // The inherited descriptor alone keeps the lock.
        let inherited = lock.try_clone().unwrap();
        drop(lock);
        let inherited = MachineLock::from_inherited(inherited).unwrap();
        assert!(matches!(
            MachineLock::try_take(&root).unwrap(),
            TryLock::Held { .. }
        ));
        let stranger = std::fs::File::open(directory.path()).unwrap();
        assert!(MachineLock::from_inherited(stranger.into()).is_err());
        drop(inherited);
        // What another test starts at this moment has the descriptor too, until it executes.
        let given_up = std::time::Instant::now();
        while !matches!(MachineLock::try_take(&root).unwrap(), TryLock::Taken(_)) {
            assert!(given_up.elapsed().as_secs() < 60, "it stays taken");
            std::thread::yield_now();
        }
    }

    #[test]
    fn the_lock_table_is_read_by_file() {
        let table = "1: POSIX  ADVISORY  WRITE 10 00:13:7 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 359 00:13:7 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 360 00:13:7 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 0 00:13:8 0 EOF\n";
        assert_eq!(taker(table, "00:13:7"), Some(359));
        assert_eq!(taker(table, "00:13:8"), None);
        assert_eq!(taker(table, "00:13:9"), None);
        assert_eq!(taker("garbage\n\n", "00:13:9"), None);
    }
}
