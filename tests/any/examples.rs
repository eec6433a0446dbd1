//! Every example is valid, says what this machine lacks, and runs with what is left.

use std::path::PathBuf;

use crate::check::checked;
use crate::support::machine::Machine;
use crate::support::program::{Place, output};

fn examples() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "toml")
            })
            .collect();
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    files
}

#[test]
fn every_example_can_be_planned_on_a_desktop_and_on_a_bare_machine() {
    for file in examples() {
        for machine in [Machine::desktop(), Machine::bare()] {
            let place = Place::new();
            let ended = checked(&place, &machine, &file);
            assert!(
                ended.stdout().contains("treatments"),
                "{}\n{}",
                file.display(),
                ended.stdout()
            );
        }
    }
}

/// An example with its runs made short, so that all of it can be run here.
fn shortened(place: &Place, name: &str) -> PathBuf {
    let text = std::fs::read_to_string(
        PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("examples")
            .join(name),
    )
    .unwrap();
    let text = text
        .lines()
        .map(|line| {
            if line.starts_with("duration") {
                // Not a short time: on a busy machine one may be over before anything is sent.
                "count = 2000".to_owned()
            } else if line.starts_with("replicates") {
                "replicates = 2".to_owned()
            } else if line.starts_with("settle") {
                "settle = \"0s\"".to_owned()
            } else if line.starts_with("command") {
                "command = \"true\"".to_owned()
            } else if line.starts_with("[design]") {
                "[design]\nseed = 1".to_owned()
            } else {
                line.to_owned()
            }
        })
        .collect::<Vec<_>>()
        .join("\n");
    place.file(name, &text)
}

#[test]
fn the_examples_run_with_what_a_machine_has_and_name_what_it_lacks() {
    for (name, lacking) in [
        ("clock-sources.toml", vec!["jiffies"]),
        ("turboboost.toml", vec!["off"]),
        ("deep-sleep.toml", vec!["off"]),
        ("tx-batching.toml", vec!["patched"]),
    ] {
        let (place, machine) = (Place::new(), Machine::desktop());
        let before = machine.bytes();
        let file = shortened(&place, name);
        let report = output(
            place
                .knobstat_on(&machine)
                .args(["run", "--quiet", "--json"])
                .arg(&file),
        )
        .must_exit(0)
        .json();
        let omitted: Vec<&str> = report["omitted"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|omitted| omitted["level"].as_str())
            .collect();
        for level in lacking {
            assert!(
                omitted.contains(&level),
                "{name}: {level} is not among {omitted:?}"
            );
        }
        assert!(
            report["treatments"]
                .as_array()
                .unwrap()
                .iter()
                .any(|treatment| treatment["runs"]["ok"] == 2),
            "{name}: {report}"
        );
        assert_eq!(machine.bytes(), before, "{name}");
    }
}

#[test]
fn the_quickstart_shows_a_clock_that_steps_once_a_tick() {
    let place = Place::new();
    let file = shortened(&place, "quickstart.toml");
    let text = std::fs::read_to_string(&file)
        .unwrap()
        .replace("replicates = 2", "replicates = 5");
    let file = place.file("quickstart.toml", &text);
    // It turns no knob, so a laid-out machine is as good as this one and no other test is in the
    // way.
    let machine = Machine::bare();
    let ended = output(
        place
            .knobstat_on(&machine)
            .args(["run", "--quiet"])
            .arg(&file),
    )
    .must_exit(0);
    let text = ended.stdout();
    for expected in ["packet_size", "pacing_clock", "coarse", "fine", "1280"] {
        assert!(text.contains(expected), "{expected} is missing in\n{text}");
    }
    println!("{text}");
}
