//! Where the journal lies: a private directory of the machine that knobstat runs on, one folder
//! for each root, and never inside the root.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use knobstat_sys::durable;
use knobstat_sys::root::Root;
use knobstat_sys::session;
use thiserror::Error;

use crate::checksum::checksum;

/// The variable that names another place for the state of laid-out roots.
const STATE: &str = "KNOBSTAT_STATE";

/// The directory of one root's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDirectory(PathBuf);

/// Why there is no state directory.
#[derive(Debug, Error)]
pub enum StateDirectoryError {
    /// Neither variable that would name it is set.
    #[error(
        "there is no place for the journal: neither XDG_STATE_HOME nor HOME is set; set one of them"
    )]
    NoHome,
    /// It would lie inside the tree that it is about.
    #[error(
        "the journal of {root} would lie inside it, at {state}; set XDG_STATE_HOME to a directory outside"
    )]
    InsideRoot {
        /// The laid-out tree.
        root: PathBuf,
        /// Where the state would lie.
        state: PathBuf,
    },
}

impl StateDirectory {
    /// The state directory of a root: beneath `/var/lib/knobstat` for root, and beneath
    /// `$XDG_STATE_HOME/knobstat` (by default `~/.local/state/knobstat`) for anybody else.
    ///
    /// For a laid-out root `$KNOBSTAT_STATE` comes before both; the machine's own journal has one
    /// place, where every process finds it whatever its environment is.
    ///
    /// # Errors
    /// When no such place is known, or it would lie inside a laid-out root.
    pub fn of(root: &Root) -> Result<Self, StateDirectoryError> {
        let told = env::var_os(STATE)
            .map(PathBuf::from)
            .filter(|told| !root.is_real() && told.is_absolute());
        let base = if let Some(told) = told {
            told
        } else if session::is_root() {
            PathBuf::from("/var/lib/knobstat")
        } else {
            base_of(env::var_os("XDG_STATE_HOME"), env::var_os("HOME"))
                .ok_or(StateDirectoryError::NoHome)?
        };
        Self::beneath(&base, root)
    }

    /// The state directory of a root beneath a given directory.
    ///
    /// # Errors
    /// When it would lie inside a laid-out root.
    pub fn beneath(base: &Path, root: &Root) -> Result<Self, StateDirectoryError> {
        let state = base.join(key(root));
        if !root.is_real() && resolved(&state).starts_with(root.path()) {
            return Err(StateDirectoryError::InsideRoot {
                root: root.path().to_owned(),
                state,
            });
        }
        Ok(Self(state))
    }

    /// A state directory that was told by whoever started this process.
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The journal in it.
    pub fn journal(&self) -> PathBuf {
        self.0.join("journal")
    }

    /// What was left alone and nobody was told yet, beside it.
    pub fn untold(&self) -> PathBuf {
        self.0.join("untold")
    }

    /// Makes it, for this user alone.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(&self) -> io::Result<()> {
        durable::create_private_directory(&self.0)
    }
}

fn base_of(state_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // The XDG base directory specification: a relative path is to be ignored.
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    state_home
        .and_then(absolute)
        .or_else(|| Some(home.and_then(absolute)?.join(".local/state")))
        .map(|base| base.join("knobstat"))
}

/// The folder's name: `machine`, or a hash of the tree's resolved path.
fn key(root: &Root) -> String {
    if root.is_real() {
        "machine".to_owned()
    } else {
        format!("tree-{:016x}", checksum(root.path().as_os_str().as_bytes()))
    }
}

/// A path with the links of that part of it resolved that exists.
fn resolved(path: &Path) -> PathBuf {
    let mut existing = path;
    loop {
        if let Ok(resolved) = existing.canonicalize() {
            return match path.strip_prefix(existing) {
                Ok(rest) => resolved.join(rest),
                Err(_) => resolved,
            };
        }
        match existing.parent() {
            Some(parent) => existing = parent,
            None => return path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_lies_under_the_state_home_and_not_in_the_tree() {
        let base = |state: Option<&str>, home: Option<&str>| {
            base_of(state.map(OsString::from), home.map(OsString::from))
        };
        assert_eq!(
            base(Some("/s"), Some("/h")),
            Some(PathBuf::from("/s/knobstat"))
        );
        assert_eq!(
            base(Some("relative"), Some("/h")),
            Some(PathBuf::from("/h/.local/state/knobstat"))
        );
        assert_eq!(base(None, None), None);

        let directory = tempfile::tempdir().unwrap();
        let root = Root::laid_out(directory.path()).unwrap();
        assert!(matches!(
            StateDirectory::beneath(&directory.path().join("var/state"), &root),
            Err(StateDirectoryError::InsideRoot { .. })
        ));
        let elsewhere = tempfile::tempdir().unwrap();
        let one = StateDirectory::beneath(elsewhere.path(), &root).unwrap();
        let machine = StateDirectory::beneath(elsewhere.path(), &Root::real()).unwrap();
        assert_ne!(one, machine);
        assert_eq!(machine.path(), elsewhere.path().join("machine"));
    }
}
