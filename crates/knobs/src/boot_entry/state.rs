//! What is known of an experiment's boots while the machine reboots: a file of root's own.

use std::io;
use std::path::PathBuf;

use knobstat_data::messages::{BootLoader, Resume};
use knobstat_sys::durable;
use serde::{Deserialize, Serialize};

use super::error::BootError;
use super::requirements::Base;
use super::sequence::Asked;
use crate::state_directory::StateDirectory;

/// The version of the file.
const VERSION: u32 = 1;

/// What is known of an experiment's boots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    version: u32,
    /// The experiment.
    pub experiment: String,
    /// The program that continues it.
    pub program: PathBuf,
    /// How it is started.
    pub resume: Resume,
    /// How the machine boots by itself.
    pub base: Base,
    /// By what it is booted.
    pub loader: BootLoader,
    /// Whether that remembered an order before the first of ours.
    pub remembered_an_order: bool,
    /// Whether a directory had to be made for the unit.
    pub made_directory: bool,
    /// Whether a hardware watchdog was left counting.
    pub watchdog: bool,
    /// The boot that was asked for last.
    pub asked: Option<Asked>,
}

/// How an experiment is continued after a reboot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumption {
    /// The experiment.
    pub experiment: String,
    /// The program.
    pub program: PathBuf,
    /// How it is started.
    pub resume: Resume,
}

impl State {
    /// What is known at the first boot of an experiment.
    pub fn new(
        experiment: String,
        program: PathBuf,
        resume: Resume,
        base: Base,
        loader: BootLoader,
    ) -> Self {
        Self {
            version: VERSION,
            experiment,
            program,
            resume,
            base,
            loader,
            remembered_an_order: false,
            made_directory: false,
            watchdog: false,
            asked: None,
        }
    }

    /// Where it lies.
    pub fn path(directory: &StateDirectory) -> PathBuf {
        directory.path().join("boots.json")
    }

    /// What is known, where an experiment is in the midst of its boots.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn load(directory: &StateDirectory) -> Result<Option<Self>, BootError> {
        let path = Self::path(directory);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                return Err(BootError::File {
                    path,
                    action: "read",
                    source,
                });
            }
        };
        match serde_json::from_slice::<Self>(&bytes) {
            Ok(state) if state.version == VERSION => Ok(Some(state)),
            Ok(state) => Err(BootError::State {
                path,
                reason: format!("it is of version {}", state.version),
            }),
            Err(error) => Err(BootError::State {
                path,
                reason: error.to_string(),
            }),
        }
    }

    /// Keeps it, on the disk before this returns.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, directory: &StateDirectory) -> Result<(), BootError> {
        let path = Self::path(directory);
        let written = |source| BootError::File {
            path: path.clone(),
            action: "written",
            source,
        };
        let text = serde_json::to_vec_pretty(self).map_err(|error| written(error.into()))?;
        directory.create().map_err(written)?;
        durable::replace(&path, &text).map_err(written)
    }

    /// Forgets it. None there is no error.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(directory: &StateDirectory) -> Result<(), BootError> {
        let path = Self::path(directory);
        if !directory.path().exists() {
            return Ok(());
        }
        durable::remove(&path).map_err(|source| BootError::File {
            path,
            action: "removed",
            source,
        })?;
        // One with a journal in it stays.
        let _ = std::fs::remove_dir(directory.path());
        Ok(())
    }

    /// How the experiment is continued.
    pub fn resumption(self) -> Resumption {
        Resumption {
            experiment: self.experiment,
            program: self.program,
            resume: self.resume,
        }
    }
}
