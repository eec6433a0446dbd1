//! Every attempt of a record as comma-separated values: one row for each thing that is known of
//! it, so that a metric or a piece of evidence that is new needs no new column.

use std::borrow::Cow;
use std::time::Duration;

use knobstat_data::Record;
use knobstat_data::observation::{Attempt, KnobReading};

/// The columns after which one for each factor follows.
const PLACE: &[&str] = &[
    "experiment",
    "attempt",
    "run",
    "block",
    "boot",
    "treatment",
    "warmup",
    "sequence",
    "started",
    "finished",
    "outcome",
];

/// The columns of the thing that is known.
const THING: &[&str] = &[
    "kind",
    "name",
    "scope",
    "unit",
    "value",
    "text",
    "limited_by",
    "granularity",
];

/// The attempts of a record as CSV (RFC 4180, with a heading). Numbers are written so that they
/// read back as the same number.
pub fn csv(record: &Record) -> String {
    let mut table = Table(String::new());
    let factors: Vec<&str> = record
        .experiment
        .factors
        .iter()
        .map(|factor| factor.name.as_str())
        .collect();
    table.row(PLACE.iter().chain(&factors).chain(THING).copied());
    for attempt in &record.attempts {
        let place = place(record, attempt, &factors);
        for thing in things(attempt) {
            table.row(place.iter().map(String::as_str).chain(thing.columns()));
        }
    }
    table.0
}

fn place(record: &Record, attempt: &Attempt, factors: &[&str]) -> Vec<String> {
    let mut place = vec![
        record.id.to_string(),
        attempt.id.to_string(),
        attempt.run.to_string(),
        attempt.block.to_string(),
        attempt.boot.to_string(),
        attempt.treatment.to_string(),
        attempt
            .warmup
            .map_or_else(String::new, |warmup| warmup.to_string()),
        attempt.sequence.to_string(),
        attempt.started.0.to_string(),
        attempt.finished.0.to_string(),
        attempt.result.outcome.word().to_owned(),
    ];
    let planned = record.plan.treatments.get(attempt.treatment);
    place.extend(factors.iter().map(|factor| {
        planned
            .and_then(|planned| planned.treatment.level(factor))
            .map_or_else(String::new, ToString::to_string)
    }));
    place
}

/// One thing that is known of an attempt.
#[derive(Default)]
struct Thing<'a> {
    kind: &'static str,
    name: &'a str,
    scope: &'a str,
    unit: &'a str,
    value: String,
    text: Cow<'a, str>,
    limited_by: &'static str,
    granularity: String,
}

impl Thing<'_> {
    fn columns(&self) -> impl Iterator<Item = &str> {
        [
            self.kind,
            self.name,
            self.scope,
            self.unit,
            &self.value,
            &self.text,
            self.limited_by,
            &self.granularity,
        ]
        .into_iter()
    }
}

/// Everything that is known of an attempt. There is always its outcome, so that no attempt is
/// left out.
fn things(attempt: &Attempt) -> Vec<Thing<'_>> {
    let result = &attempt.result;
    let mut things = vec![Thing {
        kind: "outcome",
        name: result.outcome.word(),
        text: serde_json::to_string(&result.outcome)
            .unwrap_or_default()
            .into(),
        ..Thing::default()
    }];
    things.extend(result.metrics.iter().map(|value| {
        Thing {
            kind: "metric",
            name: &value.metric.name,
            scope: "run",
            unit: value.metric.unit.as_str(),
            value: value.value.to_string(),
            text: if value.metric.self_timed {
                "self-timed"
            } else {
                ""
            }
            .into(),
            limited_by: value.limited_by.map_or("", |limit| limit.word()),
            granularity: value
                .granularity
                .map_or_else(String::new, |step| step.to_string()),
        }
    }));
    things.extend(result.evidence.iter().map(|evidence| {
        Thing {
            kind: "evidence",
            name: &evidence.key,
            scope: &evidence.scope,
            unit: evidence.unit.as_str(),
            value: evidence
                .value
                .as_ref()
                .map_or_else(|_| String::new(), f64::to_string),
            text: evidence
                .value
                .as_ref()
                .err()
                .map_or("", String::as_str)
                .into(),
            ..Thing::default()
        }
    }));
    if let Some(times) = &result.times {
        things.extend([
            time("wall", &times.stopwatch, times.wall),
            time("monotonic", "CLOCK_MONOTONIC", times.monotonic),
            time("monotonic_raw", "CLOCK_MONOTONIC_RAW", times.monotonic_raw),
            time("boottime", "CLOCK_BOOTTIME", times.boottime),
            time("cpu", "", times.cpu),
        ]);
    }
    let settling = &result.settling;
    things.push(time("waited", "", settling.waited));
    let truths = [
        ("knobs_changed", settling.knobs_changed),
        ("still_hot", settling.still_hot),
    ];
    things.extend(
        truths
            .into_iter()
            .filter(|(_, holds)| *holds)
            .map(|(name, _)| Thing {
                kind: "settling",
                name,
                ..Thing::default()
            }),
    );
    things.extend(settling.temperature.map(|temperature| Thing {
        kind: "settling",
        name: "temperature",
        unit: "C",
        value: temperature.0.to_string(),
        ..Thing::default()
    }));
    things.extend(result.before.iter().map(|reading| knob("before", reading)));
    things.extend(result.after.iter().map(|reading| knob("after", reading)));
    things.extend(result.notes.iter().map(|note| Thing {
        kind: "note",
        text: note.into(),
        ..Thing::default()
    }));
    things
}

/// Whole nanoseconds: more digits than a number of seconds would keep.
fn time<'a>(name: &'a str, clock: &'a str, time: Duration) -> Thing<'a> {
    Thing {
        kind: "time",
        name,
        scope: clock,
        unit: "ns",
        value: time.as_nanos().to_string(),
        ..Thing::default()
    }
}

fn knob<'a>(moment: &'a str, reading: &'a KnobReading) -> Thing<'a> {
    Thing {
        kind: "knob",
        name: &reading.knob,
        scope: moment,
        value: reading
            .read
            .as_ref()
            .map_or_else(|_| String::new(), ToString::to_string),
        text: match (&reading.read, &reading.asked) {
            (Err(reason), None) => reason.into(),
            (Err(reason), Some(asked)) => format!("{reason} (asked for {asked})").into(),
            (Ok(_), Some(asked)) => format!("asked for {asked}").into(),
            (Ok(_), None) => "".into(),
        },
        ..Thing::default()
    }
}

struct Table(String);

impl Table {
    fn row<'a>(&mut self, cells: impl Iterator<Item = &'a str>) {
        for (index, cell) in cells.enumerate() {
            if index > 0 {
                self.0.push(',');
            }
            if cell.contains([',', '"', '\n', '\r']) {
                self.0.push('"');
                self.0.push_str(&cell.replace('"', "\"\""));
                self.0.push('"');
            } else {
                self.0.push_str(cell);
            }
        }
        self.0.push_str("\r\n");
    }
}
