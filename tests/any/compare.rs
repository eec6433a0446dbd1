//! `knobstat compare`: every format that it reads, what it answers to odd samples, and the exit code
//! that continuous integration looks at.

use serde_json::Value;

use crate::support::machine::Machine;
use crate::support::program::{Ended, Place, output};

/// The six data sets of 2010.
const DATA: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/crates/stats/tests/data/turboboost"
);

fn compare(place: &Place, arguments: &[&str]) -> Ended {
    let mut command = place.knobstat();
    command
        .current_dir(place.path())
        .arg("compare")
        .args(arguments);
    output(&mut command)
}

/// The JSON of a comparison that ends well. It has no number that is none.
#[track_caller]
fn found(place: &Place, arguments: &[&str]) -> Value {
    let mut all = arguments.to_vec();
    all.push("--json");
    let ended = compare(place, &all).must_exit(0);
    let json = ended.json();
    assert_eq!(json["schema"], "knobstat.compare/1");
    json
}

/// The only comparison.
#[track_caller]
fn one(place: &Place, arguments: &[&str]) -> Value {
    let json = found(place, arguments);
    let comparisons = json["groups"][0]["comparisons"]
        .as_array()
        .expect("comparisons");
    assert_eq!(comparisons.len(), 1, "{json}");
    comparisons[0].clone()
}

#[track_caller]
fn refused(place: &Place, arguments: &[&str], words: &[&str]) {
    let ended = compare(place, arguments).must_exit(2);
    assert_eq!(ended.stdout(), "");
    for word in words {
        assert!(
            ended.stderr().contains(word),
            "{word} is missing in\n{}",
            ended.stderr()
        );
    }
}

fn kinds(json: &Value) -> Vec<&str> {
    let caveats = json["caveats"].as_array().expect("caveats");
    caveats
        .iter()
        .filter_map(|caveat| caveat["kind"].as_str())
        .collect()
}

