//! The 2007 experiment on real kernels.

use std::path::Path;

use serde_json::Value;

use crate::Test;
use crate::needs;
use crate::support::program::{Place, output};

pub const TESTS: &[Test] = &[(
    "one_size_and_two_clock_sources_of_the_2007_experiment",
    one_size_and_two_clock_sources,
)];

pub const LONG_TESTS: &[Test] = &[
    ("the_2007_experiment_on_real_kernels", the_whole_of_2007),
    ("idle_ticks_and_idle_states", idle_ticks),
];

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    std::fs::read_to_string(path.join(name)).unwrap()
}

/// The example at one size, with two clock sources, at the tick rates that there are kernels for.
fn small(rates: &[u32]) -> String {
    let rates_given = match rates {
        [only] => format!("\n[fixed]\nhz = {only}\n"),
        several => format!("hz = {several:?}\n"),
    };
    let mut changes = vec![
        ("clocksource = ", "clocksource = [\"tsc\", \"jiffies\"]"),
        ("packet_size = ", ""),
        ("duration = ", "duration = \"300ms\"\npacket_size = 1280"),
        ("replicates = ", "replicates = 2"),
    ];
    if rates.len() > 1 {
        changes.push(("hz = ", rates_given.trim_end()));
    } else {
        changes.push(("hz = ", ""));
        changes.push(("[design]", ""));
    }
    let mut text: String = example("clock-sources-vm.toml")
        .lines()
        .map(|line| {
            let change = changes.iter().find(|(start, _)| line.starts_with(start));
            format!("{}\n", change.map_or(line, |(_, instead)| instead))
        })
        .collect();
    if rates.len() == 1 {
        text = text.replace(
            "replicates = 2",
            &format!("{rates_given}\n[design]\nreplicates = 2"),
        );
    }
    text
}

fn one_size_and_two_clock_sources() {
    let rates = needs::tick_rates();
    let text = small(&rates);
    let place = Place::new();
    let file = place.file("clock-sources.toml", &text);
    let report = output(place.knobstat().args(["run", "--json"]).arg(file))
        .must_exit(0)
        .json();
    let treatments = report["treatments"].as_array().unwrap();
    assert_eq!(treatments.len(), 2 * rates.len());
    let export = output(place.knobstat().args(["export", id(&report)]))
        .must_exit(0)
        .json();
    for hz in rates {
        // A clock that steps by the tick lets r / T datagrams go between two waits.
        let predicted = 1e6 / f64::from(hz) / 10.0;
        for attempt in attempts_at(&export, &report, hz, "jiffies") {
            let figure = |key: &str| evidence(attempt, key);
            assert_eq!(figure("pacer.credited_per_wait"), predicted, "{hz}");
            let step = figure("pacer.clock_step");
            // In nanoseconds.
            assert_eq!(step, 1e9 / f64::from(hz), "{hz}");
        }
        let rate = |source: &str| throughput(&report, hz, source);
        // By a fine clock the datagrams go out one by one, and none waits for a tick.
        assert!(
            rate("tsc") > rate("jiffies"),
            "{hz}: {} {}",
            rate("tsc"),
            rate("jiffies")
        );
    }
    let caveats: Vec<&str> = report["caveats"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|caveat| caveat["kind"].as_str())
        .collect();
    for kind in ["virtual-time", "vouched-stopwatch"] {
        assert!(caveats.contains(&kind), "{caveats:?}");
    }
    assert!(!caveats.contains(&"stopwatch-under-test"), "{caveats:?}");
}

fn id(report: &Value) -> &str {
    report["experiment"]["id"].as_str().unwrap()
}

fn has_levels(levels: &Value, hz: u32, source: &str) -> bool {
    // Held at one level, it is no level of a treatment.
    let rate = levels["hz"].to_string();
    (rate == "null" || rate.trim_matches('"') == hz.to_string()) && levels["clocksource"] == source
}

