//! The process that puts the machine back when the agent has ended in any way.
//!
//! It is the same program in a session of its own. It inherits the machine's lock as descriptor 0
//! and a descriptor of the agent as 1, and sits in one poll until the agent has ended; then it
//! ends what is left of the run's processes and puts back what the journal names. An agent that
//! ended in order has left an empty journal.

use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use knobstat_data::ExperimentId;
use knobstat_sys::lock::MachineLock;
use knobstat_sys::pidfd::PidFd;
use knobstat_sys::root::Root;
use knobstat_sys::session;
use thiserror::Error;

use crate::control_group;
use crate::files::RootedFiles;
use crate::journal::Journal;
use crate::knob::Refused;
use crate::leftovers::end_left_over_processes;
use crate::restore::{self, Options};
use crate::state_directory::StateDirectory;

/// The hidden command by which the program becomes a guardian.
pub const COMMAND: &str = "guardian";

/// The variable that marks every process of an experiment's runs.
pub const MARK: &str = "KNOBSTAT_EXPERIMENT";

/// What a guardian says when it stands.
const READY: &str = "ready";

/// Why there is no guardian.
#[derive(Debug, Error)]
pub enum GuardianError {
    /// It could not be started.
    #[error(
        "the guardian that puts the machine back could not be started ({0}), and without it nothing is changed; look whether /proc is mounted and processes can be started here"
    )]
    Start(#[from] io::Error),
    /// It was started and did not come to stand.
    #[error(
        "the guardian that puts the machine back did not come to stand ({0}), and without it nothing is changed; try again, and report this if it stays"
    )]
    NotReady(String),
}

/// A guardian, as the agent that it watches sees it.
#[derive(Debug)]
pub struct Guardian {
    child: Child,
    held: PidFd,
}

/// What a guardian is told on its command line, where others can read it too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// The experiment that has the machine.
    pub experiment: ExperimentId,
    /// The agent's number.
    pub agent: u32,
    /// When the agent was started, in clock ticks since boot.
    pub agent_started: u64,
    /// The root, resolved.
    pub root: PathBuf,
    /// The state directory.
    pub state: PathBuf,
    /// Whether values of somebody else are overwritten.
    pub overwrite_others: bool,
}

impl Guardian {
    /// Starts a guardian of the calling process and waits until it stands.
    ///
    /// # Errors
    /// When it does not: then nothing may be changed.
    pub fn start(
        program: &Path,
        lock: &MachineLock,
        arguments: &Arguments,
    ) -> Result<Self, GuardianError> {
        let mut child = Command::new(program)
            .arg0("knobstat")
            .arg(COMMAND)
            .args(arguments.words())
            .current_dir("/")
            .env_remove(MARK)
            .stdin(Stdio::from(lock.try_clone()?))
            .stdout(Stdio::from(OwnedFd::from(PidFd::of_self()?)))
            .stderr(Stdio::piped())
            .spawn()?;
        let mut said = String::new();
        if let Some(stderr) = child.stderr.take() {
            BufReader::new(stderr).read_line(&mut said)?;
        }
        let held = PidFd::open(child.id())?;
        if said.trim() == READY {
            return Ok(Self { child, held });
        }
        let status = child.wait()?;
        let said = said.trim();
        Err(GuardianError::NotReady(if said.is_empty() {
            format!("it said nothing and ended with {status}")
        } else {
            said.to_owned()
        }))
    }

    /// Its number: it is a child of the agent that no run started.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it is there.
    pub fn is_there(&self) -> bool {
        self.held.has_ended().is_ok_and(|ended| !ended)
    }

    /// Ends it: everything is back, and it has nothing to do. With it goes its hold on the lock.
    ///
    /// # Errors
    /// When it cannot be ended or waited for.
    pub fn dismiss(mut self) -> io::Result<()> {
        self.held.kill()?;
        self.child.wait()?;
        control_group::remove_empty(control_group::hierarchy());
        Ok(())
    }
}

impl Arguments {
    fn words(&self) -> Vec<std::ffi::OsString> {
        let mut words = Vec::new();
        let mut pair = |name: &str, value: &OsStr| {
            words.push(name.into());
            words.push(value.to_owned());
        };
        pair("--experiment", self.experiment.as_str().as_ref());
        pair("--agent", self.agent.to_string().as_ref());
        pair("--agent-started", self.agent_started.to_string().as_ref());
        pair("--root", self.root.as_os_str());
        pair("--state", self.state.as_os_str());
        if self.overwrite_others {
            words.push("--overwrite-others".into());
        }
        words
    }

