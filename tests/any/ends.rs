//! The ends of a run and of the program, one test for each way to end. Held elsewhere are:
//!
//! - Ctrl-C, SIGTERM, hang-up: `put_back::signals_end_the_run_and_put_everything_back`
//! - SIGKILL of any process of the harness: the other tests of `put_back`
//! - a program that is missing or not executable: `bad_input`
//! - a full disk, a store that cannot be written: `bad_input`
//! - what was done stays done: `durable`

use std::process::{Child, Stdio};

use crate::support::guardian::guardian_of;
use crate::support::machine::Machine;
use crate::support::pipe::{Pipe, watched};
use crate::support::processes::{children, kill, wait_until_gone};
use crate::support::program::{Ended, Place, output};

/// An experiment of two clock sources and one block, with further keys of the workload and of the
/// design.
fn experiment(command: &str, workload: &str, design: &str) -> String {
    format!(
        "name = \"ends\"\n[workload]\nkind = \"command\"\ncommand = {command}\nwarmup_runs = 0\n{workload}\n[factors]\nclocksource = [\"hpet\", \"acpi_pm\"]\n[design]\nreplicates = 1\nsettle = \"0s\"\n{design}\n"
    )
}

fn shell(line: &str) -> String {
    format!("[\"sh\", \"-c\", {}]", serde_json::json!(line))
}

/// Runs an experiment to its end on a machine that must be as before afterwards.
fn run(place: &Place, text: &str) -> Ended {
    let machine = Machine::desktop();
    let before = machine.bytes();
    let file = place.file("ends.toml", text);
    let ended = output(
        place
            .knobstat_on(&machine)
            .args(["run", "--quiet"])
            .arg(file),
    );
    assert_eq!(machine.bytes(), before, "the machine is as it was");
    ended
}

