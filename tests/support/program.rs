//! The program, started with a place of its own for its store and its state.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::limit::{Limit, MARK};

/// A place where one test's store, state and files live, and a bound on what is started there.
pub struct Place {
    // The first to go: what still runs is ended before its files are removed.
    _limit: Limit,
    directory: tempfile::TempDir,
}

impl Place {
    /// An empty place.
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        Self {
            _limit: Limit::on(directory.path()),
            directory,
        }
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A file in it with this text.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).expect("a file of the test");
        path
    }

    /// The program on the machine itself, whose settings it may not change. An experiment that runs
    /// there excludes every other, of other tests too: tests run theirs on laid-out machines.
    pub fn knobstat(&self) -> Command {
        // A shell has what it runs in the background ignore SIGINT, and nohup SIGHUP; the program
        // respects that, so the tests begin with both as a terminal has them.
        self.knobstat_started_by(&["env", "--default-signal=INT,HUP"])
    }

    /// The same, started by a command that takes the program and its arguments as its last words.
    pub fn knobstat_started_by(&self, words: &[&str]) -> Command {
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .arg(env!("CARGO_BIN_EXE_knobstat"));
        command
            .env("KNOBSTAT_NO_KNOBS", "1")
            .env(MARK, self.path())
            .env("KNOBSTAT_STORE", self.path().join("store.sqlite"))
            .env("KNOBSTAT_STATE", self.path().join("state"))
            .env("XDG_STATE_HOME", self.path().join("state-home"))
            .env("XDG_DATA_HOME", self.path().join("data-home"))
            .env("NO_COLOR", "1")
            .env_remove("SUDO_UID")
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdin(std::process::Stdio::null());
        command
    }
}

/// Runs a command to its end.
pub fn output(command: &mut Command) -> Ended {
    Ended(command.output().expect("the program starts"))
}

/// A command that ended.
pub struct Ended(pub Output);

impl Ended {
    /// What it wrote to standard output.
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    /// What it wrote to standard error.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// Its exit code.
    pub fn code(&self) -> Option<i32> {
        self.0.status.code()
    }

    /// Fails unless it ended with this code; shows what it said.
    #[track_caller]
    pub fn must_exit(self, code: i32) -> Self {
        assert_eq!(
            self.code(),
            Some(code),
            "{:?}\n--- stdout\n{}\n--- stderr\n{}",
            self.0.status,
            self.stdout(),
            self.stderr()
        );
        self
    }

    /// Its standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout())
            .unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.stdout(), self.stderr()))
    }
}
