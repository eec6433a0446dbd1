//! An experiment from its file to every form of its report.

use crate::support::machine::Machine;
use crate::support::program::{Place, output};

/// Two factors, one of them a knob, and a command that says how fast it was.
const FILE: &str = r#"
name = "two by two"

[workload]
kind = "command"
command = "sh -c 'echo speed {size}'"
warmup_runs = 0

[workload.metrics.speed]
regex = "speed ([0-9]+)"
unit = "points"
better = "higher"
self_timed = false

[factors]
clocksource = ["tsc", "hpet"]
size = [10, 20]

[design]
replicates = 5
seed = 7
settle = "0s"

[analysis]
metric = "speed"
"#;

fn run(
    place: &Place,
    machine: &Machine,
    file: &str,
    arguments: &[&str],
) -> crate::support::program::Ended {
    let file = place.file("experiment.toml", file);
    output(
        place
            .knobstat_on(machine)
            .arg("run")
            .arg(file)
            .args(arguments),
    )
}

#[test]
fn a_run_reports_every_treatment_and_leaves_the_machine_as_it_was() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    let ended = run(&place, &machine, FILE, &["--json"]).must_exit(0);
    let report = ended.json();
    assert_eq!(report["schema"], "knobstat.report/1");
    assert_eq!(report["experiment"]["seed"], 7);
    let treatments = report["treatments"].as_array().expect("treatments");
    assert_eq!(treatments.len(), 4);
    for treatment in treatments {
        assert_eq!(treatment["runs"]["ok"], 5, "{treatment}");
        let speed = &treatment["metrics"]["speed"];
        assert_eq!(speed["n"], 5);
        assert_eq!(
            speed["mean"].as_f64(),
            treatment["levels"]["size"].as_f64(),
            "{treatment}"
        );
        assert_eq!(speed["unit"], "points");
    }
    assert_eq!(machine.bytes(), before);
}

#[test]
fn a_figure_without_a_unit_has_none_in_any_sentence() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let file = FILE.replace("unit = \"points\"\n", "");
    assert_ne!(file, FILE);
    run(&place, &machine, &file, &[]).must_exit(0);
    for format in ["text", "markdown", "ministat"] {
        let text = output(place.knobstat().args(["report", "--format", format]))
            .must_exit(0)
            .stdout();
        assert!(text.contains("speed, "), "{text}");
        assert!(!text.contains("speed in 1"), "{text}");
    }
    let shown = output(place.knobstat().arg("show")).must_exit(0).stdout();
    assert!(!shown.contains("[1]"), "{shown}");
}

#[test]
fn the_same_request_starts_anew_once_it_is_finished() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let first = run(&place, &machine, FILE, &["--json"]).must_exit(0).json();
    let second = run(&place, &machine, FILE, &["--json"]).must_exit(0).json();
    assert_ne!(first["experiment"]["id"], second["experiment"]["id"]);
    let list = output(place.knobstat().args(["list", "--json"]))
        .must_exit(0)
        .json();
    assert_eq!(list.as_array().expect("a list").len(), 2, "{list}");
}

#[test]
fn a_finished_experiment_can_be_shown_reported_exported_and_imported() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let report = run(&place, &machine, FILE, &["--json"]).must_exit(0).json();
    let id = report["experiment"]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let prefix = &id[..6];

    let shown = output(place.knobstat().args(["show", prefix]))
        .must_exit(0)
        .stdout();
    assert!(
        shown.contains("two by two") && shown.contains("20 of 20"),
        "{shown}"
    );
    for format in ["text", "markdown", "csv", "json", "ministat"] {
        let text = output(
            place
                .knobstat()
                .args(["report", prefix, "--format", format]),
        )
        .must_exit(0)
        .stdout();
        assert!(!text.trim().is_empty(), "{format}");
    }
    assert_eq!(
        output(place.knobstat().args(["report", prefix, "--json"]))
            .must_exit(0)
            .json(),
        report
    );

    let export = output(place.knobstat().args(["export", prefix]))
        .must_exit(0)
        .stdout();
    let file = place.file("export.json", &export);
    let elsewhere = Place::new();
    output(elsewhere.knobstat().arg("import").arg(&file)).must_exit(0);
    output(elsewhere.knobstat().arg("import").arg(&file)).must_exit(0);
    assert_eq!(
        output(elsewhere.knobstat().args(["export", prefix]))
            .must_exit(0)
            .stdout(),
        export,
        "nothing is lost on the way"
    );
    let csv = output(place.knobstat().args(["export", prefix, "--format", "csv"]))
        .must_exit(0)
        .stdout();
    assert!(csv.lines().count() > 20, "{csv}");
}

#[test]
fn a_level_that_the_machine_lacks_is_named_and_the_rest_goes_on() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let file = FILE.replace("[\"tsc\", \"hpet\"]", "[\"tsc\", \"hpet\", \"jiffies\"]");
    let report = run(&place, &machine, &file, &["--json"])
        .must_exit(0)
        .json();
    let omitted = report["omitted"].as_array().expect("omitted");
    assert_eq!(omitted.len(), 1, "{omitted:?}");
    assert_eq!(omitted[0]["level"], "jiffies");
    assert!(
        omitted[0]["reason"]
            .as_str()
            .is_some_and(|reason| !reason.is_empty())
    );
    let measured = report["treatments"]
        .as_array()
        .expect("treatments")
        .iter()
        .filter(|treatment| treatment["runs"]["ok"] == 5)
        .count();
    assert_eq!(measured, 4);

    let strict = format!("{file}\n").replace("[design]", "[design]\nunavailable = \"error\"");
    let ended = run(&place, &machine, &strict, &[]).must_exit(2);
    assert!(ended.stderr().contains("jiffies"), "{}", ended.stderr());
}

