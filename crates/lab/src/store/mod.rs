//! The store: every experiment and every attempt, durable before the next run begins.
//!
//! An SQLite file. One transaction for each attempt, flushed to the disk before the call
//! returns; what a crash leaves behind is every attempt that was acknowledged and nothing half.
//! The store knows nothing of what an attempt means: what comes next is the engine's.

mod error;
mod file_system;
mod merge;
mod migrate;
mod open;
mod read;
mod schema;
#[cfg(test)]
mod tests;
mod write;

use std::path::{Path, PathBuf};

use rusqlite::Connection;

pub use error::StoreError;
pub use merge::Merged;
pub use open::{Owner, default_path};
pub use read::Summary;

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn fail(&self, error: rusqlite::Error) -> StoreError {
        StoreError::of(&self.path, error)
    }

    fn damaged(&self, detail: impl Into<String>) -> StoreError {
        StoreError::Damaged {
            path: self.path.clone(),
            detail: detail.into(),
        }
    }
}
