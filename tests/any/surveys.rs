//! The surveys as commands and as workloads: their figures hang together, and none changes a
//! setting that it was not asked to change.

use std::process::Stdio;

use serde_json::Value;

use crate::support::guardian::guardian_of;
use crate::support::machine::Machine;
use crate::support::processes::{children, kill, wait_until_gone};
use crate::support::program::{Ended, Place, output};

/// The JSON of a survey that is over soon.
fn survey(name: &str, more: &[&str]) -> Value {
    let place = Place::new();
    let json = output(
        place
            .knobstat()
            .args([name, "--duration", "30ms", "--json"])
            .args(more),
    )
    .must_exit(0)
    .json();
    assert_eq!(json["schema"], format!("knobstat.{name}/1"));
    json
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

/// Quantiles ascend, and the histogram has every value.
fn hangs_together(distribution: &Value) {
    let quantiles: Vec<f64> = ["smallest", "p50", "p90", "p99", "p999", "largest"]
        .map(|name| number(&distribution[name]))
        .to_vec();
    assert!(quantiles.is_sorted(), "{quantiles:?}");
    let buckets = distribution["histogram"].as_array().unwrap();
    let counted: u64 = buckets
        .iter()
        .map(|bucket| bucket["count"].as_u64().unwrap())
        .sum();
    assert_eq!(distribution["count"], counted);
    assert!(
        buckets
            .windows(2)
            .all(|pair| number(&pair[0]["to"]) <= number(&pair[1]["from"]))
    );
}

#[test]
fn the_timers_figures_hang_together() {
    let json = survey("timer", &["--interval", "500us", "--timer-slack", "1ns"]);
    hangs_together(&json["all"]);
    let cpus = json["cpus"].as_array().unwrap();
    assert!(!cpus.is_empty());
    let mut count = 0;
    for cpu in cpus {
        hangs_together(&cpu["latency"]);
        count += cpu["latency"]["count"].as_u64().unwrap();
        // Each moment was slept for or had passed; the last latency may reach beyond the end.
        let moments = cpu["latency"]["count"].as_u64().unwrap() + cpu["missed"].as_u64().unwrap();
        assert!(moments >= 59, "{moments}");
    }
    assert_eq!(json["all"]["count"], count);
    assert_eq!(json["timer_slack_nanoseconds"], 1);
    assert_eq!(json["interval_nanoseconds"], 500_000);
}

#[test]
fn the_noise_is_parted_between_threads_and_interrupts() {
    let json = survey("noise", &[]);
    for cpu in json["cpus"].as_array().unwrap() {
        let (all, causes) = (&cpu["interruptions"], &cpu["causes"]);
        for figure in ["count", "nanoseconds"] {
            let parts = [&causes["other_threads"], &causes["interrupts"]]
                .map(|part| part[figure].as_u64().unwrap());
            assert_eq!(all[figure], parts.iter().sum::<u64>(), "{figure}");
        }
        let looked = cpu["looked_nanoseconds"].as_u64().unwrap();
        assert!(looked >= 30_000_000);
        assert!(all["nanoseconds"].as_u64().unwrap() <= looked);
        assert!((0.0..=1.0).contains(&number(&cpu["worst_window"])));
        if cpu["lengths"]["why"].is_null() {
            hangs_together(&cpu["lengths"]);
            assert_eq!(cpu["lengths"]["count"], all["count"]);
        }
    }
}

#[test]
fn every_clock_has_its_figures_or_a_reason() {
    let json = survey("clock", &[]);
    let surveys = json["surveys"].as_array().unwrap();
    assert_eq!(surveys.len(), 1);
    let clocks = surveys[0]["clocks"].as_array().unwrap();
    let names: Vec<&str> = clocks
        .iter()
        .map(|clock| clock["clock"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 11);
    for clock in clocks {
        let name = clock["clock"].as_str().unwrap();
        for figure in ["cost", "system_call_cost"] {
            if clock[figure]["why"].is_null() {
                hangs_together(&clock[figure]);
            }
        }
        if name.ends_with("CPUTIME_ID") {
            assert!(clock["drift"]["why"].is_string(), "{clock}");
        }
        if name == "CLOCK_MONOTONIC" {
            // The kernel promises that this one never goes back.
            assert_eq!(clock["order"]["backward"], 0, "{clock}");
            assert!(clock["order"]["readings"].as_u64().unwrap() > 0);
            assert!(clock["path"]["through_vdso"].is_boolean(), "{clock}");
        }
    }
}

#[test]
fn people_see_tables_and_a_histogram() {
    for (name, words) in [
        (
            "clock",
            ["CLOCK_MONOTONIC_COARSE", "vDSO", "drift ppm", "#"],
        ),
        ("timer", ["wake-ups", "p99.9", "timer slack", "#"]),
        (
            "noise",
            ["other threads", "soft interrupts", "worst window", "stolen"],
        ),
    ] {
        let place = Place::new();
        let text = output(place.knobstat().args([name, "--duration", "20ms"]))
            .must_exit(0)
            .stdout();
        for word in words {
            assert!(text.contains(word), "{word} is missing in\n{text}");
        }
    }
}

#[test]
fn what_cannot_be_granted_is_said() {
    let place = Place::new();
    for (arguments, said) in [
        (vec!["timer", "--cpus", "8000"], "may not use CPU 8000"),
        (
            vec!["timer", "--interval", "2s"],
            "no longer than the duration of 1s, but it is 2s",
        ),
        (vec!["noise", "--duration", "0s"], "longer than nothing"),
        (vec!["noise", "--duration", "soon"], "not a duration"),
        (vec!["clock", "--priority", "high"], "not a priority"),
    ] {
        let ended = output(place.knobstat().args(&arguments)).must_exit(2);
        assert!(ended.stderr().contains(said), "{}", ended.stderr());
    }
}

#[test]
fn other_clock_sources_are_named_and_left_alone() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    let json = output(
        place
            .knobstat_on(&machine)
            .args(["clock", "--duration", "10ms", "--json"]),
    )
    .must_exit(0)
    .json();
    assert_eq!(json["surveys"][0]["clock_source"], "tsc");
    let others = json["not_surveyed"].as_array().unwrap();
    let hpet = others
        .iter()
        .find(|other| other["clock_source"] == "hpet")
        .unwrap_or_else(|| panic!("{json}"));
    assert!(hpet["why"].as_str().unwrap().contains("--all-sources"));
    assert!(json["caveats"][0].as_str().unwrap().contains("laid-out"));
    assert_eq!(machine.bytes(), before);
}

#[test]
fn all_clock_sources_are_selected_in_turn_and_the_first_is_put_back() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    let json = output(place.knobstat_on(&machine).args([
        "clock",
        "--all-sources",
        "--duration",
        "10ms",
        "--json",
    ]))
    .must_exit(0)
    .json();
    let surveyed: Vec<&str> = json["surveys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|survey| survey["clock_source"].as_str().unwrap())
        .collect();
    for source in ["tsc", "hpet", "acpi_pm"] {
        assert!(surveyed.contains(&source), "{surveyed:?}");
    }
    let why = json["not_surveyed"][0]["why"].as_str().unwrap();
    assert!(why.contains("jiffies"), "{why}");
    assert_eq!(machine.bytes(), before);
}

#[test]
fn a_signal_ends_the_survey_of_all_clock_sources_at_once_and_the_first_is_put_back() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let (place, machine) = (Place::new(), Machine::desktop());
        let before = machine.bytes();
        let mut survey = place.knobstat_on(&machine);
        survey.args(["clock", "--all-sources", "--duration", "10000s"]);
        survey.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut running = survey.spawn().unwrap();
        // The first is surveyed as it is; only its end would bring another.
        let agent = loop {
            assert_eq!(running.try_wait().unwrap(), None);
            match children(running.id()).first() {
                Some(agent) if guardian_of(machine.path()).is_some() => break *agent,
                _ => std::thread::yield_now(),
            }
        };
        kill(signal, running.id() as i32);
        let ended = Ended(running.wait_with_output().unwrap()).must_exit(code);
        let said = ended.stderr();
        assert!(said.contains("the clock source is what it was"), "{said}");
        wait_until_gone(agent);
        assert_eq!(machine.bytes(), before);
    }
}

