//! The only way to the machine: the files of settings, the commands of own knobs, and the
//! journal's storage. Tests put a scripted machine in its place.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use knobstat_sys::durable::{self, AppendFile};
use knobstat_sys::root::{FileSystemKind, Root};
use knobstat_sys::tick;

use crate::state_directory::StateDirectory;

/// A machine's settings and the storage of its journal.
pub trait Files {
    /// The bytes of a setting's file.
    ///
    /// # Errors
    /// As the kernel says.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// Writes to a setting's file, which must exist, with one write.
    ///
    /// # Errors
    /// As the kernel says.
    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()>;

    /// Writes to a file and holds it open, in place of what was held of it before.
    ///
    /// # Errors
    /// As the kernel says; what was held before is then held still.
    fn hold(&self, path: &str, bytes: &[u8]) -> io::Result<()>;

    /// Closes every file that is held.
    fn release_all(&self);

    /// Whether a file could be opened for writing; nothing is written.
    ///
    /// # Errors
    /// As the kernel says: EROFS, EACCES, EPERM, ENOENT.
    fn writable(&self, path: &str) -> io::Result<()>;

    /// Whether a file or directory exists.
    fn exists(&self, path: &str) -> bool;

    /// The names in a directory, sorted.
    ///
    /// # Errors
    /// As the kernel says.
    fn list(&self, directory: &str) -> io::Result<Vec<String>>;

    /// Whether a path leads to a file of the kernel (sysfs, procfs and their like), so that
    /// writing it is turning a setting and nothing else. Always true in a laid-out tree.
    fn is_setting(&self, path: &str) -> bool;

    /// Whether the files keep their bytes as written (a laid-out tree), instead of showing what
    /// the kernel made of them.
    fn keeps_bytes(&self) -> bool;

    /// Whether the settings are the machine's own, not those of a laid-out tree.
    fn is_machine(&self) -> bool;

    /// The tick rate as it shows on a busy CPU, for kernels that tell it nowhere; only of the
    /// machine that this runs on.
    fn measured_hz(&self) -> Option<u32> {
        None
    }

    /// Where a path lies, for a message or for a command that a person would type.
    fn location(&self, path: &str) -> PathBuf;

    /// Lets time pass, asleep.
    fn pause(&self, time: Duration);

    /// Runs a command of an own knob and returns what it printed.
    ///
    /// # Errors
    /// When it cannot be started, or ends with another code than 0.
    fn run(&self, command: &[String]) -> io::Result<Vec<u8>>;

    /// Where the journal lies, for messages.
    fn journal_location(&self) -> PathBuf;

    /// The journal's bytes; none where there is no journal.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    fn read_journal(&self) -> io::Result<Option<Vec<u8>>>;

    /// Appends to the journal and waits for the disk.
    ///
    /// # Errors
    /// When it cannot be made durable: then nothing may be changed.
    fn append_journal(&self, bytes: &[u8]) -> io::Result<()>;

    /// Replaces the journal whole and waits for the disk.
    ///
    /// # Errors
    /// When it cannot be made durable; the old journal is then in place.
    fn replace_journal(&self, bytes: &[u8]) -> io::Result<()>;

    /// Removes the journal and waits for the disk. None there is no error.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove_journal(&self) -> io::Result<()>;

    /// What nobody was told yet; none where everything was.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    fn read_untold(&self) -> io::Result<Option<Vec<u8>>>;

    /// Replaces what nobody was told yet, and waits for the disk.
    ///
    /// # Errors
    /// When it cannot be made durable.
    fn replace_untold(&self, bytes: &[u8]) -> io::Result<()>;

    /// Removes what nobody was told yet. None there is no error.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove_untold(&self) -> io::Result<()>;
}

/// The files beneath a root, and the journal in its state directory.
#[derive(Debug)]
pub struct RootedFiles {
    root: Root,
    state: Option<StateDirectory>,
    held: RefCell<BTreeMap<String, OwnedFd>>,
}

impl RootedFiles {
    /// The files beneath a root, with the journal kept in a state directory.
    pub fn new(root: Root, state: StateDirectory) -> Self {
        Self {
            root,
            state: Some(state),
            held: RefCell::default(),
        }
    }

