//! Runs on the real kernel. One at a time: an executor ends every child that it does not know,
//! and another test's would be among them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use knobstat_data::messages::RunSpec;
use knobstat_data::observation::{Failure, KnobReading, Outcome};
use knobstat_data::words::RequestId;
use knobstat_data::{ExperimentId, Level, Metric, Parameters, RunResult, Value};
use knobstat_sys::clock::{NoCounter, Stopwatch};
use knobstat_sys::pidfd::PidFd;
use knobstat_sys::processes::marked;
use knobstat_sys::root::Root;
use knobstat_sys::spawn::may_disable_address_randomization;
use knobstat_sys::topology;
use knobstat_sys::user::is_root;

use super::*;
use crate::workloads::schemas;

static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn experiment() -> ExperimentId {
    let process = std::process::id().to_string();
    ExperimentId::of(&RequestId::of("tests of runs", &process), [7; 16])
}

fn executor() -> Executor {
    // The calibration of a counter is of no interest here, and takes its time.
    let stopwatch = Stopwatch::without_counter(NoCounter::Architecture);
    Executor::new(&Root::real(), &experiment(), stopwatch).unwrap()
}

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// A cell that runs a shell's line, with further parameters.
fn spec(line: &str, more: &[(&str, Value)]) -> RunSpec {
    let command = schemas()
        .into_iter()
        .find(|schema| schema.kind == "command")
        .unwrap();
    let mut parameters = Parameters::from([("command".to_owned(), text(line))]);
    for (name, value) in more {
        parameters.insert((*name).to_owned(), value.clone());
    }
    RunSpec {
        run: "0a".parse().unwrap(),
        workload: "command".to_owned(),
        parameters,
        metrics: (command.metrics)(),
        knobs: Vec::new(),
        settle: Duration::ZERO,
        knobs_changed: false,
        cool_below: None,
    }
}

/// The same with one metric that is read from the output.
fn reading(line: &str, regex: &str, more: &[(&str, Value)]) -> RunSpec {
    let how = BTreeMap::from([("regex".to_owned(), text(regex))]);
    let metrics = BTreeMap::from([("read".to_owned(), Value::Table(how))]);
    let mut spec = spec(line, more);
    spec.parameters
        .insert("metrics".to_owned(), Value::Table(metrics));
    let wall = spec.metrics[0].clone();
    spec.metrics.push(Metric {
        name: "read".to_owned(),
        ..wall
    });
    spec
}

fn run(spec: &RunSpec) -> RunResult {
    executor().run(spec, &SpawnSettings::default(), &[], Vec::new)
}

fn read(spec: &RunSpec) -> f64 {
    let result = run(spec);
    assert_eq!(result.outcome, Outcome::Ok, "{:?}", result.notes);
    result.metric("read").unwrap().value
}

/// Nothing of the experiment is left.
fn assert_nothing_left() {
    assert_eq!(marked(MARK, experiment().as_str()), []);
}

#[test]
fn a_run_is_verified_on_both_sides_and_has_its_metrics_and_evidence() {
    let _alone = alone();
    let mut verified = 0;
    let verify = || {
        verified += 1;
        vec![KnobReading {
            knob: "turbo".to_owned(),
            asked: None,
            read: Ok(Level::Integer(verified)),
        }]
    };
    let spec = spec("exit 0", &[]);
    let result = executor().run(&spec, &SpawnSettings::default(), &[], verify);
    assert_eq!(result.outcome, Outcome::Ok);
    assert_eq!(result.before[0].read, Ok(Level::Integer(1)));
    assert_eq!(result.after[0].read, Ok(Level::Integer(2)));
    let times = result.times.as_ref().unwrap();
    let wall = result.metric("wall").unwrap();
    assert_eq!(wall.value, times.wall.as_secs_f64());
    assert!(wall.granularity.unwrap() > 0.0);
    assert!(!times.wall.is_zero() && !times.boottime.is_zero());
    assert!(result.metric("cpu").is_some());
    for key in [
        "cpu.user_and_system",
        "memory.peak_at_most",
        "run_queue.wait",
        "harness.context_switches",
        "interrupts.timer",
        "cpu.stolen",
        "pressure.cpu.some",
        "temperature.after",
        "output.null",
        "environment.size",
    ] {
        assert!(
            result.evidence.iter().any(|one| one.key == key),
            "no {key} in {:?}",
            result.evidence
        );
    }
    let leader = result
        .evidence
        .iter()
        .find(|one| one.key == "run_queue.wait");
    assert!(leader.unwrap().value.is_ok(), "{leader:?}");
    assert_eq!(result.notes, Vec::<String>::new());
}

