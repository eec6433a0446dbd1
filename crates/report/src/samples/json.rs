//! JSON in the schema `knobstat.compare/1`; every field is documented in docs/compare.md.

use knobstat_analysis::samples::{Comparison, Findings, GroupFindings, RankTest, SetFindings};
use serde::Serialize;

use crate::report::Ends;

/// The name and version of the schema.
pub const SCHEMA: &str = "knobstat.compare/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    confidence: f64,
    margin: Option<f64>,
    paired: bool,
    groups: Vec<Group<'a>>,
    caveats: Vec<Caveat<'a>>,
}

#[derive(Serialize)]
struct Group<'a> {
    at: Option<&'a str>,
    metric: Option<&'a str>,
    unit: Option<&'a str>,
    better: Option<knobstat_data::Better>,
    baseline: Option<&'a str>,
    sets: Vec<Set<'a>>,
    comparisons: Vec<Compared<'a>>,
}

#[derive(Serialize)]
struct Set<'a> {
    name: &'a str,
    n: usize,
    passed_over: usize,
    mean: Option<f64>,
    median: Option<f64>,
    sd: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    interval: Option<Ends>,
}

#[derive(Serialize)]
struct Compared<'a> {
    set: &'a str,
    baseline: &'a str,
    n: usize,
    baseline_n: usize,
    difference: Option<f64>,
    percent: Option<f64>,
    interval: Option<Ends>,
    percent_interval: Option<Ends>,
    interval_confidence: f64,
    p: Option<f64>,
    p_adjusted: Option<f64>,
    p_equivalence: Option<f64>,
    family: usize,
    method: Option<&'static str>,
    rank: Option<Rank>,
    verdict: &'static str,
    better: Option<bool>,
    sentence: &'a str,
    more_values: Option<u64>,
}

#[derive(Serialize)]
struct Rank {
    test: &'static str,
    exact: bool,
    p: f64,
    p_adjusted: f64,
    shift: f64,
    interval: Option<Ends>,
    probability_larger: Option<f64>,
}

#[derive(Serialize)]
struct Caveat<'a> {
    kind: &'a str,
    sentence: &'a str,
}

/// The findings as JSON. They hold nothing that JSON cannot: numbers that are not finite become null.
pub fn json(findings: &Findings) -> String {
    let document = Document {
        schema: SCHEMA,
        confidence: findings.confidence_percent,
        margin: findings.margin_percent,
        paired: findings.paired,
        groups: findings.groups.iter().map(group).collect(),
        caveats: findings
            .caveats
            .iter()
            .map(|caveat| Caveat {
                kind: caveat.kind,
                sentence: &caveat.sentence,
            })
            .collect(),
    };
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_else(|error| {
        serde_json::json!({ "schema": SCHEMA, "error": error.to_string() }).to_string()
    });
    text.push('\n');
    text
}

fn known(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn group(group: &GroupFindings) -> Group<'_> {
    Group {
        at: known(&group.at),
        metric: known(&group.metric),
        unit: known(&group.unit),
        better: group.better,
        baseline: group.sets.first().map(|set| set.name.as_str()),
        sets: group.sets.iter().map(set).collect(),
        comparisons: group.comparisons.iter().map(compared).collect(),
    }
}

fn set(set: &SetFindings) -> Set<'_> {
    let summary = set.summary.as_ref();
    Set {
        name: &set.name,
        n: set.values.len(),
        passed_over: set.passed_over,
        mean: summary.map(|summary| summary.mean),
        median: summary.map(|summary| summary.median),
        sd: summary.and_then(|summary| summary.sd),
        min: summary.map(|summary| summary.min),
        max: summary.map(|summary| summary.max),
        interval: Ends::of(set.interval),
    }
}

fn compared(found: &Comparison) -> Compared<'_> {
    Compared {
        set: &found.set,
        baseline: &found.baseline,
        n: found.n,
        baseline_n: found.baseline_n,
        difference: found.judged.difference,
        percent: found.judged.percent,
        interval: Ends::of(found.judged.interval),
        percent_interval: Ends::of(found.judged.percent_interval),
        interval_confidence: found.judged.confidence_percent,
        p: found.judged.p,
        p_adjusted: found.judged.p_adjusted,
        p_equivalence: found.p_equivalence,
        family: found.judged.family,
        method: found.method.map(|method| method.word()),
        rank: found.rank.as_ref().map(rank),
        verdict: found.judged.verdict.word(),
        better: found.judged.better,
        sentence: &found.judged.sentence,
        more_values: found.judged.more,
    }
}

fn rank(rank: &RankTest) -> Rank {
    Rank {
        test: rank.name,
        exact: rank.exact,
        p: rank.p,
        p_adjusted: rank.p_adjusted,
        shift: rank.shift,
        interval: Ends::of(rank.interval),
        probability_larger: rank.probability_larger,
    }
}
