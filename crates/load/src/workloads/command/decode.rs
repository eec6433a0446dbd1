//! From an ended command to its metrics: its times, and the figures in its output.

use knobstat_data::messages::RunSpec;
use knobstat_data::observation::{Failure, MetricValue};
use knobstat_data::{Metric, Value};
use regex_lite::Regex;

use crate::workloads::{Ended, Yield};

/// The metrics of a command that ended as it should have.
pub(super) fn decode(spec: &RunSpec, ended: &Ended) -> Yield {
    let mut decoded = Yield::default();
    for metric in &spec.metrics {
        let value = match metric.name.as_str() {
            "wall" => Ok((ended.times.wall.as_secs_f64(), Some(ended.granularity))),
            "cpu" => Ok((ended.times.cpu.as_secs_f64(), None)),
            name => from_output(spec, name, ended).map(|value| (value, None)),
        };
        match value {
            Ok((value, granularity)) => {
                decoded.metrics.push(measured(metric, value, granularity));
            }
            Err(reason) => {
                decoded.failure.get_or_insert(Failure::Metric {
                    metric: metric.name.clone(),
                    reason,
                });
            }
        }
    }
    decoded
}

fn measured(metric: &Metric, value: f64, granularity: Option<f64>) -> MetricValue {
    MetricValue {
        metric: metric.clone(),
        value,
        limited_by: None,
        granularity,
    }
}

/// The figure of a metric that the file declares.
fn from_output(spec: &RunSpec, name: &str, ended: &Ended) -> Result<f64, String> {
    let Some(Value::Table(metrics)) = spec.parameters.get("metrics") else {
        return Err("the workload declares no metric of this name".to_owned());
    };
    let Some(Value::Table(declared)) = metrics.get(name) else {
        return Err("the workload declares no metric of this name".to_owned());
    };
    match (declared.get("regex"), declared.get("json")) {
        (Some(Value::Text(pattern)), None) => from_text(pattern, ended),
        (None, Some(Value::Text(pointer))) => from_json(pointer, ended),
        _ => Err("it needs either `regex` or `json`".to_owned()),
    }
}

/// The first group of the last match, in standard output or else in standard error: programs
/// that report as they go print their total last.
fn from_text(pattern: &str, ended: &Ended) -> Result<f64, String> {
    let regex =
        Regex::new(pattern).map_err(|error| format!("its regular expression is wrong: {error}"))?;
    for stream in [&ended.stdout, &ended.stderr] {
        let text = String::from_utf8_lossy(stream.as_ref().map_err(Clone::clone)?);
        let Some(last) = regex.captures_iter(&text).last() else {
            continue;
        };
        let Some(group) = last.get(1) else {
            return Err("its regular expression matched, but its first group did not".to_owned());
        };
        return number(group.as_str());
    }
    Err(format!("nothing in the output matches \"{pattern}\""))
}

/// The number that a JSON pointer (RFC 6901) leads to in standard output.
fn from_json(pointer: &str, ended: &Ended) -> Result<f64, String> {
    let printed = ended.stdout.as_ref().map_err(Clone::clone)?;
    let document: serde_json::Value = serde_json::from_slice(printed)
        .map_err(|error| format!("the output is not JSON: {error}"))?;
    match document.pointer(pointer) {
        Some(serde_json::Value::Number(found)) => number(&found.to_string()),
        Some(serde_json::Value::String(found)) => number(found),
        Some(_) => Err(format!("\"{pointer}\" of the output is not a number")),
        None => Err(format!("the output has no \"{pointer}\"")),
    }
}

