//! The harness is silent while a run is measured: what its three processes did meanwhile is
//! counted from outside, by the kernel, while a run of one second goes on and progress is shown on
//! a terminal.
//!
//! A process switches voluntarily when it goes to sleep, so that these switches count its wake-ups
//! and are its own doing: they are held to the limits without allowance. It switches
//! involuntarily when the scheduler gives its CPU to somebody else, which other load on the
//! machine can bring about only while it is awake. So a process that slept all along has none of
//! either kind, whatever else runs, and that is what is asked of the guardian.

use std::io::Read;

use crate::support::guardian::guardian_of;
use crate::support::machine::Machine;
use crate::support::pipe::{Pipe, watched};
use crate::support::processes::children;
use crate::support::program::{Place, output};
use crate::support::terminal::Terminal;

/// The workload: it says that it runs, sleeps for the second of the run, says that the second is
/// over, and waits for an answer.
const FILE: &str = r#"
name = "a second of silence"
[workload]
kind = "command"
command = ["sh", "-c", "echo >READY; sleep 1; echo >OVER; read answer <GO"]
warmup_runs = 0
[factors]
clocksource = ["hpet", "acpi_pm"]
[design]
replicates = 1
"#;

/// What the kernel counts of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    voluntary: u64,
    involuntary: u64,
    /// Nanoseconds on a CPU.
    ran: u64,
}

impl Seen {
    fn of(pid: i32) -> Self {
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        assert_eq!(threads.count(), 1, "process {pid} has one thread");
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let field = |name: &str| -> u64 {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        };
        let schedstat = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap();
        Self {
            voluntary: field("voluntary_ctxt_switches:"),
            involuntary: field("nonvoluntary_ctxt_switches:"),
            ran: schedstat.split(' ').next().unwrap().parse().unwrap(),
        }
    }

    fn since(self, before: Self) -> Self {
        Self {
            voluntary: self.voluntary - before.voluntary,
            involuntary: self.involuntary - before.involuntary,
            ran: self.ran - before.ran,
        }
    }
}

/// The state of a process, a letter of proc(5).
fn state(pid: i32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    rest.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn the_harness_sleeps_through_a_run_beneath_a_terminal() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let [mut ready, mut over, mut go] = ["ready", "over", "go"].map(|name| Pipe::new(&place, name));
    let text = FILE
        .replace("READY", &ready.path.to_string_lossy())
        .replace("OVER", &over.path.to_string_lossy())
        .replace("GO", &go.path.to_string_lossy());
    let file = place.file("silence.toml", &text);
    let terminal = Terminal::new();
    let mut front = place
        .knobstat_on(&machine)
        .arg("run")
        .arg(file)
        .stdout(terminal.stream())
        .stderr(terminal.stream())
        .spawn()
        .unwrap();
    let mut screen = terminal.into_screen();
    let program = watched(&front);

    // During the first run all three processes have come up and gone to sleep.
    ready.hear(&program);
    over.hear(&program);
    go.say();

    ready.hear(&program);
    let agent = children(front.id())[0];
    let guardian = guardian_of(machine.path()).expect("a guardian");
    let processes = [
        ("agent", agent, 2),
        ("front", front.id() as i32, 1),
        ("guardian", guardian, 0),
    ];
    let before = processes.map(|(_, pid, _)| Seen::of(pid));
    over.hear(&program);
    let after = processes.map(|(_, pid, _)| (Seen::of(pid), state(pid)));
    go.say();

    for ((name, _, limit), (before, (after, state))) in
        processes.into_iter().zip(before.into_iter().zip(after))
    {
        let seen = after.since(before);
        println!("{name}: {seen:?}, then in state {state}");
        assert!(seen.voluntary <= limit, "{name}: {seen:?}");
        assert_eq!(state, "S", "{name} is asleep");
        if limit == 0 {
            let nothing = Seen {
                voluntary: 0,
                involuntary: 0,
                ran: 0,
            };
            assert_eq!(seen, nothing, "{name}");
        }
    }

    // A terminal that nobody has open any more ends with an error, EIO.
    let mut shown = Vec::new();
    let _ = screen.read_to_end(&mut shown);
    let shown = String::from_utf8_lossy(&shown);
    assert!(front.wait().unwrap().success(), "{shown}");
    assert!(shown.contains("run 2 of 2"), "progress was shown: {shown}");

    // What the harness itself recorded of the whole run, going to sleep and waking included.
    let list = output(place.knobstat().args(["list", "--json"]))
        .must_exit(0)
        .json();
    let id = list[0]["id"].as_str().unwrap();
    let export = output(place.knobstat().args(["export", id]))
        .must_exit(0)
        .json();
    let attempts = export["record"]["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2);
    for attempt in &attempts[1..] {
        for (name, _, limit) in processes {
            let switches = evidence(attempt, "harness.context_switches.voluntary", name);
            assert!(switches <= limit as f64, "{name}: {switches}");
        }
        assert!(evidence(attempt, "harness.sits_on_cpu", "agent") >= 0.0);
    }
}

/// A piece of evidence of an attempt.
fn evidence(attempt: &serde_json::Value, key: &str, scope: &str) -> f64 {
    let evidence = attempt["result"]["evidence"].as_array().unwrap();
    let one = evidence
        .iter()
        .find(|one| one["key"] == key && one["scope"] == scope)
        .unwrap_or_else(|| panic!("no {key} of {scope} in {evidence:?}"));
    one["value"]["Ok"]
        .as_f64()
        .unwrap_or_else(|| panic!("{one}"))
}
