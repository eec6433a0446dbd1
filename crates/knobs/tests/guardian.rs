//! The agent ends in every way, and the machine is put back: by the agent, by its guardian, or by
//! the next experiment. The machines are trees on the disk; agent and guardian are this program.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::ops::{Deref, DerefMut};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use knobstat_data::ExperimentId;
use knobstat_data::messages::{Refusal, RefusalKind};
use knobstat_data::words::Setting;
use knobstat_knobs::{
    BeginError, Knobs, Options, StateDirectory, guardian, plan_put_back, put_back,
};
use knobstat_sys::pidfd::PidFd;
use knobstat_sys::processes;
use knobstat_sys::root::Root;
use knobstat_sys::session;
use libtest_mimic::{Arguments, Failed, Trial};

const GOVERNOR: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
const HUGE_PAGES: &str = "sys/kernel/mm/transparent_hugepage/enabled";
const BOOT_ID: &str = "proc/sys/kernel/random/boot_id";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [guardian::COMMAND, ..] => {
            return ExitCode::from(u8::try_from(guardian::main(&words[1..])).unwrap_or(1));
        }
        ["agent", root, state, experiment] => {
            agent(root, state, experiment);
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let tests: [(&str, fn()); 8] = [
        ("an_agent_that_ends_in_order", an_agent_that_ends_in_order),
        ("an_agent_that_is_killed", an_agent_that_is_killed),
        (
            "a_guardian_deaf_to_polite_signals",
            a_guardian_deaf_to_polite_signals,
        ),
        ("without_a_guardian_no_writes", without_a_guardian_no_writes),
        ("both_killed", both_killed),
        ("one_experiment_at_a_time", one_experiment_at_a_time),
        (
            "a_guardian_that_is_still_at_work",
            a_guardian_that_is_still_at_work,
        ),
        ("a_journal_of_an_earlier_boot", a_journal_of_an_earlier_boot),
    ];
    let in_containers: [(&str, fn()); 2] = [
        ("brought_into_a_container", brought_into_a_container),
        ("a_container_that_is_killed", a_container_that_is_killed),
    ];
    let trial = |(name, test)| Trial::test(name, move || within_the_limit(test));
    let refused = containers_are_refused();
    let in_containers = in_containers.map(trial).map(|trial| match &refused {
        Some(reason) => trial.with_kind(reason.as_str()).with_ignored_flag(true),
        None => trial,
    });
    let trials = tests.map(trial).into_iter().chain(in_containers).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// What makes a PID namespace and runs the words after it there.
fn container() -> Command {
    let mut program = Command::new("unshare");
    if !session::is_root() {
        program.args(["--user", "--map-root-user"]);
    }
    program.args(["--pid", "--fork", "--mount-proc", "--kill-child"]);
    program
}

/// Why there can be no PID namespace here, as in most containers, and for an ordinary user where
/// user namespaces are forbidden; none where there can. Where nothing may be skipped, root has them.
fn containers_are_refused() -> Option<String> {
    let required = std::env::var_os("KNOBSTAT_REQUIRE").is_some_and(|value| !value.is_empty());
    if required && session::is_root() {
        return None;
    }
    match container().arg("true").output() {
        Ok(tried) if tried.status.success() => None,
        Ok(tried) => Some(String::from_utf8_lossy(&tried.stderr).trim().to_owned()),
        Err(error) => Some(format!("unshare cannot be started: {error}")),
    }
}

/// Far more than any of these takes, on any machine.
const LIMIT: Duration = Duration::from_secs(600);

/// Carries a test out. One that is not over at the limit has failed, whatever it waits for.
fn within_the_limit(test: fn()) -> Result<(), Failed> {
    let (done, over) = channel();
    let carried_out = std::thread::spawn(move || {
        test();
        // Nobody waits any more for one that comes late.
        let _ = done.send(());
    });
    match over.recv_timeout(LIMIT) {
        Err(RecvTimeoutError::Timeout) => Err(Failed::from(format!(
            "it is not over after {LIMIT:?}; there are: {}",
            those_about().join("; ")
        ))),
        // It is over, well or by a panic, which is handed on.
        Ok(()) | Err(RecvTimeoutError::Disconnected) => carried_out
            .join()
            .map_err(|panic| std::panic::resume_unwind(panic)),
    }
}

/// The agents and guardians that are there, and what they wait for.
fn those_about() -> Vec<String> {
    let about = |pid: u32| {
        let words = processes::command_line(pid)?.join(" ");
        let waits = fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default();
        (words.contains(guardian::COMMAND) || words.contains(" agent "))
            .then(|| format!("{pid} {words} in {waits}"))
    };
    let all = processes::all().into_iter();
    all.filter_map(|process| about(process.pid)).collect()
}

/// The agent: carries out what its standard input says, one line at a time.
fn agent(root: &str, state: &str, experiment: &str) {
    let root = Root::laid_out(root).unwrap();
    let state = StateDirectory::beneath(Path::new(state), &root).unwrap();
    let mut knobs = Knobs::new(root, Vec::new(), state, Options::default());
    let put_back = knobs.begin(&experiment.parse().unwrap()).unwrap();
    println!(
        "guardian {} {}",
        knobs.guardian_pid().unwrap_or_default(),
        put_back.join(", ")
    );
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        match line.split_once(' ') {
            Some(("apply", settings)) => {
                let settings: Vec<Setting> = settings
                    .split(' ')
                    .filter_map(|setting| setting.split_once('='))
                    .map(|(factor, level)| Setting::new(factor, level))
                    .collect();
                match knobs.apply(&settings) {
                    Ok(applied) => println!("changed {}", applied.changed),
                    Err(error) => println!("refused {error}"),
                }
            }
            _ if line == "release" => {
                let restoration = knobs.release().unwrap();
                println!("released {} failed", restoration.failed.len());
            }
            _ => panic!("{line} is no request"),
        }
    }
}