    /// Reads the words after the command's name.
    ///
    /// # Errors
    /// What is wrong with them, in one sentence.
    pub fn parse<W: AsRef<OsStr>>(words: &[W]) -> Result<Self, String> {
        let mut experiment = None;
        let mut agent = None;
        let mut agent_started = None;
        let mut root = None;
        let mut state = None;
        let mut overwrite_others = false;
        let mut words = words.iter().map(AsRef::as_ref);
        while let Some(word) = words.next() {
            let name = word.to_string_lossy();
            if name == "--overwrite-others" {
                overwrite_others = true;
                continue;
            }
            let value = words.next().ok_or(format!("{name} has no value"))?;
            match &*name {
                "--experiment" => experiment = text(value).parse().ok(),
                "--agent" => agent = text(value).parse().ok(),
                "--agent-started" => agent_started = text(value).parse().ok(),
                "--root" => root = Some(PathBuf::from(value)),
                "--state" => state = Some(PathBuf::from(value)),
                other => return Err(format!("{other} is no option of {COMMAND}")),
            }
        }
        let lacking = |name: &str| format!("{COMMAND} needs a valid --{name}");
        Ok(Self {
            experiment: experiment.ok_or_else(|| lacking("experiment"))?,
            agent: agent.ok_or_else(|| lacking("agent"))?,
            agent_started: agent_started.ok_or_else(|| lacking("agent-started"))?,
            root: root.ok_or_else(|| lacking("root"))?,
            state: state.ok_or_else(|| lacking("state"))?,
            overwrite_others,
        })
    }
}

fn text(word: &OsStr) -> &str {
    std::str::from_utf8(word.as_bytes()).unwrap_or_default()
}

/// The guardian itself: returns the exit code once the agent has ended and the machine is back.
/// The arguments are those after the command's name.
///
/// Exit codes: 0 done, 2 started wrongly, 3 a setting could not be put back, 4 the journal
/// failed.
pub fn main<W: AsRef<OsStr>>(words: &[W]) -> i32 {
    let stood = stand(words);
    let mut stderr = io::stderr();
    let (watch, arguments) = match stood {
        Ok(stood) => {
            // An agent that does not read this has ended, which is seen below.
            let _ = writeln!(stderr, "{READY}");
            stood
        }
        Err(error) => {
            let _ = writeln!(stderr, "{error}");
            return 2;
        }
    };
    let code = match watch.agent.wait_ended(None) {
        Ok(_) => put_back(&arguments),
        Err(_) => 2,
    };
    control_group::remove_empty(control_group::hierarchy());
    // One that is in no group of its own has none to leave.
    let _ = control_group::leave(control_group::hierarchy(), std::process::id());
    code
}

/// What a guardian holds while it watches.
struct Watch {
    agent: PidFd,
    /// Held, not used: the machine stays taken until it is put back.
    _lock: MachineLock,
}

fn stand<W: AsRef<OsStr>>(words: &[W]) -> Result<(Watch, Arguments), String> {
    let arguments = Arguments::parse(words)?;
    let told = |what: &str, error: &dyn Display| format!("{what}: {error}");
    session::detach().map_err(|error| told("no session of its own", &error))?;
    if arguments.root == Path::new("/") && !Refused::from_environment().0 {
        // Where it may not, a manager that ends the whole control group ends the guardian too.
        let _ = control_group::enter(control_group::hierarchy(), std::process::id());
    }
    // Only with a privilege; without it the guardian is as mortal as the agent.
    let _ = session::survive_memory_shortage();
    let lock = io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .and_then(MachineLock::from_inherited)
        .map_err(|error| told("the machine's lock was not inherited", &error))?;
    let agent = io::stdout()
        .as_fd()
        .try_clone_to_owned()
        .map(PidFd::from_inherited)
        .map_err(|error| told("the agent was not inherited", &error))?;
    agent
        .has_ended()
        .map_err(|error| told("the agent cannot be watched", &error))?;
    Ok((Watch { agent, _lock: lock }, arguments))
}

fn put_back(arguments: &Arguments) -> i32 {
    // Nobody is left to be told which they were.
    let _ = end_left_over_processes(&arguments.experiment);
    let Ok(root) = Root::laid_out(&arguments.root) else {
        return 3;
    };
    let files = RootedFiles::new(root, StateDirectory::at(arguments.state.clone()));
    let options = Options {
        overwrite_others: arguments.overwrite_others,
        refused: Refused::from_environment(),
    };
    let mut journal = match Journal::load(&files) {
        Ok(Some(journal)) => journal,
        Ok(None) => return 0,
        Err(_) => return 4,
    };
    match restore::restore(&files, &mut journal, options) {
        Ok(restoration) if restoration.failed.is_empty() => 0,
        Ok(_) => 3,
        Err(_) => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_guardian_is_told_can_be_read_by_others() {
        let arguments = Arguments {
            experiment: "0123456789ab".parse().unwrap(),
            agent: 12,
            agent_started: 345,
            root: PathBuf::from("/"),
            state: PathBuf::from("/var/lib/knobstat/machine"),
            overwrite_others: true,
        };
        assert_eq!(Arguments::parse(&arguments.words()), Ok(arguments));
        for words in [
            vec!["--experiment"],
            vec!["--nonsense", "x"],
            vec!["--experiment", "not hexadecimal"],
            vec![],
        ] {
            assert!(Arguments::parse(&words).is_err());
        }
    }
}