fn throughput(report: &Value, hz: u32, source: &str) -> f64 {
    let treatments = report["treatments"].as_array().unwrap();
    let treatment = treatments
        .iter()
        .find(|treatment| has_levels(&treatment["levels"], hz, source))
        .unwrap();
    treatment["metrics"]["throughput"]["mean"].as_f64().unwrap()
}

/// The accepted attempts of a treatment.
fn attempts_at<'e>(export: &'e Value, report: &Value, hz: u32, source: &str) -> Vec<&'e Value> {
    let treatments = report["treatments"].as_array().unwrap();
    let index = treatments
        .iter()
        .position(|treatment| has_levels(&treatment["levels"], hz, source))
        .unwrap();
    let attempts: Vec<&Value> = export["record"]["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|attempt| attempt["treatment"] == index)
        .collect();
    assert!(!attempts.is_empty());
    attempts
}

fn evidence(attempt: &Value, key: &str) -> f64 {
    let all = attempt["result"]["evidence"].as_array().unwrap();
    let found = all.iter().find(|one| one["key"] == key);
    let value = &found.unwrap_or_else(|| panic!("no {key} in {all:?}"))["value"];
    value["Ok"]
        .as_f64()
        .unwrap_or_else(|| panic!("{key}: {value}"))
}

fn the_whole_of_2007() {
    let place = Place::new();
    let ended = output(
        place
            .knobstat()
            .args(["run", "examples/clock-sources-vm.toml"]),
    );
    let text = ended.must_exit(0).stdout();
    println!("{text}");
    // The table of the post, twice.
    for (hz, credited) in [(250, 400), (1000, 100)] {
        let heading = format!("\nhz={hz}\n");
        let table = text.split(&heading).nth(1).unwrap();
        let rows: Vec<&str> = table
            .lines()
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        for size in ["64", "128", "512", "1280"] {
            assert!(rows.contains(&size), "{rows:?}");
        }
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let predicted = format!("as r/T predicts ({credited})");
        assert!(words.contains(&predicted), "{predicted}");
    }
}

/// The mean of a figure over the runs of some treatments.
fn mean(export: &Value, report: &Value, level: (&str, &str), key: &str) -> f64 {
    let treatments = report["treatments"].as_array().unwrap();
    let attempts = export["record"]["attempts"].as_array().unwrap();
    let figures: Vec<f64> = attempts
        .iter()
        .filter(|attempt| {
            let index = attempt["treatment"].as_u64().unwrap() as usize;
            treatments[index]["levels"][level.0] == level.1
        })
        .map(|attempt| evidence(attempt, key))
        .collect();
    figures.iter().sum::<f64>() / figures.len() as f64
}

fn idle_ticks() {
    let place = Place::new();
    let ended = output(
        place
            .knobstat()
            .args(["run", "--json", "examples/idle-ticks-vm.toml"]),
    );
    let report = ended.must_exit(0).json();
    assert_eq!(report["treatments"].as_array().unwrap().len(), 6);
    let export = output(place.knobstat().args(["export", id(&report)]))
        .must_exit(0)
        .json();
    // Two seconds at 250 ticks a second, against those that the kernel needs.
    let ticks = |level| mean(&export, &report, ("idletick", level), "interrupts.timer");
    assert!(ticks("on") > 480.0, "{}", ticks("on"));
    assert!(ticks("off") < 100.0, "{}", ticks("off"));
    // The deepest state that is allowed is the one that is used.
    for (allowed, deeper) in [("C1", "C2"), ("C2", "C3")] {
        let time = |state: &str| {
            let key = format!("idle.{state}.time");
            mean(&export, &report, ("cstate", allowed), &key)
        };
        assert!(time(allowed) > 1.8, "{allowed}: {}", time(allowed));
        assert_eq!(time(deeper), 0.0, "{deeper} under {allowed}");
    }
}