/// An agent whose guardian can be held from here.
struct Guarded {
    agent: Agent,
    guardian: PidFd,
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
struct Machine {
    tree: tempfile::TempDir,
    state: tempfile::TempDir,
}

/// An agent that has taken a machine.
struct Agent {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
    /// The guardian's number, as the agent knows it.
    guardian_pid: u32,
    said: String,
}

impl Machine {
    fn new() -> Self {
        let machine = Self {
            tree: tempfile::tempdir().unwrap(),
            state: tempfile::tempdir().unwrap(),
        };
        machine.write(GOVERNOR, "powersave\n");
        machine.write(HUGE_PAGES, "always [madvise] never\n");
        machine.write(BOOT_ID, "first\n");
        machine
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.tree.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.tree.path().join(path)).unwrap()
    }

    fn root(&self) -> Root {
        Root::laid_out(self.tree.path()).unwrap()
    }

    fn state(&self) -> StateDirectory {
        StateDirectory::beneath(self.state.path(), &self.root()).unwrap()
    }

    fn agent(&self, experiment: &str) -> Guarded {
        let mut program = Command::new("/proc/self/exe");
        program.arg0("knobstat");
        let agent = self.agent_by(program, experiment);
        Guarded {
            guardian: PidFd::open(agent.guardian_pid).unwrap(),
            agent,
        }
    }

    /// An agent whose session began outside of the PID namespace that it runs in, as where a
    /// container's manager brings a program into a container that runs already.
    fn agent_in_a_container(&self, experiment: &str) -> Agent {
        let mut program = container();
        program.arg(std::env::current_exe().unwrap());
        self.agent_by(program, experiment)
    }