#[test]
fn ends_are_told_apart() {
    let _alone = alone();
    let result = run(&spec("echo first >&2; echo no rule >&2; exit 3", &[]));
    assert_eq!(result.outcome, Outcome::Failed(Failure::ExitCode(3)));
    assert_eq!(result.notes, ["its last words were \"no rule\""]);
    assert!(result.times.is_some());

    let allowed = Value::List(vec![Value::Integer(3)]);
    let result = run(&spec("exit 3", &[("allowed_exit", allowed)]));
    assert_eq!(result.outcome, Outcome::Ok);

    let result = run(&spec("kill -9 $$", &[]));
    let killed = Failure::Signal {
        signal: 9,
        core_dumped: false,
    };
    assert_eq!(result.outcome, Outcome::Failed(killed));
}

#[test]
fn a_program_that_cannot_be_started_is_the_runs_failure() {
    let _alone = alone();
    let mut missing = spec("", &[]);
    let words = Value::List(vec![text("no-such-program-here")]);
    missing.parameters.insert("command".to_owned(), words);
    let Outcome::Failed(Failure::Start { reason }) = run(&missing).outcome else {
        panic!("a missing program was started");
    };
    assert!(reason.contains("no-such-program-here"), "{reason}");
    let nowhere = spec("exit 0", &[("working_directory", text("/no/such/place"))]);
    let Outcome::Failed(Failure::Start { reason }) = run(&nowhere).outcome else {
        panic!("a process was started nowhere");
    };
    assert!(reason.contains("working directory"), "{reason}");
}

#[test]
fn a_grandchild_that_keeps_the_output_open_does_not_lengthen_the_run() {
    let _alone = alone();
    // One in the group, one in a session of its own: 1000 seconds each if they were waited for.
    let spec = reading("sleep 1000 & setsid sleep 1000 & echo 7", "([0-9]+)", &[]);
    let result = run(&spec);
    assert_eq!(result.outcome, Outcome::Ok);
    assert_eq!(result.metric("read").unwrap().value, 7.0);
    let named = |note: &&String| note.contains("was left running, and was ended");
    assert_eq!(
        result.notes.iter().filter(named).count(),
        2,
        "{:?}",
        result.notes
    );
    assert_nothing_left();
}

#[test]
fn a_timeout_ends_the_whole_group_the_deaf_included() {
    let _alone = alone();
    let timeout = Duration::from_millis(30);
    let line = "trap '' TERM; sleep 1000 & sleep 1000";
    let result = run(&spec(line, &[("timeout", Value::Duration(timeout))]));
    let timed_out = Failure::TimedOut { after: timeout };
    assert_eq!(result.outcome, Outcome::Failed(timed_out));
    assert!(result.times.unwrap().wall >= timeout);
    assert_nothing_left();
}

#[test]
fn an_interruption_ends_the_run_and_cleans_up() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let line = |text: &str| Value::Text(text.to_owned());
    let spec = spec(
        "sleep 1000",
        &[
            ("cleanup", line("echo cleaned > mark")),
            (
                "working_directory",
                text(directory.path().to_str().unwrap()),
            ),
        ],
    );
    let (end, writer) = std::io::pipe().unwrap();
    drop(writer);
    let interrupts = [end.as_fd()];
    let result = executor().run(&spec, &SpawnSettings::default(), &interrupts, Vec::new);
    assert_eq!(result.outcome, Outcome::Interrupted);
    let mark = fs::read_to_string(directory.path().join("mark")).unwrap();
    assert_eq!(mark, "cleaned\n");
    assert_nothing_left();
}

