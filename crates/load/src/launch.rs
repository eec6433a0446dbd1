//! What a workload asks to have started: plain data, nothing of it done yet.

use std::time::Duration;

use knobstat_data::{CpuList, Priority};

/// Everything about the process of one run, and about the steps around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The timed process.
    pub command: Command,
    /// Where the process starts; absent: where the harness is.
    pub working_directory: Option<String>,
    /// Variables set in addition to what is inherited.
    pub environment: Vec<(String, String)>,
    /// The CPUs that it may run on; absent: as inherited.
    pub cpus: Option<CpuList>,
    /// Its scheduling priority; absent: as inherited.
    pub priority: Option<Priority>,
    /// Whose rights it has.
    pub identity: Identity,
    /// When it is ended; absent: never.
    pub timeout: Option<Duration>,
    /// The exit codes that are success.
    pub allowed_exit: Vec<i32>,
    /// Its standard input.
    pub input: Stream,
    /// Its standard output and standard error.
    pub output: Output,
    /// Once before the first run of a treatment.
    pub set_up: Option<Command>,
    /// Before every run, outside the timing.
    pub prepare: Option<Command>,
    /// After every run, outside the timing.
    pub cleanup: Option<Command>,
    /// Once after the last run of a treatment.
    pub tear_down: Option<Command>,
}

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A program looked up in `PATH`, and its arguments.
    Program {
        /// Its name or path.
        name: String,
        /// The arguments after the name.
        arguments: Vec<String>,
    },
    /// This program itself, with these arguments.
    Itself {
        /// The arguments after the name.
        arguments: Vec<String>,
    },
}

/// Whose rights a process has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The user who called: under `sudo` the one who called `sudo`.
    Invoking,
    /// The user of this name or number.
    Named(String),
    /// The harness's own, root included: for built-in work that needs it.
    Harness,
}

/// Where a stream comes from or goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stream {
    /// `/dev/null`.
    Null,
    /// A file: read from its beginning in every run, or written anew in every run.
    File(String),
    /// The harness's own.
    Inherit,
}

/// Where standard output and standard error go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Both to one stream; nothing of it is read.
    Stream(Stream),
    /// Both to a file that is read after the run.
    ReadFile(String),
    /// Each to a file in memory that is read after the run.
    Captured,
}

impl Launch {
    /// A process with nothing asked for beyond its command: the invoking user's rights, no
    /// input, no output, no steps.
    pub fn new(command: Command) -> Self {
        Self {
            command,
            working_directory: None,
            environment: Vec::new(),
            cpus: None,
            priority: None,
            identity: Identity::Invoking,
            timeout: None,
            allowed_exit: vec![0],
            input: Stream::Null,
            output: Output::Stream(Stream::Null),
            set_up: None,
            prepare: None,
            cleanup: None,
            tear_down: None,
        }
    }
}