    /// The files beneath a root, to be looked at only: there is no place for a journal, and so
    /// nothing can be turned.
    pub fn to_look_at(root: Root) -> Self {
        Self {
            root,
            state: None,
            held: RefCell::default(),
        }
    }

    fn state(&self) -> io::Result<&StateDirectory> {
        self.state.as_ref().ok_or_else(|| {
            io::Error::new(io::ErrorKind::Unsupported, "no state directory was given")
        })
    }

    fn remove_of_state(&self, file: fn(&StateDirectory) -> PathBuf) -> io::Result<()> {
        let state = self.state()?;
        if !state.path().exists() {
            return Ok(());
        }
        durable::remove(&file(state))?;
        // A machine laid out in a tree leaves nothing behind once it is put back. A directory
        // that is not empty stays.
        if !self.root.is_real() {
            let _ = std::fs::remove_dir(state.path());
        }
        Ok(())
    }
}

impl Files for RootedFiles {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.root.read_bytes(path)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.root.write_bytes(path, bytes)
    }

    fn hold(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let descriptor = self.root.write_and_hold(path, bytes)?;
        self.held.borrow_mut().insert(path.to_owned(), descriptor);
        Ok(())
    }

    fn release_all(&self) {
        self.held.borrow_mut().clear();
    }

    fn writable(&self, path: &str) -> io::Result<()> {
        self.root.writable(path)
    }

    fn exists(&self, path: &str) -> bool {
        self.root.exists(path)
    }

    fn list(&self, directory: &str) -> io::Result<Vec<String>> {
        self.root.list(directory)
    }

    fn is_setting(&self, path: &str) -> bool {
        !self.root.is_real()
            || self
                .root
                .file_system(path)
                .is_ok_and(|system| system.kind != FileSystemKind::Other)
    }

    fn keeps_bytes(&self) -> bool {
        !self.root.is_real()
    }

    fn is_machine(&self) -> bool {
        self.root.is_real()
    }

    fn measured_hz(&self) -> Option<u32> {
        self.root.is_real().then(tick::measured_hz)?
    }

    fn location(&self, path: &str) -> PathBuf {
        self.root.resolve(path)
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn run(&self, command: &[String]) -> io::Result<Vec<u8>> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the command has no words",
            ));
        };
        let output = Command::new(program)
            .args(arguments)
            .env("KNOBSTAT_ROOT", self.root.path())
            .current_dir("/")
            .stdin(Stdio::null())
            .output()?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim().lines().next_back().unwrap_or("it said nothing");
        Err(io::Error::other(format!("{} ({said})", output.status)))
    }

    fn journal_location(&self) -> PathBuf {
        self.state
            .as_ref()
            .map_or_else(|| PathBuf::from("journal"), StateDirectory::journal)
    }

    fn read_journal(&self) -> io::Result<Option<Vec<u8>>> {
        read_where_it_is(&self.state()?.journal())
    }

    fn append_journal(&self, bytes: &[u8]) -> io::Result<()> {
        let state = self.state()?;
        state.create()?;
        AppendFile::open(&state.journal())?.append(bytes)
    }

    fn replace_journal(&self, bytes: &[u8]) -> io::Result<()> {
        let state = self.state()?;
        state.create()?;
        durable::replace(&state.journal(), bytes)
    }

    fn remove_journal(&self) -> io::Result<()> {
        self.remove_of_state(StateDirectory::journal)
    }

    fn read_untold(&self) -> io::Result<Option<Vec<u8>>> {
        // Without a state directory nothing was ever put back.
        match &self.state {
            Some(state) => read_where_it_is(&state.untold()),
            None => Ok(None),
        }
    }

    fn replace_untold(&self, bytes: &[u8]) -> io::Result<()> {
        let state = self.state()?;
        state.create()?;
        durable::replace(&state.untold(), bytes)
    }

    fn remove_untold(&self) -> io::Result<()> {
        self.remove_of_state(StateDirectory::untold)
    }
}

fn read_where_it_is(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
