//! Bad files and bad moments: each has an exit code, a sentence of cause and one of remedy.

use crate::support::machine::Machine;
use crate::support::program::{Ended, Place, output};

fn experiment(factors: &str, command: &str) -> String {
    format!(
        "name = \"bad\"\n[workload]\nkind = \"command\"\ncommand = \"{command}\"\nwarmup_runs = 0\n[factors]\n{factors}\n[design]\nreplicates = 3\n"
    )
}

fn run(place: &Place, machine: &Machine, text: &str) -> Ended {
    let file = place.file("bad.toml", text);
    output(place.knobstat_on(machine).arg("run").arg(file))
}

/// What was refused left the machine, the store and the state alone.
#[track_caller]
fn refused(text: &str, code: i32, expected: &[&str]) {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    let ended = run(&place, &machine, text).must_exit(code);
    for expected in expected {
        assert!(
            ended.stderr().contains(expected),
            "{expected} is missing in\n{}",
            ended.stderr()
        );
    }
    assert_eq!(ended.stdout(), "");
    assert_eq!(machine.bytes(), before);
}

#[test]
fn a_file_that_is_no_toml_is_pointed_at() {
    refused("name = \"x\n[workload", 2, &["bad.toml:1"]);
}

#[test]
fn every_error_of_a_file_is_reported_at_once() {
    refused(
        "name = \"x\"\nnam = 1\n[workload]\nkind = \"command\"\ncomand = \"true\"\n[factors]\nclocksorce = [\"tsc\", \"hpet\"]\n[design]\nreplicates = \"six\"\n",
        2,
        &["name", "command", "clocksource", "replicates"],
    );
}

#[test]
fn an_empty_factor_and_one_of_one_level_are_refused() {
    refused(&experiment("thp = []", "true"), 2, &["thp"]);
    refused(&experiment("thp = [\"always\"]", "true"), 2, &["[fixed]"]);
}

#[test]
fn a_knob_that_does_not_exist_is_named_with_the_nearest_one() {
    refused(
        &experiment("governer = [\"a\", \"b\"]", "true"),
        2,
        &["governer", "governor"],
    );
}

#[test]
fn an_unknown_placeholder_is_refused() {
    refused(
        &experiment("thp = [\"always\", \"never\"]", "echo {thq}"),
        2,
        &["thq"],
    );
}

#[test]
fn a_missing_program_is_found_before_any_setting_is_touched() {
    refused(
        &experiment("thp = [\"always\", \"never\"]", "no-such-program-anywhere"),
        127,
        &["no-such-program-anywhere"],
    );
}

#[test]
fn a_program_that_is_not_executable_is_told_apart_from_a_missing_one() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let script = place.file("script", "#!/bin/sh\n");
    let text = experiment(
        "thp = [\"always\", \"never\"]",
        &script.display().to_string(),
    );
    let ended = run(&place, &machine, &text).must_exit(126);
    assert!(ended.stderr().contains("script"), "{}", ended.stderr());
}

#[test]
fn a_script_without_its_interpreter_is_found_before_any_setting_is_touched() {
    let place = Place::new();
    let script = place.file("script", "#!/no/such/interpreter -x\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, executable).unwrap();
    refused(
        &experiment(
            "thp = [\"always\", \"never\"]",
            &script.display().to_string(),
        ),
        127,
        &["\"/no/such/interpreter\" of the script", "script"],
    );
}

#[test]
fn what_else_a_command_needs_is_found_before_any_setting_is_touched() {
    let needs: [(&str, &[&str]); 6] = [
        (
            "working_directory = \"/no/such/place\"",
            &["working directory \"/no/such/place\" is not there"],
        ),
        (
            "working_directory = \"/dev/null\"",
            &["/dev/null", "is no directory"],
        ),
        (
            "user = \"no-such-user-here\"",
            &["no-such-user-here", "`user`"],
        ),
        ("cpus = \"0,8000\"", &["no CPU 8000", "`cpus`"]),
        (
            "input = \"file:no/such/input\"",
            &["no/such/input", "is not there"],
        ),
        (
            "output = \"file:/no/such/place/out\"",
            &["/no/such/place/out", "directory that is not there"],
        ),
    ];
    for (line, expected) in needs {
        let text = experiment("thp = [\"always\", \"never\"]", "true");
        let text = text.replace("warmup_runs", &format!("{line}\nwarmup_runs"));
        refused(&text, 2, expected);
    }
}

#[test]
fn what_a_step_makes_need_not_be_there_before() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let made = place.path().join("made");
    let text = experiment("thp = [\"always\", \"never\"]", "./true <in").replace(
        "command = \"./true <in\"",
        &format!(
            "command = \"{0}/true\"\ninput = \"file:{0}/in\"\noutput = \"file:{0}/out/log\"\nsetup = \"sh -c 'mkdir -p {0}/out && cp /bin/true {0} && touch {0}/in'\"",
            made.display()
        ),
    );
    let ended = run(&place, &machine, &text).must_exit(0);
    assert!(!ended.stdout().contains("failed"), "{}", ended.stdout());
    assert!(made.join("out/log").is_file());
}

#[test]
fn a_directory_and_a_missing_file_are_no_experiment() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let directory = output(place.knobstat_on(&machine).arg("run").arg(place.path())).must_exit(2);
    assert!(
        directory.stderr().contains("directory"),
        "{}",
        directory.stderr()
    );
    let missing = output(
        place
            .knobstat_on(&machine)
            .args(["run", "no/such/file.toml"]),
    )
    .must_exit(2);
    assert!(
        missing.stderr().contains("no/such/file.toml"),
        "{}",
        missing.stderr()
    );
}

