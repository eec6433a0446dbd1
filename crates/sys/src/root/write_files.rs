//! Files beneath a root that are made, replaced and removed: what a boot loader and a service
//! manager read at the next boot. Each is on the disk before the call returns.
//!
//! A name is made in the directory that its path resolves to beneath the root; a link in the
//! name's own place is never followed, except where a file is written in place.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Gid, IFlags, Mode, OFlags, Uid};
use rustix::io::Errno;

use super::{Root, write_once};

impl Root {
    /// Makes a file of this mode, or replaces one whole, whose owner and mode stay: written beside,
    /// synced and renamed.
    ///
    /// # Errors
    /// As the kernel says; the old file is then as it was.
    pub fn replace_file(&self, absolute: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
        let (directory, name) = self.open_parent(absolute)?;
        let beside = beside(name);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&directory, &beside, flags, Mode::from_raw_mode(mode))?;
        let written = keep_owner_and_mode(&directory, name, &file)
            .and_then(|()| write_once(&file, bytes))
            .and_then(|()| Ok(rustix::fs::fsync(&file)?))
            .and_then(|()| Ok(rustix::fs::renameat(&directory, &beside, &directory, name)?));
        if let Err(error) = written {
            // The first error is the one to tell.
            let _ = rustix::fs::unlinkat(&directory, &beside, AtFlags::empty());
            return Err(error);
        }
        sync_directory(&directory)
    }

    /// Makes a file that must not exist, with one write, as the firmware's variables want it.
    ///
    /// # Errors
    /// EEXIST where it exists, and as the kernel says.
    pub fn create_file(&self, absolute: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
        let (directory, name) = self.open_parent(absolute)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&directory, name, flags, Mode::from_raw_mode(mode))?;
        write_once(&file, bytes)?;
        synced(rustix::fs::fsync(&file))?;
        sync_directory(&directory)
    }

    /// Writes a file anew in its own place on the disk, without making it shorter or longer: a
    /// boot loader has its blocks by number.
    ///
    /// # Errors
    /// When the file has another length than `bytes`, and as the kernel says.
    pub fn overwrite_file(&self, absolute: &str, bytes: &[u8]) -> io::Result<()> {
        let file = self.open_file(absolute, OFlags::WRONLY | OFlags::NOCTTY)?;
        let length = rustix::fs::fstat(&file)?.st_size;
        if u64::try_from(length).ok() != u64::try_from(bytes.len()).ok() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("it is {length} bytes long and not {}", bytes.len()),
            ));
        }
        write_once(&file, bytes)?;
        Ok(rustix::fs::fsync(&file)?)
    }

    /// Removes a file or a link, and what a replacement of it that was cut short left beside it.
    /// Says whether there was one.
    ///
    /// # Errors
    /// As the kernel says.
    pub fn remove_file(&self, absolute: &str) -> io::Result<bool> {
        self.remove_unfinished(absolute)?;
        self.unlink(absolute)
    }

    /// Removes what a replacement of a file that was cut short left beside it. The file stays.
    ///
    /// # Errors
    /// As the kernel says.
    pub fn remove_unfinished(&self, absolute: &str) -> io::Result<()> {
        self.unlink(&beside(absolute)).map(drop)
    }

    fn unlink(&self, absolute: &str) -> io::Result<bool> {
        let (directory, name) = match self.open_parent(absolute) {
            Ok(parent) => parent,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        match rustix::fs::unlinkat(&directory, name, AtFlags::empty()) {
            Ok(()) => sync_directory(&directory).map(|()| true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes away the mark that a file must not be changed (chattr(1), +i), which the kernel gives
    /// to variables of the firmware.
    ///
    /// # Errors
    /// As the kernel says.
    pub fn make_mutable(&self, absolute: &str) -> io::Result<()> {
        let file = self.open_file(absolute, OFlags::RDONLY | OFlags::NONBLOCK)?;
        let flags = rustix::fs::ioctl_getflags(&file)?;
        Ok(rustix::fs::ioctl_setflags(
            &file,
            flags.difference(IFlags::IMMUTABLE),
        )?)
    }

    /// Makes a link of these words; one that is there already stays.
    ///
    /// # Errors
    /// As the kernel says.
    pub fn create_link(&self, target: &str, absolute: &str) -> io::Result<()> {
        let (directory, name) = self.open_parent(absolute)?;
        match rustix::fs::symlinkat(target, &directory, name) {
            Ok(()) | Err(Errno::EXIST) => sync_directory(&directory),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a directory in one that exists. Says whether it had to be made.
    ///
    /// # Errors
    /// As the kernel says.
    pub fn create_directory(&self, absolute: &str) -> io::Result<bool> {
        let (directory, name) = self.open_parent(absolute)?;
        match rustix::fs::mkdirat(&directory, name, Mode::from_raw_mode(0o755)) {
            Ok(()) => sync_directory(&directory).map(|()| true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// ENOTEMPTY where it is none, and as the kernel says.
    pub fn remove_directory(&self, absolute: &str) -> io::Result<()> {
        let (directory, name) = self.open_parent(absolute)?;
        rustix::fs::unlinkat(&directory, name, AtFlags::REMOVEDIR)?;
        sync_directory(&directory)
    }

    /// The directory that a path's last name is in, and that name.
    fn open_parent<'p>(&self, absolute: &'p str) -> io::Result<(OwnedFd, &'p str)> {
        let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "the path names no file");
        let (parent, name) = absolute.rsplit_once('/').ok_or_else(invalid)?;
        if name.is_empty() || name == "." || name == ".." {
            return Err(invalid());
        }
        let directory = self.open_file(parent, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok((directory, name))
    }
}

/// Where the new content of a file is written before it takes the file's place.
fn beside(name: &str) -> String {
    format!("{name}.knobstat")
}

/// Gives a file that is to replace another, where there is one, the owner and mode of that.
fn keep_owner_and_mode(directory: &OwnedFd, name: &str, new: &OwnedFd) -> io::Result<()> {
    let old = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(old) if FileType::from_raw_mode(old.st_mode) == FileType::RegularFile => old,
        Ok(_) | Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let made = rustix::fs::fstat(new)?;
    if (made.st_uid, made.st_gid) != (old.st_uid, old.st_gid) {
        let (user, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        rustix::fs::fchown(new, Some(user), Some(group))?;
    }
    if made.st_mode != old.st_mode {
        rustix::fs::fchmod(new, Mode::from_raw_mode(old.st_mode))?;
    }
    Ok(())
}

fn sync_directory(directory: &OwnedFd) -> io::Result<()> {
    synced(rustix::fs::fsync(directory))
}

/// Some file systems (the firmware's variables, FAT of old kernels) cannot sync and say so.
fn synced(result: Result<(), Errno>) -> io::Result<()> {
    match result {
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> (tempfile::TempDir, Root) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("etc")).unwrap();
        let root = Root::laid_out(directory.path()).unwrap();
        (directory, root)
    }

    #[test]
    fn a_file_is_made_replaced_and_removed() {
        let (_directory, root) = tree();
        root.replace_file("/etc/file", b"one", 0o644).unwrap();
        root.replace_file("/etc/file", b"two", 0o644).unwrap();
        assert_eq!(root.read("/etc/file").unwrap(), "two");
        assert_eq!(root.list("/etc").unwrap(), ["file"]);
        let again = root.create_file("/etc/file", b"three", 0o644).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert!(root.remove_file("/etc/file").unwrap());
        assert!(!root.remove_file("/etc/file").unwrap());
        assert!(!root.remove_file("/no/such/directory").unwrap());
    }

    #[test]
    fn a_file_that_is_replaced_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt;

        let (directory, root) = tree();
        let path = directory.path().join("etc/secret");
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        root.replace_file("/etc/secret", b"one", 0o600).unwrap();
        assert_eq!(mode(&path), 0o600);
        root.replace_file("/etc/secret", b"two", 0o644).unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn what_a_replacement_that_was_cut_short_left_goes_with_the_file() {
        let (directory, root) = tree();
        let left = directory.path().join("etc/file.knobstat");
        for there in [false, true] {
            std::fs::write(&left, "half").unwrap();
            if there {
                root.create_file("/etc/file", b"whole", 0o644).unwrap();
            }
            assert_eq!(root.remove_file("/etc/file").unwrap(), there);
            assert_eq!(root.list("/etc").unwrap(), Vec::<String>::new());
        }
    }

    #[test]
    fn a_file_written_in_place_keeps_its_length() {
        let (_directory, root) = tree();
        root.create_file("/etc/block", b"####", 0o644).unwrap();
        root.overwrite_file("/etc/block", b"a=1#").unwrap();
        assert_eq!(root.read("/etc/block").unwrap(), "a=1#");
        assert!(root.overwrite_file("/etc/block", b"short").is_err());
        assert!(root.overwrite_file("/etc/none", b"a").is_err());
        assert_eq!(root.read("/etc/block").unwrap(), "a=1#");
    }

    #[test]
    fn a_link_out_of_the_tree_leads_into_it() {
        let (directory, root) = tree();
        std::os::unix::fs::symlink("/etc", directory.path().join("link")).unwrap();
        root.replace_file("/link/file", b"here", 0o644).unwrap();
        assert_eq!(root.read("/etc/file").unwrap(), "here");
        root.create_link("../file", "/etc/to").unwrap();
        root.create_link("../file", "/etc/to").unwrap();
        assert!(root.create_directory("/etc/made").unwrap());
        assert!(!root.create_directory("/etc/made").unwrap());
        root.remove_directory("/etc/made").unwrap();
        assert!(root.remove_directory("/etc").is_err());
        assert!(root.replace_file("/etc/..", b"", 0o644).is_err());
    }
}
