//! An agent in a container: in a PID namespace whose processes belong to a session begun outside.

use std::fs;
use std::process::Command;
use std::time::Duration;

use knobstat_sys::pidfd::PidFd;
use knobstat_sys::session;

use crate::machine::{Agent, Machine};

/// The tests, by name.
pub const TESTS: [(&str, fn()); 2] = [
    ("brought_into_a_container", brought_into_a_container),
    ("a_container_that_is_killed", a_container_that_is_killed),
];

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
pub fn are_refused() -> Option<String> {
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

/// An agent whose session began outside of the PID namespace that it runs in, as where a
/// container's manager brings a program into a container that runs already.
fn agent_in_a_container(machine: &Machine, experiment: &str) -> Agent {
    let mut program = container();
    program.arg(std::env::current_exe().unwrap());
    machine.agent_by(program, experiment)
}

fn brought_into_a_container() {
    let machine = Machine::new();
    let mut agent = agent_in_a_container(&machine, "c8");
    agent.turn();
    machine.assert_turned();
    assert_eq!(agent.ask("release"), "released 0 failed");
    machine.assert_back();
    agent.end();
}

/// Its processes end at once and together, the guardian among them; the journal is what is left.
fn a_container_that_is_killed() {
    let machine = Machine::new();
    let mut agent = agent_in_a_container(&machine, "c9");
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
