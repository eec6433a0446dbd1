//! The agent ends in every way, and the machine is put back: by the agent, by its guardian, or by
//! the next experiment. The machines are trees on the disk; agent and guardian are this program.

mod agent;
mod containers;
mod limit;
mod machine;

use std::fs;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use knobstat_data::ExperimentId;
use knobstat_data::messages::{Refusal, RefusalKind};
use knobstat_knobs::{BeginError, Options, guardian, plan_put_back, put_back};
use knobstat_sys::processes;
use libtest_mimic::{Arguments, Trial};

use crate::agent::agent;
use crate::limit::within_the_limit;
use crate::machine::{BOOT_ID, GOVERNOR, Machine, id};

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
    let trial = |(name, test)| Trial::test(name, move || within_the_limit(test));
    let refused = containers::are_refused();
    let in_containers = containers::TESTS.map(trial).map(|trial| match &refused {
        Some(reason) => trial.with_kind(reason.as_str()).with_ignored_flag(true),
        None => trial,
    });
    let trials = tests.map(trial).into_iter().chain(in_containers).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
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