#[test]
fn a_run_that_fails_is_recorded_and_the_rest_goes_on() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let file = FILE.replace(
        "sh -c 'echo speed {size}'",
        "sh -c 'echo speed {size}; test {size} = 10'",
    );
    let ended = run(&place, &machine, &file, &["--json"]).must_exit(1);
    let report = ended.json();
    for treatment in report["treatments"].as_array().expect("treatments") {
        let failed = if treatment["levels"]["size"] == 20 {
            5
        } else {
            0
        };
        assert_eq!(treatment["runs"]["failed"], failed, "{treatment}");
    }
    let stop = file.replace("[design]", "[design]\non_failure = \"stop\"");
    let ended = run(&place, &machine, &stop, &["--json"]).must_exit(1);
    let failed: u64 = ended.json()["treatments"]
        .as_array()
        .expect("treatments")
        .iter()
        .map(|treatment| treatment["runs"]["failed"].as_u64().expect("a count"))
        .sum();
    assert_eq!(failed, 1, "it stopped at the first");
    assert_eq!(machine.clock_source(), "tsc");
}

#[test]
fn a_setting_that_somebody_turns_back_taints_the_run_and_it_is_repeated() {
    let (place, machine) = (Place::new(), Machine::desktop());
    // The workload itself plays the daemon that turns the clock source back, once.
    let marker = place.path().join("reverted");
    let source = machine
        .path()
        .join("sys/devices/system/clocksource/clocksource0/current_clocksource");
    let file = FILE.replace(
        "sh -c 'echo speed {size}'",
        &format!(
            "sh -c 'echo speed {{size}}; grep -q hpet {source} && mkdir {marker} 2>/dev/null && echo acpi_pm > {source}; true'",
            source = source.display(),
            marker = marker.display()
        ),
    );
    let report = run(&place, &machine, &file, &["--json"])
        .must_exit(0)
        .json();
    let count = |key: &str| -> u64 {
        report["treatments"]
            .as_array()
            .expect("treatments")
            .iter()
            .map(|treatment| treatment["runs"][key].as_u64().expect("a count"))
            .sum()
    };
    assert_eq!(count("tainted"), 1, "{report}");
    // A whole further block stands in for the incomplete one.
    assert_eq!(count("ok"), 19 + 4, "{report}");
    assert_eq!(machine.clock_source(), "tsc");
}

#[test]
fn try_is_the_same_engine_without_a_file() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    let report = output(place.knobstat_on(&machine).args([
        "try",
        "-k",
        "thp=always,never",
        "-k",
        "word=a,b",
        "-n",
        "5",
        "--json",
        "--",
        "echo",
        "{word}",
    ]))
    .must_exit(0)
    .json();
    let treatments = report["treatments"].as_array().expect("treatments");
    assert_eq!(treatments.len(), 4);
    assert!(
        treatments
            .iter()
            .all(|treatment| treatment["runs"]["ok"] == 5)
    );
    assert_eq!(machine.bytes(), before);
}

/// What a file says of a command, the command line can say too.
#[test]
fn try_has_steps_a_shell_and_a_margin() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let log = place.file("log", "");
    let step = |word: &str| format!("echo {word} {{n}} >>'{}'", log.display());
    let report = output(
        place
            .knobstat_on(&machine)
            .args(["try", "--shell", "-k", "n=1,2", "-n", "2", "--seed", "1"])
            .args(["--warmup", "0", "--timeout", "1m", "--allowed-exit", "0,3"])
            .args(["--name", "steps", "--margin", "90%", "--json", "--quiet"])
            .args(["--setup", &step("setup"), "--prepare", &step("prepare")])
            .args([
                "--cleanup",
                &step("cleanup"),
                "--teardown",
                &step("teardown"),
            ])
            .args(["--", &step("run"), "&&", "exit", "3"]),
    )
    .must_exit(0)
    .json();
    assert_eq!(report["experiment"]["name"], "steps");
    assert_eq!(report["experiment"]["margin"], 90.0);
    for treatment in report["treatments"].as_array().expect("treatments") {
        assert_eq!(treatment["runs"]["ok"], 2, "{treatment}");
    }
    let log = std::fs::read_to_string(&log).expect("what the steps wrote");
    for n in ["1", "2"] {
        let steps: Vec<&str> = log
            .lines()
            .filter_map(|line| line.strip_suffix(n))
            .map(str::trim)
            .collect();
        let run = ["prepare", "run", "cleanup"];
        let expected = [&["setup"][..], &run, &run, &["teardown"]].concat();
        assert_eq!(steps, expected, "{log}");
    }
}

#[test]
fn progress_goes_to_standard_error_and_the_report_to_standard_output() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let ended = run(&place, &machine, FILE, &[]).must_exit(0);
    assert!(ended.stdout().contains("two by two"), "{}", ended.stdout());
    assert!(!ended.stdout().contains('\u{1b}'), "no colour in a pipe");
    assert!(
        ended.stderr().contains("run 20 of 20"),
        "{}",
        ended.stderr()
    );
    let quiet = run(&place, &machine, FILE, &["--quiet"]).must_exit(0);
    assert_eq!(quiet.stderr(), "");
}