#[test]
fn no_clock_source_of_the_machine_itself_is_selected_where_that_is_refused() {
    let place = Place::new();
    let ended = output(place.knobstat().args(["clock", "--all-sources"])).must_exit(2);
    assert!(
        ended.stderr().contains("--all-sources cannot select"),
        "{}",
        ended.stderr()
    );
}

#[test]
fn a_survey_is_a_workload_of_an_experiment() {
    for (kind, metric) in [
        ("timer", "latency_p99"),
        ("noise", "noise"),
        ("clock", "read_cost"),
    ] {
        let (place, machine) = (Place::new(), Machine::desktop());
        let file = place.file(
            "survey.toml",
            &format!(
                "name = \"a survey\"\n[workload]\nkind = \"{kind}\"\nduration = \"20ms\"\n\
                 [factors]\ninterval = [\"1ms\", \"2ms\"]\n[design]\nreplicates = 2\nseed = 7\n\
                 [analysis]\nmetric = \"{metric}\"\n"
            ),
        );
        let report = output(
            place
                .knobstat_on(&machine)
                .args(["run", "--quiet", "--json"])
                .arg(&file),
        )
        .must_exit(0)
        .json();
        let treatments = report["treatments"].as_array().unwrap();
        assert_eq!(treatments.len(), 2);
        for treatment in treatments {
            assert_eq!(treatment["runs"]["ok"], 2, "{kind}: {treatment}");
            assert_eq!(treatment["metrics"][metric]["n"], 2, "{kind}: {treatment}");
        }
    }
}

#[test]
fn the_example_of_the_timer_runs_with_what_a_machine_has() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let before = machine.bytes();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/timer-latency.toml");
    let text = std::fs::read_to_string(example)
        .unwrap()
        .replace("\"2s\"", "\"20ms\"")
        .replace("\"200ms\"", "\"0s\"")
        .replace("replicates = 6", "replicates = 2\nseed = 1");
    let file = place.file("timer-latency.toml", &text);
    let report = output(
        place
            .knobstat_on(&machine)
            .args(["run", "--quiet", "--json"])
            .arg(&file),
    )
    .must_exit(0)
    .json();
    let treatments = report["treatments"].as_array().unwrap();
    assert!(!treatments.is_empty());
    for treatment in treatments {
        assert_eq!(treatment["runs"]["ok"], 2, "{treatment}");
    }
    assert_eq!(machine.bytes(), before);
}