fn start(place: &Place, machine: &Machine, text: &str) -> Child {
    let file = place.file("ends.toml", text);
    place
        .knobstat_on(machine)
        .args(["run", "--quiet"])
        .arg(file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The attempts of the only experiment of the store.
fn attempts(place: &Place) -> Vec<serde_json::Value> {
    let list = output(place.knobstat().args(["list", "--json"]))
        .must_exit(0)
        .json();
    let id = list[0]["id"].as_str().unwrap();
    let export = output(place.knobstat().args(["export", id]))
        .must_exit(0)
        .json();
    export["record"]["attempts"].as_array().unwrap().clone()
}

fn outcomes(place: &Place) -> Vec<serde_json::Value> {
    attempts(place)
        .iter()
        .map(|attempt| attempt["result"]["outcome"].clone())
        .collect()
}

#[test]
fn an_interruption_keeps_every_run_that_was_done() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let mut ready = Pipe::new(&place, "ready");
    // The first run ends, the second waits to be ended.
    let line = format!(
        "if [ -e {0}/once ]; then echo >{1}; exec sleep 1000; fi; touch {0}/once",
        place.path().display(),
        ready.path.display()
    );
    let mut front = start(&place, &machine, &experiment(&shell(&line), "", ""));
    ready.hear(&watched(&front));
    kill("INT", front.id() as i32);
    assert_eq!(front.wait().unwrap().code(), Some(130));
    assert_eq!(outcomes(&place).first(), Some(&serde_json::json!("Ok")));
    let shown = output(place.knobstat().args(["show", "ends"]))
        .must_exit(0)
        .stdout();
    assert!(shown.contains("1 of 2 planned runs"), "{shown}");

    // What was edited meanwhile is another experiment, and that is said.
    let edited = place.file("ends.toml", &experiment("\"true\"", "", ""));
    let says = "of this name is unfinished and asked for something else";
    let command = || {
        let mut command = place.knobstat_on(&machine);
        command.arg("run").arg(&edited);
        command
    };
    let ended = output(&mut command()).must_exit(0);
    assert!(ended.stderr().contains(says), "{}", ended.stderr());
    let anew = output(command().arg("--new")).must_exit(0);
    assert!(!anew.stderr().contains(says), "{}", anew.stderr());
}

#[test]
fn the_guardian_ends_what_a_killed_harness_left_before_the_machine_is_back() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    let mut ready = Pipe::new(&place, "ready");
    // A grandchild in a session of its own, which neither a death signal nor a group reaches.
    let line = format!(
        "setsid sh -c 'echo $$ >{}; exec sleep 1000' & sleep 1000",
        ready.path.display()
    );
    let mut front = start(&place, &machine, &experiment(&shell(&line), "", ""));
    let descendant: i32 = ready.hear(&watched(&front)).parse().unwrap();
    let agent = children(front.id())[0];
    let guardian = guardian_of(machine.path()).expect("a guardian");
    kill("KILL", agent);
    kill("KILL", front.id() as i32);
    front.wait().unwrap();
    wait_until_gone(guardian);
    assert_eq!(machine.bytes(), before);
    let stat = std::fs::read_to_string(format!("/proc/{descendant}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
}

#[test]
fn a_prepare_step_that_fails_is_the_runs_failure_and_policy_decides() {
    let workload = "prepare = \"sh -c 'echo no disk >&2; exit 4'\"";
    for (policy, runs) in [("continue", 2), ("stop", 1)] {
        let place = Place::new();
        let design = format!("on_failure = \"{policy}\"");
        run(&place, &experiment("\"true\"", workload, &design)).must_exit(1);
        let outcomes = outcomes(&place);
        assert_eq!(outcomes.len(), runs, "{policy}: {outcomes:?}");
        for outcome in outcomes {
            let step = &outcome["Failed"]["Step"];
            assert_eq!(step["step"], "prepare", "{outcome}");
            let reason = step["reason"].as_str().unwrap();
            assert!(
                reason.contains("exit code 4") && reason.contains("no disk"),
                "{reason}"
            );
        }
    }
}

#[test]
fn a_child_that_a_signal_ends_is_recorded_as_such() {
    let place = Place::new();
    run(&place, &experiment(&shell("kill -9 $$"), "", "")).must_exit(1);
    for outcome in outcomes(&place) {
        let signal = &outcome["Failed"]["Signal"];
        assert_eq!(signal["signal"], 9, "{outcome}");
        assert_eq!(signal["core_dumped"], false, "{outcome}");
    }
    // A code is a code, whatever a shell would mean by it.
    let place = Place::new();
    run(&place, &experiment(&shell("exit 137"), "", "")).must_exit(1);
    for outcome in outcomes(&place) {
        assert_eq!(outcome["Failed"]["ExitCode"], 137, "{outcome}");
    }
}

#[test]
fn a_timeout_ends_the_whole_group_and_is_recorded_as_such() {
    // A busy machine takes its time until the workload has started its own.
    for milliseconds in [100, 1_000, 10_000, 100_000] {
        let place = Place::new();
        let pids = place.path().join("pids");
        let line = format!("sleep 1000 & echo $! >>{}; wait", pids.display());
        let workload = format!("timeout = \"{milliseconds}ms\"");
        run(&place, &experiment(&shell(&line), &workload, "")).must_exit(1);
        let outcomes = outcomes(&place);
        assert_eq!(outcomes.len(), 2);
        for outcome in outcomes {
            assert!(
                outcome["Failed"]["TimedOut"]["after"].is_object(),
                "{outcome}"
            );
        }
        let pids = std::fs::read_to_string(pids).unwrap_or_default();
        for pid in pids.lines() {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            assert!(!stat.contains("(sleep)"), "{stat}");
        }
        if pids.lines().count() == 2 {
            return;
        }
        println!("{milliseconds} ms are not enough for {pids:?}");
    }
    panic!("no workload started its own");
}

#[test]
fn a_code_that_is_not_zero_is_an_error_unless_it_is_allowed() {
    let place = Place::new();
    run(&place, &experiment(&shell("exit 3"), "", "")).must_exit(1);
    for outcome in outcomes(&place) {
        assert_eq!(outcome["Failed"]["ExitCode"], 3, "{outcome}");
    }
    let place = Place::new();
    let allowed = "allowed_exit = [0, 3]";
    run(&place, &experiment(&shell("exit 3"), allowed, "")).must_exit(0);
    assert_eq!(outcomes(&place), ["Ok", "Ok"]);
}

#[test]
fn started_with_sigint_ignored_it_still_stops_on_sigterm() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    let mut ready = Pipe::new(&place, "ready");
    let line = format!("echo >{}; exec sleep 1000", ready.path.display());
    let file = place.file("ends.toml", &experiment(&shell(&line), "", ""));
    // As a script starts it in the background: ignored from the start.
    let by = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh"];
    let mut front = place.knobstat_started_by(&by);
    front
        .args(["run", "--quiet", "--root"])
        .arg(machine.path())
        .arg(file)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let front = front.spawn().unwrap();
    ready.hear(&watched(&front));
    kill("INT", front.id() as i32);
    kill("TERM", front.id() as i32);
    let ended = Ended(front.wait_with_output().unwrap());
    ended.must_exit(143);
    assert_eq!(machine.bytes(), before);
}

#[test]
fn whatever_signals_it_was_started_with_ignored_or_blocked_its_runs_are_seen_to_end() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    let signals = place.path().join("signals");
    let line = format!("grep ^Sig /proc/self/status >{}; exit 3", signals.display());
    let file = place.file("ends.toml", &experiment(&shell(&line), "", ""));
    let by = ["env", "--ignore-signal", "--block-signal"];
    let mut command = place.knobstat_started_by(&by);
    command
        .args(["run", "--quiet", "--root"])
        .arg(machine.path())
        .arg(file);
    output(&mut command).must_exit(1);
    for outcome in outcomes(&place) {
        assert_eq!(outcome["Failed"]["ExitCode"], 3, "{outcome}");
    }
    assert_eq!(machine.bytes(), before);
    let signals = std::fs::read_to_string(signals).unwrap();
    let mask = |name: &str| {
        let line = signals.lines().find(|line| line.starts_with(name)).unwrap();
        u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap()
    };
    assert_eq!(mask("SigBlk:"), 0, "{signals}");
    // What a workload waits for and writes is told to it as well; whether it hangs up is up to
    // who started it.
    let [hup, pipe, child, size] =
        [1, 13, 17, 25].map(|signal| mask("SigIgn:") >> (signal - 1) & 1);
    assert_eq!([hup, pipe, child, size], [1, 0, 0, 0], "{signals}");
}

#[test]
fn standard_input_is_empty_or_a_file_that_begins_anew_in_every_run() {
    let counted = |workload: &str| {
        let place = Place::new();
        std::fs::write(place.path().join("input"), "four").unwrap();
        let workload = workload.replace("INPUT", &place.path().join("input").to_string_lossy());
        let metric = "metrics.bytes = { regex = \"([0-9]+)\", unit = \"B\", better = \"lower\", self_timed = false }";
        let text = experiment("\"wc -c\"", &format!("{workload}\n{metric}"), "");
        run(&place, &text).must_exit(0);
        attempts(&place)
            .iter()
            .map(|attempt| {
                let metrics = attempt["result"]["metrics"].as_array().unwrap();
                let bytes = metrics.iter().find(|one| one["metric"]["name"] == "bytes");
                bytes.unwrap()["value"].as_f64().unwrap()
            })
            .collect::<Vec<f64>>()
    };
    assert_eq!(counted(""), [0.0, 0.0]);
    assert_eq!(counted("input = \"file:INPUT\""), [4.0, 4.0]);
}