#[test]
fn later_work_is_refused_and_never_ignored() {
    refused(
        "name = \"x\"\n[workload]\nkind = \"udp\"\nmethod = \"send\"\n[factors]\npacket_size = [64, 128]\n[target]\nkind = \"ssh\"\n",
        2,
        &["not yet", "ssh"],
    );
}

#[test]
fn a_machine_on_which_nothing_is_left_to_run_is_refused_with_every_reason() {
    let (place, machine) = (Place::new(), Machine::bare());
    let text = experiment("clocksource = [\"tsc\", \"hpet\"]", "true");
    let ended = run(&place, &machine, &text).must_exit(2);
    for level in ["tsc", "hpet"] {
        assert!(ended.stderr().contains(level), "{}", ended.stderr());
    }
}

#[test]
fn a_store_of_a_newer_version_is_refused_and_left_as_it_is() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let text = experiment("word = [1, 2]", "echo {word}");
    run(&place, &machine, &text).must_exit(0);
    // Where SQLite keeps the version that a program gives its file (the user version).
    let path = place.path().join("store.sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60..64].copy_from_slice(&9999_u32.to_be_bytes());
    std::fs::write(&path, &bytes).unwrap();
    for command in [&["list"][..], &["run", "bad.toml"]] {
        let ended = output(
            place
                .knobstat_on(&machine)
                .current_dir(place.path())
                .args(command),
        )
        .must_exit(4);
        let said = ended.stderr();
        assert!(
            said.contains("9999") && said.contains("newer knobstat"),
            "{said}"
        );
        assert!(std::fs::read(&path).unwrap() == bytes, "it was changed");
    }
}

#[test]
fn a_file_that_is_no_store_is_refused() {
    let (place, machine) = (Place::new(), Machine::desktop());
    std::fs::write(
        place.path().join("store.sqlite"),
        "this is no database, but long enough to look at",
    )
    .unwrap();
    let ended = run(
        &place,
        &machine,
        &experiment("word = [1, 2]", "echo {word}"),
    )
    .must_exit(4);
    assert!(ended.stderr().contains("store"), "{}", ended.stderr());
    assert_eq!(
        std::fs::read_to_string(place.path().join("store.sqlite")).unwrap(),
        "this is no database, but long enough to look at",
        "somebody's file was left alone"
    );
}

#[test]
fn standard_output_on_a_full_disk_is_an_error_and_the_experiment_is_safe() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let file = place.file("full.toml", &experiment("word = [1, 2]", "echo {word}"));
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let status = place
        .knobstat_on(&machine)
        .args(["run", "--quiet"])
        .arg(file)
        .stdout(full)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(4));
    let list = output(place.knobstat().args(["list", "--json"]))
        .must_exit(0)
        .json();
    assert_eq!(list.as_array().map(Vec::len), Some(1));
}

#[test]
fn a_disk_that_is_full_ends_the_experiment_and_keeps_what_was_done() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let file = place.file(
        "full.toml",
        &experiment("clocksource = [\"tsc\", \"hpet\"]", "true")
            .replace("replicates = 3", "replicates = 2000"),
    );
    // A limit on the size of files stands for a disk that fills up: 4000 blocks of 512 bytes.
    let by = ["sh", "-c", "ulimit -f 4000; exec \"$@\"", "sh"];
    let mut limited = place.knobstat_started_by(&by);
    limited
        .args(["run", "--quiet", "--root"])
        .arg(machine.path())
        .arg(file);
    let ended = output(&mut limited).must_exit(4);
    assert!(ended.stderr().contains("store"), "{}", ended.stderr());
    assert_eq!(machine.clock_source(), "tsc", "the machine was put back");
    let list = output(place.knobstat().args(["list", "--json"]))
        .must_exit(0)
        .json();
    assert!(
        list[0]["attempts"].as_u64().is_some_and(|done| done > 10),
        "{list}"
    );
}

#[test]
fn a_working_directory_that_was_removed_is_said() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    let gone = place.path().join("gone");
    std::fs::create_dir(&gone).unwrap();
    let file = place.file("gone.toml", &experiment("word = [1, 2]", "echo {word}"));
    let line = format!("cd {0}; rmdir {0}; exec \"$@\"", gone.display());
    let mut command = place.knobstat_started_by(&["sh", "-c", &line, "sh"]);
    command
        .args(["run", "--quiet", "--root"])
        .arg(machine.path())
        .arg(file);
    let said = output(&mut command).must_exit(1).stderr();
    assert!(
        said.contains("the directory that it was started in"),
        "{said}"
    );
    assert!(said.contains("a directory that is there"), "{said}");
    assert_eq!(machine.bytes(), before);
}

#[test]
fn a_setting_that_this_user_may_not_write_is_not_to_be_had() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let path = "sys/kernel/mm/transparent_hugepage/enabled";
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o444);
    std::fs::set_permissions(machine.path().join(path), mode).unwrap();
    let text = experiment(
        "thp = [\"always\", \"never\"]\nword = [1, 2]",
        "echo {word}",
    );
    let before = machine.bytes();
    let ended = run(&place, &machine, &text);
    if rustix::process::geteuid().is_root() {
        // Root writes where the mode says read-only.
        assert_eq!(ended.must_exit(0).stderr().matches("tainted").count(), 0);
    } else {
        let ended = ended.must_exit(2);
        assert!(ended.stderr().contains("thp"), "{}", ended.stderr());
        let said = ended.stderr();
        assert!(said.contains("only root may write"), "{said}");
    }
    assert_eq!(machine.bytes(), before);
}
