//! What programs read: the JSON schema and the CSV columns.

use insta::assert_snapshot;
use knobstat_data::observation::{Failure, RunResult};
use knobstat_data::{Outcome, Record};
use serde_json::Value;

use crate::rendered;
use crate::support::{Bench, HZ_250, KNOB, clock_sources, texts, wall, yielded};

fn small() -> Record {
    let bench = Bench::new("small", &[("turbo", KNOB, &texts(&["on", "off"]))], wall());
    bench.blocks(2).record(
        |treatment, block| match (treatment.to_string().as_str(), block) {
            ("turbo=on", _) => Some(yielded(&wall(), 1.5 + block as f64)),
            (_, 0) => Some(yielded(&wall(), 2.25)),
            _ => Some(RunResult::bare(Outcome::Failed(Failure::ExitCode(1)))),
        },
    )
}

#[test]
fn json_of_a_small_record() {
    assert_snapshot!(rendered(&small(), "json", 80));
}

#[test]
fn csv_of_a_small_record() {
    assert_snapshot!(rendered(&small(), "csv", 80));
}

/// The fields of the schema: whoever reads them may count on their names for ever.
#[test]
fn json_keeps_the_fields_of_its_schema() {
    let json: Value = serde_json::from_str(&rendered(&clock_sources(&HZ_250), "json", 80)).unwrap();
    assert_eq!(json["schema"], "knobstat.report/1");
    let fields = |value: &Value, names: &[&str]| {
        let object = value.as_object().unwrap();
        for name in names {
            assert!(object.contains_key(*name), "{name}");
        }
    };
    fields(
        &json,
        &[
            "schema",
            "experiment",
            "machine",
            "treatments",
            "comparisons",
            "effects",
            "recommendation",
            "omitted",
            "caveats",
        ],
    );
    fields(
        &json["experiment"],
        &["id", "name", "seed", "started", "finished", "file_sha256"],
    );
    let treatment = &json["treatments"][0];
    assert_eq!(treatment["levels"]["clocksource"], "jiffies");
    assert_eq!(treatment["levels"]["packet_size"], 64);
    fields(
        &treatment["metrics"]["throughput"],
        &[
            "unit", "better", "n", "values", "mean", "median", "sd", "min", "max", "interval",
        ],
    );
    fields(&treatment["runs"], &["ok", "tainted", "failed"]);
    let comparison = &json["comparisons"][0];
    fields(
        comparison,
        &[
            "metric",
            "levels",
            "baseline",
            "difference",
            "percent",
            "interval",
            "p",
            "p_adjusted",
            "verdict",
        ],
    );
    assert_eq!(comparison["interval"].as_array().unwrap().len(), 2);
    assert_eq!(comparison["verdict"], "different");
}
