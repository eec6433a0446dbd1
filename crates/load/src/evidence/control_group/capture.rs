//! One run's control group: made before the run, read on both sides, removed after it.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::decode::Readings;

/// Enough for each of the files.
const SIZE: usize = 2048;

/// A control group. It is removed when it is dropped.
#[derive(Debug)]
pub struct Group {
    path: PathBuf,
    directory: OwnedFd,
    processor: Account,
    pressure: Account,
    memory: Account,
}

impl Group {
    /// Makes a group beneath a place.
    ///
    /// # Errors
    /// When none can be made there.
    pub(super) fn make(place: &Path) -> io::Result<Self> {
        let path = place.join(format!("knobstat-run-{}", std::process::id()));
        fs::create_dir(&path)?;
        let directory = match File::open(&path) {
            Ok(directory) => directory.into(),
            Err(error) => {
                let _ = fs::remove_dir(&path);
                return Err(error);
            }
        };
        Ok(Self {
            processor: Account::open(path.join("cpu.stat")),
            pressure: Account::open(path.join("cpu.pressure")),
            memory: Account::open(path.join("memory.peak")),
            path,
            directory,
        })
    }

    /// Reads what the rehearsal of the start has left in the accounts. Allocates nothing.
    pub fn capture_before(&mut self) {
        self.processor.read_before();
        self.pressure.read_before();
    }

    /// Reads the accounts after the run. Allocates nothing.
    pub fn capture_after(&mut self) {
        self.processor.read_after();
        self.pressure.read_after();
        self.memory.read_after();
    }

    pub(super) fn readings(&self) -> Readings<'_> {
        Readings {
            processor: self.processor.texts(),
            pressure: self.pressure.texts(),
            memory: self.memory.texts().map(|(_, after)| after),
        }
    }
}

/// The directory, to start a process in.
impl AsFd for Group {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // One that still holds a process stays, and is removed by the guardian's successor.
        let _ = fs::remove_dir(&self.path);
    }
}

/// A file of the group, kept open, and buffers for both readings.
#[derive(Debug)]
struct Account {
    file: Result<File, String>,
    before: Text,
    after: Text,
}

#[derive(Debug)]
struct Text {
    buffer: Box<[u8]>,
    length: io::Result<usize>,
}

impl Account {
    fn open(path: PathBuf) -> Self {
        Self {
            file: File::open(&path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => format!(
                    "the group has no {}: its controller is not enabled here \
                     (cgroup.subtree_control), or the kernel does not have it",
                    path.file_name().unwrap_or_default().display()
                ),
                _ => format!("{} cannot be read: {error}", path.display()),
            }),
            before: Text::new(),
            after: Text::new(),
        }
    }

    fn read_before(&mut self) {
        if let Ok(file) = &self.file {
            self.before.fill(file);
        }
    }

    fn read_after(&mut self) {
        if let Ok(file) = &self.file {
            self.after.fill(file);
        }
    }

    fn texts(&self) -> Result<(&str, &str), String> {
        self.file.as_ref().map_err(Clone::clone)?;
        Ok((self.before.text()?, self.after.text()?))
    }
}

impl Text {
    fn new() -> Self {
        Self {
            buffer: vec![0; SIZE].into_boxed_slice(),
            length: Ok(0),
        }
    }

    fn fill(&mut self, file: &File) {
        self.length = file.read_at(&mut self.buffer, 0);
    }

    fn text(&self) -> Result<&str, String> {
        let length = self.length.as_ref().map_err(ToString::to_string)?;
        std::str::from_utf8(&self.buffer[..*length]).map_err(|error| error.to_string())
    }
}
