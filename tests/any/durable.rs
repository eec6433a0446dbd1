//! Every finished run is durable before the next begins, and an interrupted experiment continues
//! where it stopped, in the same order.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::support::machine::Machine;
use crate::support::program::{Place, output};
use crate::support::random::Random;

/// Kills that must have happened before the test may end.
fn kills_wanted() -> u32 {
    if std::env::var_os("KNOBSTAT_LONG").is_some() {
        500
    } else {
        50
    }
}

#[test]
fn killed_at_random_points_it_continues_without_repeating_or_losing_a_run() {
    let mut random = Random::seeded(0x2007_2010);
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    // Three times the runs that the kills wait for: where the machine is busy, more pass unseen.
    let replicates = 2 * kills_wanted();
    let file = place.file(
        "killed.toml",
        &format!(
            "name = \"killed\"\n[workload]\nkind = \"command\"\ncommand = \"true\"\nwarmup_runs = 0\n[factors]\nclocksource = [\"tsc\", \"hpet\", \"acpi_pm\"]\nthp = [\"always\", \"never\"]\n[design]\nreplicates = {replicates}\nseed = 3\nsettle = \"0s\"\n"
        ),
    );
    let runs = 6 * u64::from(replicates);
    let mut kills = 0;
    let finished = loop {
        let mut front = place
            .knobstat_on(&machine)
            .arg("run")
            .arg(&file)
            .args(["--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        if kills == kills_wanted() {
            break front.wait_with_output().unwrap();
        }
        // The moment: after this many lines of progress, and then this many turns of a loop.
        let lines = random.below(7);
        let turns = random.below(200_000);
        let mut progress = BufReader::new(front.stderr.take().unwrap());
        let mut line = String::new();
        for _ in 0..lines {
            line.clear();
            if progress.read_line(&mut line).unwrap() == 0 {
                break;
            }
        }
        for turn in 0..turns {
            std::hint::black_box(turn);
        }
        front.kill().unwrap();
        let status = front.wait().unwrap();
        assert_ne!(
            status.code(),
            Some(0),
            "the experiment was over before its kills were: {kills}"
        );
        kills += 1;
    };
    let said = String::from_utf8_lossy(&finished.stderr).into_owned();
    assert!(finished.status.success(), "{said}");
    assert_eq!(machine.bytes(), before);

    let list = output(place.knobstat().args(["list", "--json"]))
        .must_exit(0)
        .json();
    assert_eq!(
        list.as_array().map(Vec::len),
        Some(1),
        "one experiment throughout: {list}"
    );
    let id = list[0]["id"].as_str().unwrap();
    let export = output(place.knobstat().args(["export", id]))
        .must_exit(0)
        .json();
    let attempts = export["record"]["attempts"].as_array().expect("attempts");
    let ok: Vec<&serde_json::Value> = attempts
        .iter()
        .filter(|attempt| attempt["result"]["outcome"] == "Ok")
        .collect();
    assert_eq!(
        ok.len() as u64,
        runs,
        "no run was lost and none was repeated"
    );
    let mut ids: Vec<&str> = ok
        .iter()
        .map(|attempt| attempt["run"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len() as u64, runs, "each run once");

    // The order is the order of an experiment that was never killed.
    let order = |attempts: &[&serde_json::Value]| -> Vec<(u64, u64)> {
        attempts
            .iter()
            .map(|attempt| {
                (
                    attempt["block"].as_u64().unwrap(),
                    attempt["treatment"].as_u64().unwrap(),
                )
            })
            .collect()
    };
    let undisturbed = Place::new();
    output(
        undisturbed
            .knobstat_on(&machine)
            .args(["run", "--quiet"])
            .arg(&file),
    )
    .must_exit(0);
    let list = output(undisturbed.knobstat().args(["list", "--json"]))
        .must_exit(0)
        .json();
    let id = list[0]["id"].as_str().unwrap();
    let export = output(undisturbed.knobstat().args(["export", id]))
        .must_exit(0)
        .json();
    let attempts = export["record"]["attempts"].as_array().expect("attempts");
    let all: Vec<&serde_json::Value> = attempts.iter().collect();
    assert_eq!(order(&ok), order(&all));
}
