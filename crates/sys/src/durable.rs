//! Files that survive a power cut: appended or replaced, and on the disk before the call returns.
//!
//! Directories made here are 0700 and files 0600. It knows nothing of what the bytes mean.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A file that only grows, each addition on the disk before the next begins.
#[derive(Debug)]
pub struct AppendFile {
    file: File,
    length: u64,
}

impl AppendFile {
    /// Opens a file for appending; it is made where it does not exist, and so is its name in the
    /// directory. A link in place of the file is refused.
    ///
    /// # Errors
    /// When it cannot be opened or made durable.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)?;
        let length = file.metadata()?.len();
        if length == 0 {
            file.sync_all()?;
            sync_parent(path)?;
        }
        Ok(Self { file, length })
    }

    /// Appends bytes and waits until they are on the disk.
    ///
    /// # Errors
    /// When they cannot be written. What a failed write left is cut off again where possible.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let result = self
            .file
            .write_all(bytes)
            .and_then(|()| self.file.sync_data());
        match result {
            Ok(()) => {
                self.length += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                // The first error is the one to tell; a torn tail is tolerated by readers.
                let _ = self.file.set_len(self.length);
                Err(error)
            }
        }
    }

    /// Cuts the file to a length, for a tail that a power cut tore, and waits for the disk.
    ///
    /// # Errors
    /// When it cannot be cut.
    pub fn cut_to(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.file.sync_all()?;
        self.length = length;
        Ok(())
    }
}

/// Makes a directory, and those above it that are missing, for this user alone (0700).
///
/// # Errors
/// When one cannot be made.
pub fn create_private_directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    sync_parent(path)
}

/// Replaces a file whole: written beside, synced, renamed, and the directory synced. Whoever
/// reads it meanwhile sees the old bytes or the new ones.
///
/// # Errors
/// When a step fails; the old file is then as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = beside(path)?;
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(&beside)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&beside, path));
    if let Err(error) = written {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(&beside);
        return Err(error);
    }
    sync_parent(path)
}

/// Removes a file, and what a replacement of it that was cut short left beside it, and waits until
/// the directory no longer names them. A file that is not there is no error.
///
/// # Errors
/// When it cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    for path in [&beside(path)?, path] {
        match std::fs::remove_file(path) {
            Ok(()) => sync_parent(path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether a path lies on a file system that is in memory alone, or would, where it is not there
/// yet.
pub fn is_in_memory(path: &Path) -> bool {
    // The numbers of linux/magic.h.
    const TMPFS: u64 = 0x0102_1994;
    const RAMFS: u64 = 0x8584_58f6;
    let Ok(path) = std::path::absolute(path) else {
        return false;
    };
    let nearest = path.ancestors().find(|above| above.exists());
    nearest
        .and_then(|above| rustix::fs::statfs(above).ok())
        .is_some_and(|system| [TMPFS, RAMFS].contains(&(system.f_type as u64 & 0xffff_ffff)))
}

fn beside(path: &Path) -> io::Result<PathBuf> {
    let mut name = path.file_name().map(OsString::from).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{} names no file", path.display()),
        )
    })?;
    name.push(".new");
    Ok(path.with_file_name(name))
}

fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    match File::open(parent)?.sync_all() {
        // Some file systems cannot sync a directory and say so; there is nothing more to do.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_is_made_is_for_this_user_alone() {
        let directory = tempfile::tempdir().unwrap();
        let private = directory.path().join("a/b");
        create_private_directory(&private).unwrap();
        let file = private.join("file");
        replace(&file, b"one").unwrap();
        replace(&file, b"two").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&private), 0o700);
        assert_eq!(mode(&file), 0o600);
        assert_eq!(std::fs::read_dir(&private).unwrap().count(), 1);
        // As a power cut leaves the next replacement.
        std::fs::write(private.join("file.new"), "half").unwrap();
        remove(&file).unwrap();
        assert_eq!(std::fs::read_dir(&private).unwrap().count(), 0);
    }

    #[test]
    fn a_file_grows_and_a_torn_tail_can_be_cut() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let mut file = AppendFile::open(&path).unwrap();
        file.append(b"one\n").unwrap();
        file.append(b"tw").unwrap();
        drop(file);
        let mut file = AppendFile::open(&path).unwrap();
        file.cut_to(4).unwrap();
        file.append(b"two\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\ntwo\n");
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_link_in_place_of_the_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(AppendFile::open(&path).is_err());
        assert!(!directory.path().join("elsewhere").exists());
    }
}
