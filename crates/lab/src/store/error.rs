//! Why the store could not do what was asked: a cause and a remedy each.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

use super::migrate::VERSION;

/// Why the store could not do what was asked.
#[derive(Debug, Error)]
pub enum StoreError {
    /// No place for a store is known.
    #[error(
        "no place for the store is known, because neither XDG_DATA_HOME nor HOME is set to an absolute path; name one with --store PATH or KNOBSTAT_STORE"
    )]
    NoPlace,
    /// There is no store at this path.
    #[error("there is no store at {}; `knobstat run` makes one, or name another with --store PATH", .path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The path is a directory.
    #[error("{} is a directory and not a store; name a file in it, such as {}", .path.display(), .path.join("store.db").display())]
    IsDirectory {
        /// The path.
        path: PathBuf,
    },
    /// The file, or a directory on the way to it, could not be made or opened.
    #[error("the store {} cannot be opened ({cause}); make its directory writable, or name another store with --store PATH", .path.display())]
    Open {
        /// The path.
        path: PathBuf,
        /// What the system says.
        cause: String,
    },
    /// The file is something else.
    #[error("{} is not a store of knobstat; it was left as it is: name another file with --store PATH", .path.display())]
    NotAStore {
        /// The path.
        path: PathBuf,
    },
    /// A newer version of the program made it.
    #[error("the store {} has the format {found} of a newer knobstat, and this one knows {VERSION}; it was left as it is: use the newer program, or another store with --store PATH", .path.display())]
    Newer {
        /// The path.
        path: PathBuf,
        /// The version of its format.
        found: i64,
    },
    /// It can only be read.
    #[error("the store {} can only be read; make it and its directory writable, or name another store with --store PATH", .path.display())]
    ReadOnly {
        /// The path.
        path: PathBuf,
    },
    /// There is no room.
    #[error("the disk is full: the store {} took in nothing of the last write, and all before it is safe; make room, then start knobstat again to continue", .path.display())]
    Full {
        /// The path.
        path: PathBuf,
    },
    /// Another process holds it for longer than is sensible.
    #[error("another process has held the store {} locked for too long; end it, then start knobstat again to continue", .path.display())]
    Busy {
        /// The path.
        path: PathBuf,
    },
    /// Its content contradicts itself.
    #[error("the store {} is damaged ({detail}); put it back from a copy, or begin another with --store PATH", .path.display())]
    Damaged {
        /// The path.
        path: PathBuf,
        /// Where.
        detail: String,
    },
    /// Reading or writing failed.
    #[error("the store {} failed ({cause}); see to the disk, then start knobstat again to continue", .path.display())]
    Failed {
        /// The path.
        path: PathBuf,
        /// What SQLite says.
        cause: String,
    },
    /// No experiment goes by this word.
    #[error("no experiment in {} has the id or the name \"{wanted}\"; `knobstat list` shows those there are", .path.display())]
    Unknown {
        /// The path of the store.
        path: PathBuf,
        /// What was asked for.
        wanted: String,
    },
    /// Several experiments go by this word.
    #[error("\"{wanted}\" can be any of {}; give more of the id", .candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// The ids that it can be, the newest first.
        candidates: Vec<String>,
    },
    /// What is to be stored contradicts what is there.
    #[error("{what} is in the store {} already and differs; nothing was taken in: import into another store with --store PATH", .path.display())]
    Conflict {
        /// The path of the store.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// A number is not one that a store can hold.
    #[error("{what} of {value} cannot be stored; nothing was taken in: see to where it comes from")]
    OutOfRange {
        /// Which quantity.
        what: &'static str,
        /// Its value.
        value: String,
    },
}

impl StoreError {
    /// The exit code of the program: 2 where the request is wrong, 4 where the store failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Missing { .. }
            | Self::Unknown { .. }
            | Self::Ambiguous { .. }
            | Self::Conflict { .. } => 2,
            _ => 4,
        }
    }

    /// What an error of SQLite means for the store at this path.
    pub(super) fn of(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::NotADatabase) => Self::NotAStore { path },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged {
                path,
                detail: error.to_string(),
            },
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => Self::Open {
                path,
                cause: error.to_string(),
            },
            _ => Self::Failed {
                path,
                cause: error.to_string(),
            },
        }
    }
}
