//! A directory that stands for `/`: the machine itself, or a machine laid out in a tree of files.
//!
//! Every path is absolute as the kernel documents it (`/sys/...`, `/proc/sys/...`) and is
//! resolved beneath the root, links included, so that nothing laid out in a tree reaches the
//! machine that the tree lies on. It knows no knob and no format of a file.

mod write_files;

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// No file that is read whole is longer than this: settings and listings are far shorter.
const LARGEST_FILE: usize = 4 << 20;

/// A directory that stands for `/`. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Root {
    /// The directory of a laid-out tree; the machine itself needs none.
    directory: Option<Arc<OwnedFd>>,
    path: Arc<PathBuf>,
}

/// The kind of file system that a file lies on, as far as settings are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSystemKind {
    /// sysfs.
    Sysfs,
    /// procfs.
    Procfs,
    /// debugfs or tracefs.
    Debugfs,
    /// A control group hierarchy, either version.
    Cgroup,
    /// Anything else.
    Other,
}

/// The file system that a file lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// Its kind.
    pub kind: FileSystemKind,
    /// Whether it is mounted read-only, as `/sys` is in most containers.
    pub read_only: bool,
}

impl Root {
    /// The machine itself.
    pub fn real() -> Self {
        Self {
            directory: None,
            path: Arc::new(PathBuf::from("/")),
        }
    }

    /// A machine laid out beneath a directory. `/` itself is the real root, whatever its name.
    ///
    /// # Errors
    /// When the directory does not exist or cannot be opened.
    pub fn laid_out(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = std::fs::canonicalize(path)?;
        let directory = rustix::fs::open(
            &path,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let opened = rustix::fs::fstat(&directory)?;
        let slash = rustix::fs::stat("/")?;
        if (opened.st_dev, opened.st_ino) == (slash.st_dev, slash.st_ino) {
            return Ok(Self::real());
        }
        Ok(Self {
            directory: Some(Arc::new(directory)),
            path: Arc::new(path),
        })
    }

    /// Whether this is the machine itself.
    pub fn is_real(&self) -> bool {
        self.directory.is_none()
    }

    /// The directory, resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole of a small file as text, without the newlines at its end. Bytes that are no
    /// UTF-8 are replaced.
    ///
    /// # Errors
    /// As the kernel says; a file beyond 4 MiB is refused.
    pub fn read(&self, absolute: &str) -> io::Result<String> {
        let bytes = self.read_bytes(absolute)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// The whole of a small file, byte for byte.
    ///
    /// # Errors
    /// As the kernel says; a file beyond 4 MiB is refused.
    pub fn read_bytes(&self, absolute: &str) -> io::Result<Vec<u8>> {
        // Not blocking, so that a pipe laid out in a tree cannot stop the harness.
        let file = self.open_file(absolute, OFlags::RDONLY | OFlags::NONBLOCK)?;
        let mut bytes = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            match rustix::io::read(&file, &mut buffer) {
                Ok(0) => return Ok(bytes),
                Ok(length) => bytes.extend_from_slice(&buffer[..length]),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if bytes.len() > LARGEST_FILE {
                return Err(io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    format!("the file is longer than {LARGEST_FILE} bytes"),
                ));
            }
        }
    }

    /// Writes a text to a file that exists, with one write(2), as the kernel's own files expect.
    ///
    /// # Errors
    /// As the kernel says. The file is never created. A write of fewer bytes is an error.
    pub fn write(&self, absolute: &str, text: &str) -> io::Result<()> {
        self.write_bytes(absolute, text.as_bytes())
    }

    /// Writes bytes to a file that exists, with one write(2).
    ///
    /// # Errors
    /// As the kernel says. The file is never created. A write of fewer bytes is an error.
    pub fn write_bytes(&self, absolute: &str, bytes: &[u8]) -> io::Result<()> {
        // A plain file of a laid-out tree keeps its old tail unless it is cut; the kernel's own
        // files have none.
        let cut = if self.is_real() {
            OFlags::empty()
        } else {
            OFlags::TRUNC
        };
        let file = self.open_file(absolute, OFlags::WRONLY | OFlags::NOCTTY | cut)?;
        write_once(&file, bytes)
    }

    /// Whether a file could be written: it is opened for writing and nothing is written.
    ///
    /// # Errors
    /// As the kernel says: EROFS on a read-only mount, EACCES or EPERM without the permission or
    /// where the file is one to read only, ENOENT where there is none.
    pub fn writable(&self, absolute: &str) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::NONBLOCK;
        self.open_file(absolute, flags).map(drop)
    }

    /// Writes bytes to a file that exists, for settings that hold as long as the descriptor that
    /// is returned stays open. Closed on exec.
    ///
    /// # Errors
    /// As the kernel says. A write of fewer bytes is an error.
    pub fn write_and_hold(&self, absolute: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
        let file = self.open_file(absolute, OFlags::RDWR | OFlags::NOCTTY)?;
        write_once(&file, bytes)?;
        Ok(file)
    }

