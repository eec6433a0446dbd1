//! A laid-out machine, and an agent that has taken it, as a test talks to it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::ops::{Deref, DerefMut};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use knobstat_knobs::{BeginError, Knobs, Options, StateDirectory};
use knobstat_sys::pidfd::PidFd;
use knobstat_sys::root::Root;

pub const GOVERNOR: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
pub const HUGE_PAGES: &str = "sys/kernel/mm/transparent_hugepage/enabled";
pub const BOOT_ID: &str = "proc/sys/kernel/random/boot_id";

/// An agent whose guardian can be held from here.
pub struct Guarded {
    pub agent: Agent,
    pub guardian: PidFd,
}

impl Deref for Guarded {
    type Target = Agent;

    fn deref(&self) -> &Agent {
        &self.agent
    }
}

impl DerefMut for Guarded {
    fn deref_mut(&mut self) -> &mut Agent {
        &mut self.agent
    }
}

/// A laid-out machine.
pub struct Machine {
    pub tree: tempfile::TempDir,
    pub state: tempfile::TempDir,
}

/// An agent that has taken a machine.
pub struct Agent {
    pub child: Child,
    pub requests: ChildStdin,
    pub replies: BufReader<ChildStdout>,
    /// The guardian's number, as the agent knows it.
    pub guardian_pid: u32,
    pub said: String,
}

impl Machine {
    pub fn new() -> Self {
        let machine = Self {
            tree: tempfile::tempdir().unwrap(),
            state: tempfile::tempdir().unwrap(),
        };
        machine.write(GOVERNOR, "powersave\n");
        machine.write(HUGE_PAGES, "always [madvise] never\n");
        machine.write(BOOT_ID, "first\n");
        machine
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.tree.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.tree.path().join(path)).unwrap()
    }

    pub fn root(&self) -> Root {
        Root::laid_out(self.tree.path()).unwrap()
    }

    pub fn state(&self) -> StateDirectory {
        StateDirectory::beneath(self.state.path(), &self.root()).unwrap()
    }

    pub fn agent(&self, experiment: &str) -> Guarded {
        let mut program = Command::new("/proc/self/exe");
        program.arg0("knobstat");
        let agent = self.agent_by(program, experiment);
        Guarded {
            guardian: PidFd::open(agent.guardian_pid).unwrap(),
            agent,
        }
    }

    /// An agent that is started by a program, which is this one or runs the words after its own.
    pub fn agent_by(&self, mut program: Command, experiment: &str) -> Agent {
        let mut child = program
            .arg("agent")
            .args([self.tree.path(), self.state.path()])
            .arg(id(experiment))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut replies = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        replies.read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix("guardian ").unwrap_or_else(|| {
            panic!("the agent said {line:?}");
        });
        let (pid, said) = rest.split_once(' ').unwrap_or((rest, ""));
        Agent {
            requests: child.stdin.take().unwrap(),
            guardian_pid: pid.parse().unwrap(),
            said: said.to_owned(),
            replies,
            child,
        }
    }

    pub fn begin(&self, experiment: &str, patience: Duration) -> Result<Vec<String>, BeginError> {
        let options = Options {
            patience,
            ..Options::default()
        };
        let mut knobs = Knobs::new(self.root(), Vec::new(), self.state(), options);
        let put_back = knobs.begin(&id(experiment).parse().unwrap())?;
        knobs.release().unwrap();
        Ok(put_back)
    }

    pub fn assert_turned(&self) {
        assert_eq!(self.read(GOVERNOR), "performance\n");
        assert_eq!(self.read(HUGE_PAGES), "never\n");
    }

    pub fn assert_back(&self) {
        assert_eq!(self.read(GOVERNOR), "powersave\n");
        assert_eq!(self.read(HUGE_PAGES), "always [madvise] never\n");
        let left: Vec<_> = fs::read_dir(self.state.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

impl Agent {
    pub fn ask(&mut self, request: &str) -> String {
        writeln!(self.requests, "{request}").unwrap();
        let mut line = String::new();
        self.replies.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    pub fn turn(&mut self) {
        assert_eq!(
            self.ask("apply governor=performance thp=never"),
            "changed true"
        );
    }

    /// Has nothing more to ask.
    pub fn end(self) {
        drop(self.requests);
        let mut child = self.child;
        assert!(child.wait().unwrap().success());
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// An experiment by its short name. Another run of these tests at the same time has others: what
/// is left of an experiment is ended wherever on the machine it is.
pub fn id(name: &str) -> String {
    format!("{name}{:08x}", std::process::id())
}
