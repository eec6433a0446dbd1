//! What `hyperfine --export-json` writes.
//!
//! Version 1 has a list `times` in seconds for each command, and since 1.20 one of
//! `memory_usage_byte`. Version 2 says so in `schema_version` and has a list `measurements` of
//! objects, whose quantities are a `value` with a `unit`. User and system time are means over all
//! runs in version 1, and so no series.

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use super::Choice;
use super::error::{ReadError, escaped, names, quoted};
use crate::samples::series::Series;
use knobstat_data::Better;

/// The versions of its schema that are known; version 1 does not say that it is.
const NEWEST: u64 = 2;

#[derive(Deserialize)]
struct Export {
    schema_version: Option<u64>,
    primary_metric: Option<String>,
    results: Vec<Outcome>,
}

#[derive(Deserialize)]
struct Outcome {
    command: Option<String>,
    name: Option<String>,
    times: Option<Vec<f64>>,
    memory_usage_byte: Option<Vec<f64>>,
    measurements: Option<Measurements>,
    #[serde(default)]
    exit_codes: Failures,
}

#[derive(Deserialize)]
struct Measurement {
    time_wall_clock: Option<Quantity>,
    time_user: Option<Quantity>,
    time_system: Option<Quantity>,
    #[serde(alias = "peak_memory_usage")]
    memory_peak_resident: Option<Quantity>,
    #[serde(default)]
    exit_code: Option<i64>,
}

#[derive(Deserialize)]
struct Quantity {
    value: f64,
    unit: Unit,
}

/// The units that are known, and their size in seconds or bytes.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Byte,
    Kibibyte,
    Mebibyte,
    Gibibyte,
}

impl Quantity {
    /// In seconds or in bytes.
    fn in_base_unit(&self) -> f64 {
        self.value
            * match self.unit {
                Unit::Second | Unit::Byte => 1.0,
                Unit::Millisecond => 1e-3,
                Unit::Microsecond => 1e-6,
                Unit::Nanosecond => 1e-9,
                Unit::Kibibyte => 1024.0,
                Unit::Mebibyte => 1_048_576.0,
                Unit::Gibibyte => 1_073_741_824.0,
            }
    }
}

/// The measurements of a command, a list a quantity.
#[derive(Default)]
struct Measurements {
    runs: usize,
    failed: usize,
    wall: Vec<f64>,
    user: Vec<f64>,
    system: Vec<f64>,
    /// User and system time together, of the runs that have both.
    cpu: Vec<f64>,
    memory: Vec<f64>,
}

impl<'de> Deserialize<'de> for Measurements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Runs;
        impl<'de> Visitor<'de> for Runs {
            type Value = Measurements;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of measurements")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Measurements, A::Error> {
                let mut found = Measurements::default();
                while let Some(run) = list.next_element::<Measurement>()? {
                    found.add(&run);
                }
                Ok(found)
            }
        }
        deserializer.deserialize_seq(Runs)
    }
}

impl Measurements {
    fn add(&mut self, run: &Measurement) {
        self.runs += 1;
        self.failed += usize::from(run.exit_code.is_some_and(|code| code != 0));
        let of = |quantity: &Option<Quantity>| quantity.as_ref().map(Quantity::in_base_unit);
        let (user, system) = (of(&run.time_user), of(&run.time_system));
        self.wall.extend(of(&run.time_wall_clock));
        self.user.extend(user);
        self.system.extend(system);
        self.cpu
            .extend(user.zip(system).map(|(user, system)| user + system));
        self.memory.extend(of(&run.memory_peak_resident));
    }
}

/// How many of a list of exit codes are not zero.
#[derive(Default)]
struct Failures(usize);

impl<'de> Deserialize<'de> for Failures {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Codes;
        impl<'de> Visitor<'de> for Codes {
            type Value = Failures;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of exit codes")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Failures, A::Error> {
                let mut failed = 0;
                while let Some(code) = list.next_element::<Option<i64>>()? {
                    // A command that a signal ended has no code.
                    failed += usize::from(code != Some(0));
                }
                Ok(Failures(failed))
            }
        }
        deserializer.deserialize_seq(Codes)
    }
}