#[test]
fn a_prepare_that_fails_is_the_runs_failure() {
    let _alone = alone();
    let result = run(&spec(
        "exit 0",
        &[
            ("prepare", text("echo no disk >&2; exit 2")),
            ("cleanup", text("exit 1")),
        ],
    ));
    let Outcome::Failed(Failure::Step { step, reason }) = result.outcome else {
        panic!("the run went on without being prepared");
    };
    assert_eq!(step, "prepare");
    assert!(
        reason.contains("exit code 2") && reason.contains("no disk"),
        "{reason}"
    );
    assert_eq!(result.notes, ["cleanup failed: it ended with exit code 1"]);
    assert!(result.times.is_none());
}

#[test]
fn what_setup_starts_lives_until_teardown() {
    let _alone = alone();
    let mut executor = executor();
    let with_server = spec("exit 0", &[("setup", text("sleep 1000 &"))]);
    executor.set_up(&with_server, &[]).unwrap();
    for _ in 0..2 {
        let result = executor.run(&with_server, &SpawnSettings::default(), &[], Vec::new);
        assert_eq!(result.outcome, Outcome::Ok);
        assert_eq!(result.notes, Vec::<String>::new());
    }
    assert_eq!(marked(MARK, experiment().as_str()).len(), 1);
    let notes = executor.tear_down(&with_server, &[]).unwrap();
    assert_eq!(notes.len(), 1);
    assert_nothing_left();

    let broken = spec("exit 0", &[("setup", text("exit 5"))]);
    let Err(StepError::Failed(Failure::Step { step, .. })) = executor.set_up(&broken, &[]) else {
        panic!("a setup that fails went well");
    };
    assert_eq!(step, "setup");
}

#[test]
fn spawn_knobs_and_parameters_reach_the_process() {
    let _alone = alone();
    let last = *topology::affinity().unwrap().last().unwrap();
    let cpus = format!("{last}").parse().unwrap();
    // A container may refuse it.
    let no_aslr = may_disable_address_randomization().is_ok();
    let spawn = SpawnSettings {
        no_aslr,
        cpus: Some(cpus),
    };
    let line = "cat /proc/self/personality; nice; grep Cpus_allowed_list /proc/self/status";
    let personality = if no_aslr { "00040000" } else { "00000000" };
    let regex = format!(r"{personality}\n7\nCpus_allowed_list:\s+(\d+)\n");
    let nice = Value::Priority("nice:7".parse().unwrap());
    let spec = reading(line, &regex, &[("priority", nice)]);
    let result = executor().run(&spec, &spawn, &[], Vec::new);
    assert_eq!(result.outcome, Outcome::Ok);
    assert_eq!(result.metric("read").unwrap().value, f64::from(last));
}

#[test]
fn the_harness_sits_where_the_command_is_told_to_run() {
    let _alone = alone();
    let before = topology::affinity().unwrap();
    for &cpu in &before {
        let cpus = Value::Cpus(format!("{cpu}").parse().unwrap());
        let result = run(&spec("exit 0", &[("cpus", cpus)]));
        assert_eq!(result.outcome, Outcome::Ok);
        let seat = result
            .evidence
            .iter()
            .find(|one| one.key == "harness.sits_on_cpu");
        assert_eq!(seat.unwrap().value, Ok(f64::from(cpu)));
    }
    assert_eq!(topology::affinity().unwrap(), before, "it went back");
}

#[test]
fn input_is_read_from_its_beginning_in_every_run() {
    let _alone = alone();
    let input = tempfile::NamedTempFile::new().unwrap();
    fs::write(input.path(), "12\n").unwrap();
    let from = text(format!("file:{}", input.path().display()));
    for _ in 0..2 {
        assert_eq!(
            read(&reading("cat", "^(.*)", &[("input", from.clone())])),
            12.0
        );
    }
    // By default there is nothing to read.
    assert_eq!(read(&reading("wc -c", "([0-9]+)", &[])), 0.0);
}

