//! Evidence through the program: every run has it, and a report shows it side by side.

use crate::support::machine::Machine;
use crate::support::program::{Place, output};

const FILE: &str = "name = \"seen\"\n[workload]\nkind = \"command\"\ncommand = \"true\"\nwarmup_runs = 0\n[factors]\nthp = [\"always\", \"never\"]\n[design]\nreplicates = 2\nsettle = \"0s\"\n";

/// A place whose store has the experiment, done.
fn seen() -> Place {
    let (place, machine) = (Place::new(), Machine::desktop());
    let file = place.file("seen.toml", FILE);
    output(
        place
            .knobstat_on(&machine)
            .args(["run", "--quiet"])
            .arg(file),
    )
    .must_exit(0);
    place
}

/// Its report with the evidence.
fn report(place: &Place) -> serde_json::Value {
    output(
        place
            .knobstat()
            .args(["report", "seen", "--json", "--evidence"]),
    )
    .must_exit(0)
    .json()
}

#[test]
fn a_report_shows_the_evidence_of_every_treatment_side_by_side() {
    let place = seen();
    let plain = output(place.knobstat().args(["report", "seen", "--json"]))
        .must_exit(0)
        .json();
    assert!(plain.get("evidence").is_none());
    let report = report(&place);
    let rows = report["evidence"].as_array().unwrap();
    let row = |key: &str| {
        let found = rows
            .iter()
            .find(|row| row["key"] == key && row["combined"] == false);
        found.unwrap_or_else(|| panic!("no {key} in {rows:?}"))
    };
    for key in ["cpu.user_and_system", "evidence.taking", "faults.minor"] {
        let means = row(key)["means"].as_array().unwrap();
        assert_eq!(means.len(), 2, "{key}");
        assert!(
            means
                .iter()
                .all(|mean| mean.as_f64().is_some_and(|mean| mean > 0.0)),
            "{key}"
        );
    }
    // What this machine lacks has its reason, whatever that machine is.
    for row in rows {
        let lacks = row["means"]
            .as_array()
            .unwrap()
            .iter()
            .all(|mean| mean.is_null());
        assert_eq!(lacks, row["reason"].is_string(), "{row}");
    }
    let text = output(place.knobstat().args(["report", "seen", "--evidence"]))
        .must_exit(0)
        .stdout();
    for part in [
        "Evidence: means by treatment",
        "thp=always",
        "evidence.taking",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

/// Every key that a run here has stands in the page of keys.
#[test]
fn every_key_is_documented() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/evidence.md")).unwrap();
    let place = seen();
    let report = report(&place);
    for row in report["evidence"].as_array().unwrap() {
        let key = row["key"].as_str().unwrap();
        // Idle states and sinks of output have names of their own.
        let key = match key.split('.').collect::<Vec<_>>().as_slice() {
            ["idle", _, last] => format!("idle.NAME.{last}"),
            ["output", _] => "output.SINK".to_owned(),
            _ => key.to_owned(),
        };
        assert!(
            page.contains(&format!("`{key}`")),
            "{key} is not in docs/evidence.md"
        );
    }
}

#[test]
fn the_doctor_tells_the_smallest_effect_that_could_be_shown() {
    let place = Place::new();
    let json = output(
        place
            .knobstat()
            .args(["doctor", "--baseline", "-n", "3", "--json"]),
    )
    .must_exit(0)
    .json();
    assert!(json["findings"].is_array());
    let workloads = json["baseline"]["workloads"].as_array().unwrap();
    assert_eq!(workloads.len(), 2);
    for workload in workloads {
        assert!(workload["minimum_seconds"].as_f64().unwrap() > 0.0);
        let effects = workload["smallest_effects"].as_array().unwrap();
        let percents: Vec<f64> = effects
            .iter()
            .map(|effect| effect["percent"].as_f64().unwrap())
            .collect();
        assert!(
            percents.windows(2).all(|pair| pair[0] > pair[1]),
            "{workload}"
        );
    }
    let text = output(place.knobstat().args(["doctor", "--baseline", "-n", "2"]))
        .must_exit(0)
        .stdout();
    assert!(
        text.contains("busy loop") && text.contains("% or more"),
        "{text}"
    );
}
