//! ministat against recorded output: 420 invocations of the newest, and the experiment of 2010 in
//! both profiles.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use crate::memory::{Files, Output, run};
use serde_json::Value;

fn data(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/ministat")
        .join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the reference data are UTF-8")
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn newest_cases() {
    let cases = data("newest-cases.jsonl");
    let mut count = 0;
    for (index, line) in text(&cases).lines().enumerate() {
        let case: Value = serde_json::from_str(line).expect("a line of JSON");
        let contents = case["files"].as_object().expect("files");
        let files: Files = contents
            .iter()
            .map(|(name, content)| {
                let content = content.as_str().expect("text");
                (OsString::from(name), content.as_bytes().to_vec())
            })
            .collect();
        let arguments: Vec<OsString> = case["args"]
            .as_array()
            .expect("arguments")
            .iter()
            .map(|argument| argument.as_str().expect("text"))
            .chain(contents.keys().map(String::as_str))
            .map(OsString::from)
            .collect();
        let output = run(&arguments, &files);
        let context = format!("case {index}: {arguments:?}");
        assert_eq!(
            text(&output.standard_output),
            word(&case, "stdout"),
            "{context}"
        );
        assert_eq!(
            text(&output.standard_error),
            word(&case, "stderr"),
            "{context}"
        );
        assert_eq!(
            Some(i64::from(output.exit_code)),
            case["exit"].as_i64(),
            "{context}"
        );
        count += 1;
    }
    assert_eq!(count, 420);
}

fn experiment_of_2010(profile: &str) -> Output {
    let names = ["x", "plus", "star", "pct", "hash", "at"].map(|name| format!("{name}.txt"));
    let files: Files = names
        .iter()
        .map(|name| (OsString::from(name), data(name)))
        .collect();
    let arguments: Vec<OsString> = ["-w", "65", "--compat", profile]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .map(OsString::from)
        .collect();
    run(&arguments, &files)
}

#[test]
fn the_experiment_of_2010_in_both_profiles() {
    for (profile, golden) in [
        ("2015", "golden_debian.out"),
        ("newest", "golden_freebsd_main.out"),
    ] {
        let output = experiment_of_2010(profile);
        assert_eq!(text(&output.standard_output), text(&data(golden)));
        assert_eq!((output.exit_code, output.standard_error.len()), (0, 0));
    }
}