    fn agent_by(&self, mut program: Command, experiment: &str) -> Agent {
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

    fn begin(&self, experiment: &str, patience: Duration) -> Result<Vec<String>, BeginError> {
        let options = Options {
            patience,
            ..Options::default()
        };
        let mut knobs = Knobs::new(self.root(), Vec::new(), self.state(), options);
        let put_back = knobs.begin(&id(experiment).parse().unwrap())?;
        knobs.release().unwrap();
        Ok(put_back)
    }

    fn assert_turned(&self) {
        assert_eq!(self.read(GOVERNOR), "performance\n");
        assert_eq!(self.read(HUGE_PAGES), "never\n");
    }

    fn assert_back(&self) {
        assert_eq!(self.read(GOVERNOR), "powersave\n");
        assert_eq!(self.read(HUGE_PAGES), "always [madvise] never\n");
        let left: Vec<_> = fs::read_dir(self.state.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

impl Agent {
    fn ask(&mut self, request: &str) -> String {
        writeln!(self.requests, "{request}").unwrap();
        let mut line = String::new();
        self.replies.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    fn turn(&mut self) {
        assert_eq!(
            self.ask("apply governor=performance thp=never"),
            "changed true"
        );
    }

    /// Has nothing more to ask.
    fn end(self) {
        drop(self.requests);
        let mut child = self.child;
        assert!(child.wait().unwrap().success());
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// An experiment by its short name. Another run of these tests at the same time has others: what
/// is left of an experiment is ended wherever on the machine it is.
fn id(name: &str) -> String {
    format!("{name}{:08x}", std::process::id())
}

/// What an experiment's run left running, out of reach of its group and session.
fn left_over(experiment: &str) -> Child {
    Command::new("setsid")
        .args(["sleep", "1000"])
        .env(guardian::MARK, id(experiment))
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

fn signal(name: &str, pid: u32) {
    let status = Command::new("kill")
        .args(["-s", name, &pid.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

fn an_agent_that_ends_in_order() {
    let machine = Machine::new();
    let mut agent = machine.agent("a1");
    agent.turn();
    machine.assert_turned();
    assert_eq!(agent.ask("release"), "released 0 failed");
    machine.assert_back();
    assert!(agent.guardian.wait_ended(None).unwrap());
    // The machine is free although the agent is still there.
    assert_eq!(
        machine.begin("a2", Duration::ZERO).unwrap(),
        Vec::<String>::new()
    );
    agent.agent.end();
}

fn an_agent_that_is_killed() {
    let machine = Machine::new();
    let mut agent = machine.agent("b1");
    agent.turn();
    let mut left_over = left_over("b1");
    agent.kill();
    assert!(agent.guardian.wait_ended(None).unwrap());
    machine.assert_back();
    assert!(!left_over.wait().unwrap().success());
    assert_eq!(processes::marked(guardian::MARK, &id("b1")), []);
}

fn a_guardian_deaf_to_polite_signals() {
    let machine = Machine::new();
    let mut agent = machine.agent("c1");
    agent.turn();
    for name in ["INT", "TERM", "HUP", "QUIT"] {
        signal(name, agent.guardian_pid);
    }
    // It still has its work to do, and does it.
    agent.kill();
    assert!(agent.guardian.wait_ended(None).unwrap());
    machine.assert_back();
}

fn without_a_guardian_no_writes() {
    let machine = Machine::new();
    let mut agent = machine.agent("d1");
    signal("KILL", agent.guardian_pid);
    assert!(agent.guardian.wait_ended(None).unwrap());
    let reply = agent.ask("apply governor=performance");
    assert!(reply.starts_with("refused the guardian"), "{reply}");
    machine.assert_back();
    agent.kill();
}

fn both_killed() {
    let machine = Machine::new();
    let mut agent = machine.agent("e1");
    agent.turn();
    let mut left_over = left_over("e1");
    signal("KILL", agent.guardian_pid);
    assert!(agent.guardian.wait_ended(None).unwrap());
    agent.kill();
    machine.assert_turned();
    // Somebody looks first: nothing is changed by that.
    let planned = plan_put_back(&machine.root(), &machine.state(), &Options::default()).unwrap();
    assert_eq!(planned.put_back.len(), 2);
    machine.assert_turned();
    // The next experiment puts back what was left, says so, and goes on.
    let mut next = machine.agent("e2");
    assert!(next.said.contains("back to powersave"), "{}", next.said);
    assert!(
        next.said
            .contains(&format!("ended what experiment {} left", id("e1")))
    );
    assert!(!left_over.wait().unwrap().success());
    assert_eq!(next.ask("release"), "released 0 failed");
    machine.assert_back();
    next.kill();
}

fn one_experiment_at_a_time() {
    let machine = Machine::new();
    let mut agent = machine.agent("f1");
    let error = machine.begin("f2", Duration::from_secs(3600)).unwrap_err();
    let BeginError::Busy(holder) = &error else {
        panic!("{error}");
    };
    let experiment: ExperimentId = id("f1").parse().unwrap();
    assert_eq!(holder.experiment.as_ref(), Some(&experiment));
    assert_eq!(holder.pid, Some(agent.child.id()));
    assert!(!holder.putting_back);
    let refusal = Refusal::from(&error);
    assert_eq!(refusal.kind, RefusalKind::Busy);
    assert!(refusal.cause.contains(&id("f1")), "{}", refusal.cause);
    // Putting back is no way around it.
    assert!(matches!(
        put_back(&machine.root(), &machine.state(), &Options::default()),
        Err(BeginError::Busy(_))
    ));
    // Another machine is free.
    let other = Machine::new();
    assert!(other.begin("f3", Duration::ZERO).is_ok());
    agent.kill();
    assert!(agent.guardian.wait_ended(None).unwrap());
}

fn a_guardian_that_is_still_at_work() {
    let machine = Machine::new();
    let mut agent = machine.agent("90");
    agent.turn();
    signal("STOP", agent.guardian_pid);
    agent.kill();
    let error = machine.begin("91", Duration::ZERO).unwrap_err();
    let BeginError::Busy(holder) = &error else {
        panic!("{error}");
    };
    assert!(holder.putting_back, "{holder:?}");
    signal("CONT", agent.guardian_pid);
    // However long it takes: it is waited for.
    machine.begin("91", Duration::from_secs(3600)).unwrap();
    machine.assert_back();
}

fn a_journal_of_an_earlier_boot() {
    let machine = Machine::new();
    let mut agent = machine.agent("a9");
    agent.turn();
    signal("KILL", agent.guardian_pid);
    assert!(agent.guardian.wait_ended(None).unwrap());
    agent.kill();
    // As after a reboot: other settings, another boot.
    machine.write(GOVERNOR, "schedutil\n");
    machine.write(BOOT_ID, "second\n");
    let restoration = put_back(&machine.root(), &machine.state(), &Options::default()).unwrap();
    assert!(restoration.put_back[0].contains("earlier boot"));
    assert_eq!(machine.read(GOVERNOR), "schedutil\n");
    assert!(fs::read_dir(machine.state.path()).unwrap().next().is_none());
}

fn brought_into_a_container() {
    let machine = Machine::new();
    let mut agent = machine.agent_in_a_container("c8");
    agent.turn();
    machine.assert_turned();
    assert_eq!(agent.ask("release"), "released 0 failed");
    machine.assert_back();
    agent.end();
}

/// Its processes end at once and together, the guardian among them; the journal is what is left.
fn a_container_that_is_killed() {
    let machine = Machine::new();
    let mut agent = machine.agent_in_a_container("c9");
    agent.turn();
    // The first process of the namespace, which takes the others with it and ends last.
    let started = agent.child.id();
    let children = fs::read_to_string(format!("/proc/{started}/task/{started}/children")).unwrap();
    let first = PidFd::open(children.trim().parse().unwrap()).unwrap();
    agent.kill();
    assert!(first.wait_ended(None).unwrap());
    let put_back = machine.begin("ca", Duration::ZERO).unwrap();
    assert!(put_back.join(", ").contains("back to powersave"));
    machine.assert_back();
}