/// The quantities of a run, by the names that both versions have for them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Metric {
    Time,
    User,
    System,
    Cpu,
    Memory,
}

const METRICS: [(&str, Metric); 11] = [
    ("time", Metric::Time),
    ("user", Metric::User),
    ("system", Metric::System),
    ("cpu", Metric::Cpu),
    ("memory", Metric::Memory),
    ("time_wall_clock", Metric::Time),
    ("time_user", Metric::User),
    ("time_system", Metric::System),
    ("time_cpu", Metric::Cpu),
    ("memory_peak_resident", Metric::Memory),
    ("memory_usage_byte", Metric::Memory),
];

impl Metric {
    fn find(wanted: &str) -> Option<Self> {
        let found = METRICS.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, metric)| *metric)
    }

    fn word(self) -> &'static str {
        METRICS
            .iter()
            .find(|(_, metric)| *metric == self)
            .map_or("time", |(name, _)| name)
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Memory => "B",
            _ => "s",
        }
    }
}

pub(super) fn read(bytes: &[u8], choice: Choice) -> Result<Vec<Series>, ReadError> {
    let export: Export = serde_json::from_slice(bytes)
        .map_err(|error| ReadError::NotJson(escaped(&error.to_string())))?;
    if let Some(version) = export.schema_version.filter(|version| *version > NEWEST) {
        return Err(ReadError::Newer(version));
    }
    let metrics = if choice.columns.is_empty() {
        let primary = export.primary_metric.as_deref().and_then(Metric::find);
        vec![primary.unwrap_or(Metric::Time)]
    } else {
        choice
            .columns
            .iter()
            .map(|wanted| {
                Metric::find(wanted).ok_or_else(|| ReadError::NoColumn {
                    wanted: quoted(wanted.as_bytes()),
                    present: names(METRICS[..5].iter().map(|(name, _)| *name)),
                })
            })
            .collect::<Result<Vec<_>, _>>()?
    };
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut all = Vec::new();
    for mut outcome in export.results {
        let label = label(&outcome, &mut seen);
        for metric in &metrics {
            all.push(outcome.take(*metric, &label)?);
        }
    }
    Ok(all)
}

/// The name of a command, with a number where others before it have the same.
fn label(outcome: &Outcome, seen: &mut HashMap<String, usize>) -> String {
    let name = outcome.name.as_ref().or(outcome.command.as_ref());
    let name = name.map_or_else(|| "command".to_owned(), Clone::clone);
    let times = seen.entry(name.clone()).or_insert(0);
    *times += 1;
    match *times {
        1 => name,
        times => format!("{name} ({times})"),
    }
}

