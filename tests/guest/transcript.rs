//! What a guest printed, in sections.

use std::collections::BTreeMap;

/// What a section's first line begins with.
pub const MARK: &str = "@@ ";

/// What a guest printed: the text of each section.
pub struct Transcript {
    sections: BTreeMap<String, String>,
    whole: String,
}

impl Transcript {
    /// Reads one.
    pub fn new(said: &str) -> Self {
        let whole = said.replace('\r', "");
        let sections = whole
            .split(&format!("\n{MARK}"))
            .skip(1)
            .map(|section| {
                let (name, text) = section.split_once('\n').unwrap_or((section, ""));
                (name.trim().to_owned(), text.to_owned())
            })
            .collect();
        Self { sections, whole }
    }

    /// The text of a section.
    #[track_caller]
    pub fn section(&self, name: &str) -> &str {
        match self.sections.get(name) {
            Some(text) => text,
            None => panic!("there is no section {name} in\n{}", self.whole),
        }
    }

    /// The report that a section is.
    #[track_caller]
    pub fn report(&self, name: &str) -> serde_json::Value {
        let text = self.section(name);
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in\n{}", self.whole))
    }

    /// Fails unless a section has all of these.
    #[track_caller]
    pub fn must_have(&self, name: &str, sentences: &[&str]) {
        let text = self.section(name);
        for sentence in sentences {
            assert!(text.contains(sentence), "{sentence:?} is not in\n{text}");
        }
    }
}

/// The treatment of a report with these levels, as JSON.
#[track_caller]
pub fn treatment<'r>(
    report: &'r serde_json::Value,
    levels: &serde_json::Value,
) -> &'r serde_json::Value {
    report["treatments"]
        .as_array()
        .and_then(|all| all.iter().find(|one| one["levels"] == *levels))
        .unwrap_or_else(|| panic!("there is no treatment {levels} in\n{report:#}"))
}

/// The value that a metric of a treatment had in every run.
#[track_caller]
pub fn value(treatment: &serde_json::Value, metric: &str) -> f64 {
    let values: Vec<f64> =
        serde_json::from_value(treatment["metrics"][metric]["values"].clone()).unwrap();
    let first = values.first().copied();
    match first.filter(|first| values.iter().all(|value| value == first)) {
        Some(value) => value,
        None => panic!("{metric} has not one value in {treatment:#}"),
    }
}

/// How often a processor went into an idle state, at each level, as a report's evidence has it.
#[track_caller]
pub fn entries(report: &serde_json::Value, state: &str, processor: &str) -> Vec<f64> {
    let key = format!("idle.{state}.entries");
    let rows = report["evidence"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["key"] == *key && row["scope"] == processor)
        .unwrap_or_else(|| panic!("no {key} of {processor} in {rows:#?}"));
    serde_json::from_value(row["means"].clone()).unwrap()
}