/// A finite number, without thousands separators: `1,234` may be either a thousand or one and a
/// bit, and is not guessed at.
fn number(text: &str) -> Result<f64, String> {
    let trimmed = text.trim();
    trimmed
        .parse()
        .ok()
        .filter(|value: &f64| value.is_finite())
        .ok_or_else(|| format!("\"{trimmed}\" in the output is not a finite number"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use knobstat_data::observation::Times;
    use knobstat_data::{Better, Parameters, RunId, Unit};

    use super::*;

    fn spec(metrics: &[(&str, &str, &str)]) -> RunSpec {
        let declared = metrics.iter().map(|(name, how, what)| {
            let how = BTreeMap::from([((*how).to_owned(), Value::Text((*what).to_owned()))]);
            ((*name).to_owned(), Value::Table(how))
        });
        let metric = |name: &str| Metric {
            name: name.to_owned(),
            unit: Unit::SECONDS,
            better: Better::Lower,
            self_timed: false,
        };
        RunSpec {
            run: "0a".parse::<RunId>().unwrap(),
            workload: "command".to_owned(),
            parameters: Parameters::from([(
                "metrics".to_owned(),
                Value::Table(declared.collect()),
            )]),
            metrics: ["wall", "cpu"]
                .into_iter()
                .chain(metrics.iter().map(|(name, _, _)| *name))
                .map(metric)
                .collect(),
            knobs: Vec::new(),
            settle: Duration::ZERO,
            knobs_changed: false,
            cool_below: None,
        }
    }

    fn ended(stdout: &str, stderr: &str) -> Ended {
        Ended {
            times: Times {
                stopwatch: "tsc".to_owned(),
                wall: Duration::from_millis(1500),
                monotonic: Duration::from_millis(1500),
                monotonic_raw: Duration::from_millis(1500),
                boottime: Duration::from_millis(1500),
                cpu: Duration::from_millis(900),
            },
            granularity: 1e-8,
            stdout: Ok(stdout.as_bytes().to_vec()),
            stderr: Ok(stderr.as_bytes().to_vec()),
        }
    }

    fn values(decoded: &Yield) -> Vec<(&str, f64)> {
        decoded
            .metrics
            .iter()
            .map(|value| (value.metric.name.as_str(), value.value))
            .collect()
    }

    #[test]
    fn a_command_has_its_times_and_its_figures() {
        let spec = spec(&[
            ("rate", "regex", r"rate: (\S+) MB/s"),
            ("took", "regex", r"real\s+([0-9.]+)"),
        ]);
        let output = ended("rate: 10.5 MB/s\nrate: 12.25 MB/s\n", "real 3.5\n");
        let decoded = decode(&spec, &output);
        assert_eq!(decoded.failure, None);
        assert_eq!(
            values(&decoded),
            [("wall", 1.5), ("cpu", 0.9), ("rate", 12.25), ("took", 3.5)]
        );
    }

    #[test]
    fn json_is_found_by_its_pointer() {
        let spec = spec(&[("rate", "json", "/end/0/rate"), ("text", "json", "/n")]);
        let output = ended(r#"{"end": [{"rate": 1.5e9}], "n": "7"}"#, "");
        let decoded = decode(&spec, &output);
        assert_eq!(decoded.failure, None);
        assert_eq!(values(&decoded)[2..], [("rate", 1.5e9), ("text", 7.0)]);
    }

    #[test]
    fn a_missing_figure_is_a_failure_that_keeps_the_times() {
        for (how, what, stdout, why) in [
            ("regex", "rate: ([0-9]+)", "nothing\n", "matches"),
            ("regex", "rate: (.*)", "rate: 1,234\n", "1,234"),
            ("regex", "rate: (.*)", "rate: inf\n", "inf"),
            ("regex", "rate: (", "rate: 1\n", "wrong"),
            ("regex", "rate: [0-9]", "rate: 1\n", "group"),
            ("json", "/a", "{}", "/a"),
            ("json", "/a", "{\"a\": []}", "number"),
            ("json", "/a", "a", "JSON"),
        ] {
            let decoded = decode(&spec(&[("rate", how, what)]), &ended(stdout, ""));
            assert_eq!(values(&decoded), [("wall", 1.5), ("cpu", 0.9)]);
            let Some(Failure::Metric { metric, reason }) = decoded.failure else {
                panic!("{what} found something in {stdout}");
            };
            assert_eq!(metric, "rate");
            assert!(reason.contains(why), "{reason}");
        }
    }

    #[test]
    fn output_that_cannot_be_read_says_why() {
        let mut output = ended("", "");
        output.stdout = Err("the output is larger than 64 MiB".to_owned());
        let decoded = decode(&spec(&[("rate", "regex", "(a)")]), &output);
        let reason = "the output is larger than 64 MiB".to_owned();
        let metric = "rate".to_owned();
        assert_eq!(decoded.failure, Some(Failure::Metric { metric, reason }));
    }
}