#[test]
fn the_data_of_2010_are_all_better_than_the_first() {
    let place = Place::new();
    let files: Vec<String> = ["x", "plus", "star", "pct", "hash", "at"]
        .iter()
        .map(|name| format!("{DATA}/{name}.txt"))
        .collect();
    let mut arguments: Vec<&str> = files.iter().map(String::as_str).collect();
    arguments.extend(["--better", "lower"]);
    let json = found(&place, &arguments);
    let comparisons = json["groups"][0]["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 5);
    for (comparison, percent) in comparisons.iter().zip([-3.49, -4.22, -0.966, -10.7, -10.4]) {
        assert_eq!(comparison["verdict"], "different");
        assert_eq!(comparison["better"], true);
        let found = comparison["percent"].as_f64().unwrap();
        assert!((found / percent - 1.0).abs() < 0.005, "{found}");
        let p = comparison["rank"]["p_adjusted"].as_f64().unwrap();
        assert!((p - 0.000_777_000_777).abs() < 1e-12, "{p}");
    }
    let text = compare(&place, &arguments).must_exit(0).stdout();
    for words in [
        "Avg",
        "Difference at 95 % confidence",
        "12.14",
        "two clusters",
        "Beware",
    ] {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
    assert!(text.lines().count() < 80, "a screenful or two:\n{text}");
}

#[test]
fn continuous_integration_sees_a_regression_by_the_exit_code() {
    let place = Place::new();
    place.file("fast", "1.00\n1.01\n0.99\n1.02\n0.98\n");
    place.file("slow", "1.20\n1.21\n1.19\n1.22\n1.18\n");
    let regression = ["--better", "lower", "--fail-on", "regression"];
    let with = |files: [&str; 2], more: &[&str]| compare(&place, &[&files, more].concat());
    let ended = with(["fast", "slow"], &regression).must_exit(6);
    assert!(
        ended.stdout().contains("slow is worse than fast"),
        "{}",
        ended.stdout()
    );
    assert!(ended.stderr().contains("1 of 1"), "{}", ended.stderr());
    with(["slow", "fast"], &regression).must_exit(0);
    with(["fast", "fast"], &regression).must_exit(0);
    with(["slow", "fast"], &["--fail-on", "difference"]).must_exit(6);
    with(["fast", "fast"], &["--fail-on", "difference"]).must_exit(0);
    // A difference that does not matter is no failure.
    let margin = ["--fail-on", "difference", "--margin", "40%"];
    with(["fast", "slow"], &margin).must_exit(0);
    refused(
        &place,
        &["fast", "slow", "--fail-on", "regression"],
        &["--better lower"],
    );
}

#[test]
fn columns_and_csv_have_the_same_answer() {
    let place = Place::new();
    place.file("a", "# ms\n1 10.5\n2 11.5\n3 12.5\n");
    place.file("b", "1 20.5\r\n2 21.5\r\n\r\n3 22.5");
    place.file(
        "a.csv",
        "run,time,note\n1,10.5,\"a, b\"\n2,11.5,\n3,12.5,x\n",
    );
    place.file("b.csv", "run;time\n1;20.5\n2;21.5\n3;22.5\n");
    let plain = one(&place, &["-C", "2", "a", "b"]);
    let csv = one(&place, &["-C", "time", "a.csv", "b.csv"]);
    for key in ["difference", "percent", "interval", "p", "verdict", "rank"] {
        assert_eq!(plain[key], csv[key], "{key}");
    }
    assert_eq!(plain["difference"], 10.0);
    // Columns of one file are compared with each other, and pairs are closer than samples.
    place.file(
        "both.csv",
        "before,after\n1,1.11\n5,5.09\n9,9.1\n3,3.12\n7,7.08\n",
    );
    let both = ["-C", "before", "-C", "after", "both.csv"];
    assert_eq!(one(&place, &both)["verdict"], "undecided");
    let paired = one(&place, &[&both[..], &["--paired"]].concat());
    assert_eq!(
        (&paired["verdict"], &paired["method"]),
        (&"different".into(), &"paired t".into())
    );
    let turned = one(&place, &[&both[..], &["--baseline", "after"]].concat());
    assert_eq!(turned["set"], "before");
    refused(&place, &["-C", "4", "a", "b"], &["a:", "no column 4"]);
    refused(&place, &["a.csv", "b.csv"], &["\"run\", \"time\"", "-C"]);
    refused(
        &place,
        &["-C", "times", "a.csv", "b.csv"],
        &["\"times\"", "\"note\""],
    );
}

#[test]
fn both_versions_of_hyperfine_are_read() {
    let place = Place::new();
    place.file(
        "one.json",
        r#"{"results":[{"command":"sleep 1","mean":1.0,"times":[1.0,1.1,0.9],"exit_codes":[0,0,0]},
            {"command":"sleep 2","mean":2.0,"times":[2.0,2.1,1.9],"exit_codes":[0,0,1]}]}"#,
    );
    let run = |value: f64| {
        format!(r#"{{"time_wall_clock":{{"value":{value},"unit":"second"}},"exit_code":0}}"#)
    };
    place.file(
        "two.json",
        &format!(
            r#"{{"schema_version":2,"primary_metric":"time_wall_clock","results":[{{"command":"sleep 1","measurements":[{},{},{}]}}]}}"#,
            run(1.0),
            run(1.1),
            run(0.9)
        ),
    );
    let within = found(&place, &["one.json"]);
    assert_eq!(within["groups"][0]["comparisons"][0]["better"], false);
    assert!(kinds(&within).contains(&"failed-runs"), "{within}");
    let across = found(&place, &["one.json", "two.json"]);
    assert_eq!(across["groups"][0]["at"], "sleep 1");
    assert_eq!(across["groups"][0]["comparisons"][0]["difference"], 0.0);
    assert!(kinds(&across).contains(&"unmatched"), "{across}");
    refused(&place, &["one.json", "-C", "user"], &["no single times"]);
}

#[test]
fn benchmarks_of_go_are_compared_by_name() {
    let place = Place::new();
    let lines = |encode: f64, decode: f64| -> String {
        (0..6)
            .map(|run| {
                let noise = f64::from(run * 7 % 5);
                format!(
                    "BenchmarkEncode-8 100 {} ns/op 45 B/op\nBenchmarkDecode-8 100 {} ns/op 7 B/op\n",
                    encode + noise,
                    decode - noise
                )
            })
            .collect()
    };
    place.file(
        "old",
        &format!("goos: linux\n{}PASS\n", lines(500.0, 300.0)),
    );
    place.file(
        "new",
        &format!("goos: linux\n{}PASS\n", lines(400.0, 300.0)),
    );
    let json = found(&place, &["old", "new"]);
    let verdict = |place: usize| json["groups"][place]["comparisons"][0]["verdict"].clone();
    assert_eq!(
        (verdict(0), verdict(1)),
        ("different".into(), "undecided".into())
    );
    assert_eq!(json["groups"][0]["comparisons"][0]["better"], true);
    let text = compare(&place, &["old", "new"]).must_exit(0).stdout();
    assert!(
        text.contains("At Encode-8, new is better than old: ns/op is "),
        "{text}"
    );
    let bytes = one(&place, &["old", "new", "-C", "B/op", "--select", "Encode"]);
    assert_eq!(bytes["difference"], 0.0);
}

#[test]
fn odd_samples_have_an_answer_in_words() {
    let place = Place::new();
    for (name, text) in [
        ("one", "1\n"),
        ("two", "1\n2\n"),
        ("zeros", "0\n0\n0\n"),
        ("constant", "513\n513\n513\n"),
        ("other", "886\n886\n886\n886\n"),
        ("huge", "1.7e308\n-1.7e308\n"),
        ("gaps", "1 2\n3\n4 5\n6 9\n"),
        ("nothing", "# none\n"),
        ("infinite", "1\ninf\n"),
        ("words", "1\ntwo\n"),
        ("comma", "1,5\n2,5\n"),
        ("json", "{\"a\": 1}"),
    ] {
        place.file(name, text);
    }
    let says = |arguments: &[&str], verdict: &str, words: &str| {
        let comparison = one(&place, arguments);
        assert_eq!(comparison["verdict"], verdict, "{comparison}");
        let sentence = comparison["sentence"].as_str().unwrap();
        assert!(sentence.contains(words), "{sentence}");
    };
    says(&["one", "two"], "undecided", "one has a single value");
    says(&["one", "one"], "undecided", "a single value each");
    says(&["zeros", "zeros"], "undecided", "no step of the scale");
    says(&["constant", "other"], "different", "72.7 % higher");
    says(
        &["constant", "constant"],
        "undecided",
        "Nothing finer than the step",
    );
    says(&["two", "huge"], "undecided", "so large");
    says(
        &["two", "other", "--paired"],
        "undecided",
        "cannot be paired",
    );
    assert!(kinds(&found(&place, &["gaps", "gaps", "-C", "2"])).contains(&"passed-over"));
    refused(
        &place,
        &["gaps", "gaps", "-C", "2", "--paired"],
        &["1 places without a value"],
    );
    refused(&place, &["one", "nothing"], &["nothing", "no number"]);
    refused(
        &place,
        &["one", "infinite"],
        &["line 2", "no finite number"],
    );
    refused(&place, &["one", "words"], &["line 2", "\"two\""]);
    refused(&place, &["one", "comma"], &["line 1", "decimal comma"]);
    refused(&place, &["one", "json"], &["JSON"]);
    refused(&place, &["one", "."], &["directory"]);
    refused(&place, &["one", "no-such-file"], &["no file no-such-file"]);
    refused(
        &place,
        &["one", "two", "--baseline", "three"],
        &["three", "one and two"],
    );
    refused(&place, &["one", "two", "--margin", "-1"], &["margin"]);
    refused(&place, &["one", "two", "--margin", "nan%"], &["percent"]);
    refused(&place, &["one", "two", "--confidence", "100"], &["percent"]);
    let alone = compare(&place, &["two"]).must_exit(0).stdout();
    assert!(alone.contains("Nothing is compared"), "{alone}");
}

#[test]
fn an_experiment_is_the_baseline_of_another() {
    let (place, machine) = (Place::new(), Machine::desktop());
    let run = |name: &str| {
        let text = format!(
            "name = \"{name}\"\n[workload]\nkind = \"command\"\ncommand = \"true\"\nwarmup_runs = 0\n[factors]\nthp = [\"always\", \"never\"]\n[design]\nreplicates = 3\n"
        );
        let file = place.file(&format!("{name}.toml"), &text);
        let mut command = place.knobstat_on(&machine);
        let report = output(command.args(["run", "--json", "--quiet"]).arg(file))
            .must_exit(0)
            .json();
        report["experiment"]["id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (run("first"), run("second"));
    let export = output(place.knobstat().args(["export", &second]))
        .must_exit(0)
        .stdout();
    place.file("second.json", &export);
    for other in [second.as_str(), "second.json"] {
        let json = found(&place, &[&first, other]);
        let groups = json["groups"].as_array().unwrap();
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0]["at"], "thp=always");
        assert_eq!(groups[0]["better"], "lower");
        assert!(kinds(&json).contains(&"time-between"), "{json}");
    }
    place.file("plain", "0.1\n0.2\n0.15\n");
    refused(
        &place,
        &[&first, "plain"],
        &["nothing in common", "thp=always and thp=never"],
    );
    let mixed = one(&place, &[&first, "plain", "--select", "always"]);
    assert_eq!(mixed["n"], 3);
    refused(
        &place,
        &[&first, "ffffff"],
        &["no file ffffff", "knobstat list"],
    );
}

#[test]
fn standard_input_is_a_file_too() {
    let place = Place::new();
    let file = place.file("a", "1\n2\n3\n");
    let mut command = place.knobstat();
    command
        .args(["compare", "-"])
        .arg(&file)
        .stdin(std::fs::File::open(&file).unwrap());
    let ended = output(&mut command).must_exit(0);
    assert!(
        ended.stdout().contains("No difference proven"),
        "{}",
        ended.stdout()
    );
}

#[test]
fn a_million_values_are_a_screenful() {
    let place = Place::new();
    for (name, shift) in [("a", 0), ("b", 7)] {
        let text: String = (0..200_000_u32)
            .map(|value| format!("{}\n", value.wrapping_mul(2_654_435_761) % 1000 + shift))
            .collect();
        place.file(name, &text);
    }
    let text = compare(&place, &["a", "b"]).must_exit(0).stdout();
    assert!(text.lines().count() < 50, "{text}");
    assert!(text.contains("a sign stands for up to"), "{text}");
    assert!(text.contains("Difference at 95 % confidence"), "{text}");
}

/// The fields that the page documents are those that the program prints.
#[test]
fn every_field_of_the_json_is_documented() {
    let place = Place::new();
    place.file("a", "1\n2\n3\n");
    let json = found(&place, &["a", "a"]);
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/compare.md")).unwrap();
    let mut keys = Vec::new();
    gather(&json, &mut keys);
    assert!(keys.len() > 30, "{keys:?}");
    for key in keys {
        assert!(
            page.contains(&format!("`{key}`")),
            "{key} is not in docs/compare.md"
        );
    }
}

fn gather(value: &Value, keys: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                keys.push(key.clone());
                gather(value, keys);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| gather(value, keys)),
        _ => (),
    }
}
