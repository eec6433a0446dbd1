//! The same promises where the guest is the target of an experiment: the program runs here, and
//! its agent in the guest.

use std::process::{Command, Output};

use serde_json::json;

use crate::Test;
use crate::needs::Need;
use crate::transcript::{entries, treatment};

/// The tests of this group.
pub const TESTS: &[Test] = &[
    (
        "an_unknown_clock_source_is_refused",
        &[Need::Guest],
        an_unknown_clock_source_is_refused,
    ),
    (
        "an_idle_state_that_is_disabled_is_not_used",
        &[Need::Guest],
        an_idle_state_that_is_disabled_is_not_used,
    ),
];

/// Runs an experiment whose target is a guest with Debian's kernel.
fn run(place: &tempfile::TempDir, tables: &str) -> Output {
    let file = place.path().join("experiment.toml");
    let text = format!(
        "name = \"experiment\"\n[target]\nkind = \"vm\"\nkernel = \"debian\"\nmemory = \"256MiB\"\n{tables}"
    );
    std::fs::write(&file, text).unwrap();
    knobstat(place, &["run", "--quiet", "--json"])
        .arg(file)
        .output()
        .unwrap()
}

fn knobstat(place: &tempfile::TempDir, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_knobstat"));
    command
        .args(words)
        .env("KNOBSTAT_NO_KNOBS", "1")
        .env("KNOBSTAT_STORE", place.path().join("store.sqlite"))
        .env("XDG_STATE_HOME", place.path().join("state"))
        .env("NO_COLOR", "1")
        .env_remove("SUDO_UID");
    command
}

#[track_caller]
fn must_exit(output: &Output, code: i32) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{said}");
    said
}

fn an_unknown_clock_source_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let output = run(
        &place,
        "[workload]\nkind = \"command\"\ncommand = \"true\"\n[factors]\nclocksource = [\"hpet\", \"quartz\"]\n[design]\nreplicates = 1\nunavailable = \"error\"\n",
    );
    let said = must_exit(&output, 2);
    assert!(said.contains("clocksource=quartz"), "{said}");
}

fn an_idle_state_that_is_disabled_is_not_used() {
    let place = tempfile::tempdir().unwrap();
    let output = run(
        &place,
        "acpi_tables = [\"idle-states-1cpu\"]\n[workload]\nkind = \"command\"\ncommand = [\"sleep\", \"0.5\"]\nwarmup_runs = 0\n[factors]\ncstate = [\"C1\", \"C3\"]\n[design]\nreplicates = 2\n",
    );
    must_exit(&output, 0);
    let report = knobstat(&place, &["report", "experiment", "--evidence", "--json"])
        .output()
        .unwrap();
    must_exit(&report, 0);
    let report = serde_json::from_slice(&report.stdout).unwrap();
    for level in ["C1", "C3"] {
        let runs = &treatment(&report, &json!({ "cstate": level }))["runs"];
        assert!(runs["ok"].as_u64() >= Some(2), "{runs}");
    }
    assert_eq!(report["factors"][0]["levels"], json!(["C1", "C3"]));
    assert!(entries(&report, "C1", "cpu0")[0] > 0.0);
    assert_eq!(entries(&report, "C2", "cpu0")[0], 0.0);
    assert_eq!(entries(&report, "C3", "cpu0")[0], 0.0);
    assert!(entries(&report, "C3", "cpu0")[1] > 0.0);
}
