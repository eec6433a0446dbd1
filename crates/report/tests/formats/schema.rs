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

/// Every field of every object, levels and the names of metrics left out.
fn fields(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                found.push(name.clone());
                match name.as_str() {
                    "levels" | "baseline" | "at" | "best" | "candidates" => {}
                    "metrics" => value
                        .as_object()
                        .into_iter()
                        .flat_map(|metrics| metrics.values())
                        .for_each(|metric| fields(metric, found)),
                    _ => fields(value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| fields(value, found)),
        _ => {}
    }
}

#[test]
fn every_field_is_documented() {
    let documentation = include_str!("../../../../docs/report-json.md");
    let text = rendered(&crate::published::clock_sources_with_evidence(), "json", 80);
    let mut found = Vec::new();
    fields(&serde_json::from_str(&text).unwrap(), &mut found);
    assert!(found.len() > 500, "{}", found.len());
    for name in found {
        assert!(documentation.contains(&format!("`{name}`")), "{name}");
    }
}

/// The kinds of caveats are words that programs read.
#[test]
fn every_caveat_is_documented() {
    let documentation = include_str!("../../../../docs/reading-a-report.md");
    let sources = [
        include_str!("../../../analysis/src/caveats/carry_over.rs"),
        include_str!("../../../analysis/src/caveats/course.rs"),
        include_str!("../../../analysis/src/caveats/design.rs"),
        include_str!("../../../analysis/src/caveats/failures.rs"),
        include_str!("../../../analysis/src/caveats/few_blocks.rs"),
        include_str!("../../../analysis/src/caveats/limits.rs"),
        include_str!("../../../analysis/src/caveats/machine.rs"),
        include_str!("../../../analysis/src/caveats/omissions.rs"),
        include_str!("../../../analysis/src/caveats/scale.rs"),
        include_str!("../../../analysis/src/caveats/shape.rs"),
        include_str!("../../../analysis/src/caveats/stopwatch.rs"),
        include_str!("../../../analysis/src/caveats/taints.rs"),
    ];
    for source in sources {
        let kinds: Vec<&str> = source
            .split("kind: \"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        assert!(!kinds.is_empty());
        for kind in kinds {
            assert!(documentation.contains(&format!("| `{kind}` |")), "{kind}");
        }
    }
}
