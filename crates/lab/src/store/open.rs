//! Opening a store: its place, its file, and how SQLite is told to write it.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::error::StoreError;
use super::{Store, file_system, migrate};

/// How long a write waits for another process that is writing. Writes take milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whom the files of a store belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The user's number.
    pub user: u32,
    /// The group's number.
    pub group: u32,
}

/// Where the store is when nothing else was said: under the XDG data directory, given a look-up
/// of environment variables.
///
/// # Errors
/// [`StoreError::NoPlace`] when no variable names an absolute directory.
pub fn default_path(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, StoreError> {
    // The XDG base directory specification has relative paths ignored.
    let directory = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    directory("XDG_DATA_HOME")
        .or_else(|| directory("HOME").map(|home| home.join(".local/share")))
        .map(|data| data.join("knobstat").join("store.db"))
        .ok_or(StoreError::NoPlace)
}

impl Store {
    /// Opens the store at this path, and makes it where there is none. What is made belongs to
    /// the given owner, or to whoever runs this, and nobody else can read it.
    ///
    /// A store that can only be read is opened for reading; its first write fails.
    ///
    /// # Errors
    /// When it cannot be made or opened, is something else, or is of a newer version.
    pub fn open(path: &Path, owner: Option<Owner>) -> Result<Self, StoreError> {
        if !path.exists() {
            make(path, owner).map_err(|error| StoreError::Open {
                path: path.to_owned(),
                cause: error.to_string(),
            })?;
        }
        Self::open_existing(path)
    }

    /// A store in memory, for what is not to be kept: it is gone when it is dropped.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn in_memory() -> Result<Self, StoreError> {
        let path = PathBuf::from(":memory:");
        let fail = |error| StoreError::of(&path, error);
        let mut connection = Connection::open_in_memory().map_err(fail)?;
        migrate::migrate(&mut connection, &path)?;
        connection
            .pragma_update(None, "foreign_keys", true)
            .map_err(fail)?;
        Ok(Self { connection, path })
    }

    /// Opens the store at this path.
    ///
    /// # Errors
    /// As [`Store::open`], and when there is none.
    pub fn open_existing(path: &Path) -> Result<Self, StoreError> {
        let path = path.to_owned();
        if path.is_dir() {
            return Err(StoreError::IsDirectory { path });
        }
        if !path.exists() {
            return Err(StoreError::Missing { path });
        }
        let mut connection = connect(&path)?;
        let fail = |error| StoreError::of(&path, error);
        if connection.is_readonly("main").map_err(fail)? {
            if !migrate::is_current(&connection, &path)? {
                return Err(StoreError::ReadOnly { path });
            }
        } else {
            // Nothing is changed in a file before it is known to be a store.
            migrate::is_current(&connection, &path)?;
            let journal = if file_system::is_remote(directory_of(&path)) {
                "DELETE"
            } else {
                "WAL"
            };
            connection
                .pragma_update_and_check(None, "journal_mode", journal, |_| Ok(()))
                .map_err(fail)?;
            connection
                .pragma_update(None, "synchronous", "FULL")
                .map_err(fail)?;
            migrate::migrate(&mut connection, &path)?;
        }
        connection
            .pragma_update(None, "foreign_keys", true)
            .map_err(fail)?;
        Ok(Self { connection, path })
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Makes an empty file, and the directories on the way to it, for nobody but the owner.
fn make(path: &Path, owner: Option<Owner>) -> io::Result<()> {
    make_directory(directory_of(path), owner)?;
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match file {
        Ok(_) => give(path, owner),
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

fn make_directory(directory: &Path, owner: Option<Owner>) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    let parent = directory_of(directory);
    make_directory(parent, owner)?;
    match DirBuilder::new().mode(0o700).create(directory) {
        Ok(()) => give(directory, owner)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    // SQLite makes its files' names durable, but not those of the directories above them.
    File::open(parent)?.sync_all()
}

fn give(path: &Path, owner: Option<Owner>) -> io::Result<()> {
    match owner {
        Some(owner) => std::os::unix::fs::chown(path, Some(owner.user), Some(owner.group)),
        None => Ok(()),
    }
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let fail = |error| StoreError::of(path, error);
    let open = |name: &Path, flags| -> Result<Connection, StoreError> {
        let connection = Connection::open_with_flags(name, flags).map_err(fail)?;
        connection.busy_timeout(PATIENCE).map_err(fail)?;
        // SQLite looks at the file only when it has to.
        connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
            .map_err(fail)?;
        Ok(connection)
    };
    // SQLite opens a file that the system does not let it write for reading.
    let usual = open(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    );
    match usual {
        // A write-ahead log needs a shared-memory file even for reading. Where none can be made
        // and no log is left, nobody is writing either.
        Err(error @ (StoreError::Open { .. } | StoreError::ReadOnly { .. })) if !has_log(path) => {
            open(
                &immutable(path),
                OpenFlags::SQLITE_OPEN_READ_ONLY
                    | OpenFlags::SQLITE_OPEN_URI
                    | OpenFlags::SQLITE_OPEN_NO_MUTEX,
            )
            .map_err(|_| error)
        }
        usual => usual,
    }
}

/// Whether a write-ahead log of the store is there and holds anything.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(PathBuf::from(log)).is_ok_and(|log| log.len() > 0)
}

/// The store as an SQLite URI that promises that nobody writes it.
fn immutable(path: &Path) -> PathBuf {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let mut uri = b"file:".to_vec();
    for &byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'%' | b'?' | b'#') {
            uri.extend(format!("%{byte:02X}").bytes());
        } else {
            uri.push(byte);
        }
    }
    uri.extend(b"?immutable=1");
    PathBuf::from(OsString::from_vec(uri))
}