    /// Whether a file or directory exists (a link that leads nowhere does not).
    pub fn exists(&self, absolute: &str) -> bool {
        self.open_file(absolute, OFlags::PATH).is_ok()
    }

    /// The names in a directory, sorted, without `.` and `..`.
    ///
    /// # Errors
    /// As the kernel says.
    pub fn list(&self, directory: &str) -> io::Result<Vec<String>> {
        let directory = self.open_file(directory, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::new(directory)? {
            let entry = entry?;
            let name: &CStr = entry.file_name();
            if name != c"." && name != c".." {
                names.push(name.to_string_lossy().into_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// The file system that a file lies on.
    ///
    /// # Errors
    /// When the file does not exist or cannot be reached.
    pub fn file_system(&self, absolute: &str) -> io::Result<FileSystem> {
        let file = self.open_file(absolute, OFlags::PATH)?;
        let magic = rustix::fs::fstatfs(&file)?.f_type as u64;
        let flags = rustix::fs::fstatvfs(&file)?.f_flag;
        // The numbers of linux/magic.h.
        let kind = match magic & 0xffff_ffff {
            0x6265_6572 => FileSystemKind::Sysfs,
            0x9fa0 => FileSystemKind::Procfs,
            0x6462_6720 | 0x7472_6163 => FileSystemKind::Debugfs,
            0x0027_e0eb | 0x6367_7270 => FileSystemKind::Cgroup,
            _ => FileSystemKind::Other,
        };
        Ok(FileSystem {
            kind,
            read_only: flags.contains(rustix::fs::StatVfsMountFlags::RDONLY),
        })
    }

    /// Where a path lies in the tree of the machine that we run on: for messages, and for the
    /// commands that a person would type.
    pub fn resolve(&self, absolute: &str) -> PathBuf {
        self.path.join(absolute.trim_start_matches('/'))
    }

    fn open_file(&self, absolute: &str, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC;
        let relative = absolute.trim_start_matches('/');
        let Some(directory) = &self.directory else {
            let path = format!("/{relative}");
            let resolve = ResolveFlags::NO_MAGICLINKS;
            return match rustix::fs::openat2(CWD, &path, flags, Mode::empty(), resolve) {
                // A kernel before 5.6, or a filter of system calls that does not know the call.
                Err(Errno::NOSYS) => Ok(rustix::fs::open(&path, flags, Mode::empty())?),
                result => Ok(result?),
            };
        };
        let relative = if relative.is_empty() { "." } else { relative };
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        Ok(rustix::fs::openat2(
            directory,
            relative,
            flags,
            Mode::empty(),
            resolve,
        )?)
    }
}

fn write_once(file: &OwnedFd, bytes: &[u8]) -> io::Result<()> {
    let written = loop {
        match rustix::io::write(file, bytes) {
            Err(Errno::INTR) => {}
            result => break result?,
        }
    };
    if written == bytes.len() {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::WriteZero,
            format!("only {written} of {} bytes were taken", bytes.len()),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> (tempfile::TempDir, Root) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("sys/a")).unwrap();
        std::fs::write(directory.path().join("sys/a/value"), "powersave\n").unwrap();
        let root = Root::laid_out(directory.path()).unwrap();
        (directory, root)
    }

    #[test]
    fn a_file_is_read_without_its_newline_and_replaced_whole() {
        let (directory, root) = tree();
        assert!(!root.is_real());
        assert_eq!(root.read("/sys/a/value").unwrap(), "powersave");
        root.write("/sys/a/value", "on").unwrap();
        assert_eq!(root.read_bytes("/sys/a/value").unwrap(), b"on");
        assert_eq!(
            root.resolve("/sys/a/value"),
            directory.path().canonicalize().unwrap().join("sys/a/value")
        );
        assert_eq!(root.list("/sys").unwrap(), ["a"]);
    }

    #[test]
    fn a_write_never_creates() {
        let (_directory, root) = tree();
        let error = root.write("/sys/a/other", "x").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!root.exists("/sys/a/other"));
    }

    #[test]
    fn links_and_dots_stay_beneath_the_root() {
        let (directory, root) = tree();
        std::os::unix::fs::symlink("/sys/a/value", directory.path().join("sys/absolute")).unwrap();
        std::os::unix::fs::symlink("../../../sys/a", directory.path().join("sys/dots")).unwrap();
        assert_eq!(root.read("/sys/absolute").unwrap(), "powersave");
        assert_eq!(root.read("/sys/dots/value").unwrap(), "powersave");
        assert_eq!(root.read("/../../sys/a/value").unwrap(), "powersave");
        assert!(!root.exists("/proc/self/status"));
    }

    #[test]
    fn the_real_root_is_known_by_what_it_is() {
        assert!(Root::real().is_real());
        assert!(Root::laid_out("/").unwrap().is_real());
        let root = Root::real();
        assert_eq!(
            root.file_system("/proc/sys/kernel/osrelease").unwrap().kind,
            FileSystemKind::Procfs
        );
        // A link to the process's own number, which is no link out of the file system.
        assert!(root.read("/proc/self/mountinfo").unwrap().contains(" / "));
    }
}
