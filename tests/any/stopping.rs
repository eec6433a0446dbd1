//! `design.stop`: an experiment ends when enough is known, and says why.

use serde_json::Value;

use crate::support::machine::Machine;
use crate::support::program::{Ended, Place, output};

const FILE: &str = r#"
name = "until it is known"

[workload]
kind = "command"
command = "sh {script} {{variant}}"
warmup_runs = 0

[workload.metrics.speed]
regex = "speed ([0-9.]+)"
unit = "points"
better = "higher"
self_timed = false

[factors]
variant = ["one", "two"]

[design]
stop = {stop}
seed = 7
settle = "0s"

[analysis]
metric = "speed"
"#;

/// Says a figure with tenths that a count of the runs makes: no clock is in it, so that it is the
/// same on every machine.
const SCRIPT: &str = r#"
count=$(cat "$0.count" 2>/dev/null || echo 0)
echo $((count + 1)) > "$0.count"
if [ "$1" = two ]; then whole={two}; else whole=100; fi
echo "speed $whole.$((count * 7 % 10))"
"#;

/// Runs an experiment whose second variant has this speed, against 100, and this stop rule.
fn run(place: &Place, two: u32, stop: &str, arguments: &[&str]) -> Ended {
    let script = place.file("script.sh", &SCRIPT.replace("{two}", &two.to_string()));
    let file = FILE
        .replace("{script}", &script.display().to_string())
        .replace("{{variant}}", "{variant}")
        .replace("{stop}", stop);
    let file = place.file("experiment.toml", &file);
    let machine = Machine::desktop();
    let mut command = place.knobstat_on(&machine);
    output(command.arg("run").arg(file).args(arguments))
}

/// The blocks done, the reason of the stop, and the only verdict.
fn ending(report: &Value) -> (u64, &str, &str) {
    let experiment = &report["experiment"];
    (
        experiment["blocks"].as_u64().expect("blocks"),
        experiment["stop"]["reason"].as_str().expect("a reason"),
        report["comparisons"][0]["verdict"]
            .as_str()
            .expect("a verdict"),
    )
}

#[test]
fn a_clear_effect_stops_early_and_the_report_says_why() {
    let place = Place::new();
    let stop = r#"{ margin = "1%", max_replicates = 30 }"#;
    let report = run(&place, 120, stop, &["--json"]).must_exit(0).json();
    let (blocks, reason, verdict) = ending(&report);
    assert_eq!((reason, verdict), ("verdicts", "different"), "{report}");
    assert!((5..15).contains(&blocks), "{blocks} blocks");
    assert_eq!(report["experiment"]["stop"]["max_blocks"], 30);

    let id = report["experiment"]["id"].as_str().expect("an id");
    let text = output(place.knobstat().args(["report", id]))
        .must_exit(0)
        .stdout();
    let head: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        head.contains(&format!("{blocks} of at most 30 blocks")),
        "{text}"
    );
    assert!(
        head.contains("every comparison has its verdict, different or equivalent within 1 %"),
        "{text}"
    );
    // It is done: the same request starts anew and does not go on to the maximum.
    let again = run(&place, 120, stop, &["--json"]).must_exit(0).json();
    assert_ne!(again["experiment"]["id"], report["experiment"]["id"]);
}

#[test]
fn no_effect_stops_as_equivalent_within_the_margin() {
    let stop = r#"{ margin = "2%", max_replicates = 40 }"#;
    let report = run(&Place::new(), 100, stop, &["--json"])
        .must_exit(0)
        .json();
    let (blocks, reason, verdict) = ending(&report);
    assert_eq!((reason, verdict), ("verdicts", "equivalent"), "{report}");
    assert!(blocks < 40, "{blocks} blocks");
}

#[test]
fn what_cannot_be_known_ends_at_the_maximum() {
    let stop = r#"{ margin = "0.01%", max_replicates = 6 }"#;
    let report = run(&Place::new(), 100, stop, &["--json"])
        .must_exit(0)
        .json();
    assert_eq!(ending(&report), (6, "maximum", "undecided"), "{report}");
}

#[test]
fn a_narrow_interval_is_enough_where_that_was_asked_for() {
    let stop = r#"{ half_width = "2%", max_replicates = 40 }"#;
    let report = run(&Place::new(), 100, stop, &["--json"])
        .must_exit(0)
        .json();
    let (blocks, reason, _) = ending(&report);
    assert_eq!(reason, "half-width", "{report}");
    assert!(blocks < 40, "{blocks} blocks");
    let ends = &report["comparisons"][0]["percent_interval"];
    let half = (ends[1].as_f64().expect("a number") - ends[0].as_f64().expect("a number")) / 2.0;
    assert!(half <= 2.0, "{half}");
}

#[test]
fn the_plan_and_the_progress_say_at_most() {
    let place = Place::new();
    let stop = r#"{ margin = "1%", half_width = "0.5%", max_replicates = 30 }"#;
    let plan = run(&place, 120, stop, &["--check"]).must_exit(0).stdout();
    for expected in [
        "2 treatments in at most 30 blocks: at most 60 runs",
        "equivalent within 1 %, or known to 0.5 % on either side",
        "after 5 blocks at the earliest and 30 at the latest",
    ] {
        assert!(plan.contains(expected), "{expected} is missing in\n{plan}");
    }
    let said = run(&place, 120, stop, &[]).must_exit(0).stderr();
    assert!(said.contains("run 2 of at most 60, at most "), "{said}");

    let hopeless = run(
        &place,
        120,
        r#"{ margin = "1%", max_replicates = 3 }"#,
        &["--check"],
    );
    let hopeless = hopeless.must_exit(0).stdout();
    assert!(
        hopeless.contains("warning: it can never end before"),
        "{hopeless}"
    );
}