impl Outcome {
    fn take(&mut self, metric: Metric, label: &str) -> Result<Series, ReadError> {
        let mut series = Series::new(label.to_owned(), metric.word().to_owned());
        series.unit = metric.unit().to_owned();
        series.better = Some(Better::Lower);
        let missing = || ReadError::NoTimes(quoted(label.as_bytes()));
        let (runs, failed) = match &mut self.measurements {
            Some(measurements) => {
                series.values = std::mem::take(match metric {
                    Metric::Time => &mut measurements.wall,
                    Metric::User => &mut measurements.user,
                    Metric::System => &mut measurements.system,
                    Metric::Cpu => &mut measurements.cpu,
                    Metric::Memory => &mut measurements.memory,
                });
                (measurements.runs, measurements.failed)
            }
            None => {
                let values = match metric {
                    Metric::Time => self.times.take(),
                    Metric::Memory => self.memory_usage_byte.take(),
                    Metric::User | Metric::System | Metric::Cpu => None,
                };
                series.values = values.ok_or_else(missing)?;
                (series.values.len(), self.exit_codes.0)
            }
        };
        if series.values.is_empty() {
            return Err(missing());
        }
        if series.values.iter().any(|value| !value.is_finite()) {
            return Err(ReadError::NotJson("a number is too large".to_owned()));
        }
        series.passed_over = runs.saturating_sub(series.values.len());
        if failed > 0 {
            series.notes.push(format!(
                "{failed} of the {} of {label} ended with an error; their values are counted.",
                crate::phrase::count(runs as u64, "run")
            ));
        }
        Ok(series)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = r#"{"results":[
        {"command":"sleep 0.1","mean":0.1,"stddev":null,"median":0.1,"user":0.01,"system":0.0,
         "min":0.1,"max":0.1,"times":[0.1,0.11,0.12],"memory_usage_byte":[100,200,300],
         "exit_codes":[0,1,null],"parameters":{"x":"1"}},
        {"command":"sleep 0.1","mean":0.1,"times":[0.2],"exit_codes":[0]}]}"#;

    const V2: &str = r#"{"schema_version":2,"primary_metric":"time_cpu","results":[{"command":"sleep 0.1",
        "name":"nap","measurements":[
         {"time_wall_clock":{"value":100.0,"unit":"millisecond"},"time_user":{"value":0.25,"unit":"second"},
          "time_system":{"value":0.5,"unit":"second"},"memory_peak_resident":{"value":2,"unit":"kibibyte"},"exit_code":0},
         {"time_wall_clock":{"value":0.2,"unit":"second"},"time_user":{"value":0.25,"unit":"second"},
          "time_system":{"value":0.25,"unit":"second"},"exit_code":3}],
        "summary":{"time_wall_clock":{"unit":"second","count":2,"mean":0.15}}}]}"#;

    fn with(text: &str, column: Option<&str>) -> Result<Vec<Series>, ReadError> {
        let columns: Vec<String> = column.into_iter().map(str::to_owned).collect();
        let choice = Choice {
            columns: &columns,
            delimiters: None,
        };
        read(text.as_bytes(), choice)
    }

    #[test]
    fn version_1_has_lists() {
        let found = with(V1, None).unwrap();
        assert_eq!(found[0].label, "sleep 0.1");
        assert_eq!(found[0].values, [0.1, 0.11, 0.12]);
        assert_eq!(
            (found[0].metric.as_str(), found[0].unit.as_str()),
            ("time", "s")
        );
        assert!(
            found[0].notes[0].starts_with("2 of the 3 runs"),
            "{:?}",
            found[0].notes
        );
        assert_eq!(found[1].label, "sleep 0.1 (2)");
        assert!(matches!(with(V1, Some("user")), Err(ReadError::NoTimes(_))));
        assert!(matches!(
            with(V1, Some("cycles")),
            Err(ReadError::NoColumn { .. })
        ));
    }

    #[test]
    fn version_2_has_quantities_with_units() {
        let found = with(V2, None).unwrap();
        assert_eq!(
            (found[0].label.as_str(), found[0].metric.as_str()),
            ("nap", "cpu")
        );
        assert_eq!(found[0].values, [0.75, 0.5]);
        assert_eq!(found[0].notes.len(), 1);
        assert_eq!(with(V2, Some("time")).unwrap()[0].values, [0.1, 0.2]);
        let memory = &with(V2, Some("memory")).unwrap()[0];
        assert_eq!(
            (memory.values.as_slice(), memory.passed_over),
            (&[2048.0][..], 1)
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        assert_eq!(
            with(r#"{"schema_version":3,"results":[]}"#, None),
            Err(ReadError::Newer(3))
        );
        for text in [
            "{",
            r#"{"results":[{"command":"a","times":[null]}]}"#,
            r#"{"results":[{"measurements":[{"time_wall_clock":{"value":1,"unit":"fortnight"}}]}]}"#,
            r#"{"results":[{"command":"a","times":[1e999]}]}"#,
        ] {
            assert!(
                matches!(with(text, None), Err(ReadError::NotJson(_))),
                "{text}"
            );
        }
        let summary = r#"{"results":[{"command":"a","mean":1.0}]}"#;
        assert!(matches!(with(summary, None), Err(ReadError::NoTimes(_))));
    }
}