#[test]
fn the_environment_has_the_mark_and_nothing_of_cargo() {
    let _alone = alone();
    let own = Value::Table(BTreeMap::from([("OWN".to_owned(), text("5"))]));
    let spec = reading(
        "test -n \"$KNOBSTAT_EXPERIMENT\" && test -z \"$CARGO\" && echo $OWN",
        "([0-9]+)",
        &[("environment", own)],
    );
    assert_eq!(read(&spec), 5.0);
}

#[test]
fn a_workload_may_be_another_users() {
    let _alone = alone();
    if !is_root() {
        println!("only root can become somebody else");
        return;
    }
    let spec = reading(
        "id -u",
        "([0-9]+)",
        &[
            ("user", text("nobody")),
            ("working_directory", text("/")),
            ("prepare", text("test $(id -un) = nobody")),
        ],
    );
    assert_eq!(read(&spec), 65_534.0);
}

#[test]
fn a_user_cannot_have_files_opened_that_are_not_theirs() {
    let _alone = alone();
    if !is_root() {
        println!("only root can become somebody else");
        return;
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "precious").unwrap();
    let to = text(format!("file:{}", file.path().display()));
    let result = run(&spec(
        "exit 0",
        &[
            ("user", text("nobody")),
            ("working_directory", text("/")),
            ("output", to),
        ],
    ));
    let Outcome::Failed(Failure::Start { reason }) = result.outcome else {
        panic!("another's file was opened");
    };
    assert!(reason.contains("cannot be opened"), "{reason}");
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "precious");
}

#[test]
fn built_in_work_that_fails_says_why() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let [written, path] = ["written", "script"].map(|name| directory.path().join(name));
    let body = "#!/bin/sh\necho '{\"error\": \"no such link\"}'\nexit 1\n";
    fs::write(&written, body).unwrap();
    // By another process: what is open for writing here would be so in whatever another test
    // starts at that moment, and cannot be executed (ETXTBSY).
    let mut install = std::process::Command::new("install");
    let installed = install
        .args(["-m", "755"])
        .arg(&written)
        .arg(&path)
        .status();
    assert!(installed.unwrap().success());
    let mut udp = spec("", &[]);
    udp.workload = "udp".to_owned();
    udp.parameters = Parameters::new();
    let result = executor()
        .with_itself(&path)
        .run(&udp, &SpawnSettings::default(), &[], Vec::new);
    let reason = "no such link".to_owned();
    assert_eq!(
        result.outcome,
        Outcome::Failed(Failure::Workload { reason })
    );
}

/// The variable that makes [`harness_that_is_killed`] a harness.
const AS_HARNESS: &str = "KNOBSTAT_TEST_AS_HARNESS";

/// Started by [`a_killed_harness_takes_its_workload_along`] in a process of its own.
#[test]
fn harness_that_is_killed() {
    if std::env::var_os(AS_HARNESS).is_none() {
        return;
    }
    let _alone = alone();
    run(&spec(
        "echo workload $$; exec sleep 1000",
        &[("output", text("inherit"))],
    ));
}

#[test]
fn a_killed_harness_takes_its_workload_along() {
    let _alone = alone();
    let mut harness = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "run::tests::harness_that_is_killed",
            "--nocapture",
        ])
        .env(AS_HARNESS, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let workload: u32 = BufReader::new(harness.stdout.as_mut().unwrap())
        .lines()
        .find_map(|line| line.unwrap().strip_prefix("workload ")?.parse().ok())
        .unwrap();
    let held = PidFd::open(workload).unwrap();
    assert!(!held.has_ended().unwrap());
    harness.kill().unwrap();
    harness.wait().unwrap();
    assert!(held.wait_ended(Some(Duration::from_secs(60))).unwrap());
}
