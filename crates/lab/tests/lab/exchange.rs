//! Records out and in: nothing is lost on the way, and no file makes the program panic.

use std::collections::BTreeMap;

use crate::chance::Chance;
use crate::outcomes::{record_with_attempts, tainted};
use crate::support::{attempt, experiment, full_result, record};
use knobstat_data::observation::{Evidence, KnobReading, Outcome};
use knobstat_data::words::{Level, Unit};
use knobstat_data::{Record, RunResult};
use knobstat_lab::exchange::{ImportError, check, csv, from_json, to_json};
use knobstat_lab::store::Store;
use proptest::prelude::*;

/// The cells of a CSV text, read by the rules of RFC 4180.
fn cells(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut characters = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(character) = characters.next() {
        let row = rows.last_mut().unwrap();
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                row.last_mut().unwrap().push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(String::new()),
            '\r' if !is_quoted => {}
            '\n' if !is_quoted => rows.push(vec![String::new()]),
            other => row.last_mut().unwrap().push(other),
        }
    }
    assert_eq!(rows.pop().unwrap(), [""], "a text ends with its last row");
    rows
}

/// Adding zero takes the sign of a negative zero, which SQLite does not keep.
fn any_finite() -> impl Strategy<Value = f64> {
    any::<f64>()
        .prop_filter("finite", |value| value.is_finite())
        .prop_map(|value| value + 0.0)
}

fn any_level() -> impl Strategy<Value = Level> {
    prop_oneof![
        any::<bool>().prop_map(Level::Boolean),
        any::<i64>().prop_map(Level::Integer),
        any_finite().prop_map(Level::Number),
        any::<String>().prop_map(Level::Text),
    ]
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Ok),
        Just(tainted()),
        Just(crate::outcomes::failed()),
        Just(Outcome::Interrupted)
    ]
}

prop_compose! {
    fn any_result()(
        outcome in any_outcome(),
        value in any_finite(),
        temperature in proptest::option::of(any_finite()),
        text in any::<String>(),
        seen in any_finite(),
        level in any_level(),
        asked in proptest::option::of(any_level()),
        is_full in any::<bool>(),
        nanoseconds in 0..=i64::MAX as u64,
    ) -> RunResult {
        if !is_full {
            return RunResult::bare(outcome);
        }
        let mut result = full_result(outcome, value);
        result.metrics[1].value = seen;
        result.settling.temperature = temperature.map(knobstat_data::Celsius);
        result.settling.waited = std::time::Duration::from_nanos(nanoseconds);
        result.evidence.push(Evidence {
            key: text.clone(),
            scope: text.clone(),
            unit: Unit::new(text.clone()),
            value: if value > 0.0 { Ok(seen) } else { Err(text.clone()) },
        });
        result.before.push(KnobReading { knob: text.clone(), asked, read: Ok(level) });
        result.notes.push(text);
        result
    }
}

prop_compose! {
    fn any_record()(results in proptest::collection::vec(any_result(), 0..8)) -> Record {
        let mut record = record(experiment(&["tsc", "hpet"], 2, 1), 1);
        let runs: Vec<_> = record.plan.runs().collect();
        for ((sequence, run), result) in (0..).zip(&runs).zip(results) {
            let mut attempt = attempt(run, sequence, Outcome::Ok);
            attempt.result = result;
            record.attempts.push(attempt);
        }
        record
    }
}

fn new_store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&directory.path().join("store.db"), None).unwrap();
    (directory, store)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_and_the_store_give_back_what_they_took(record in any_record()) {
        let text = to_json(&record).unwrap();
        let read = from_json(&text).unwrap();
        // As text too, because levels of different kinds can be equal.
        prop_assert_eq!(format!("{:?}", &read), format!("{record:?}"));
        let (_directory, mut store) = new_store();
        store.import(&read).unwrap();
        let stored = store.load(record.id.as_str()).unwrap();
        prop_assert_eq!(to_json(&stored).unwrap(), text);
    }

    #[test]
    fn csv_has_every_number_to_the_last_bit(record in any_record()) {
        let rows = cells(&csv(&record));
        let heading = rows[0].clone();
        let rows: Vec<BTreeMap<&str, &str>> = rows[1..]
            .iter()
            .map(|row| {
                assert_eq!(row.len(), heading.len());
                heading.iter().map(String::as_str).zip(row.iter().map(String::as_str)).collect()
            })
            .collect();
        for attempt in &record.attempts {
            let of_kind = |kind: &str| -> Vec<&BTreeMap<&str, &str>> {
                rows.iter()
                    .filter(|row| row["attempt"] == attempt.id.as_str() && row["kind"] == kind)
                    .collect()
            };
            prop_assert_eq!(of_kind("outcome").len(), 1);
            prop_assert_eq!(of_kind("outcome")[0]["outcome"], attempt.result.outcome.word());
            let metrics = of_kind("metric");
            prop_assert_eq!(metrics.len(), attempt.result.metrics.len());
            for (row, metric) in metrics.iter().zip(&attempt.result.metrics) {
                prop_assert_eq!(row["name"], &metric.metric.name);
                prop_assert_eq!(row["value"].parse::<f64>().unwrap().to_bits(), metric.value.to_bits());
            }
            let evidence = of_kind("evidence");
            prop_assert_eq!(evidence.len(), attempt.result.evidence.len());
            for (row, seen) in evidence.iter().zip(&attempt.result.evidence) {
                prop_assert_eq!(row["name"], &seen.key);
                match &seen.value {
                    Ok(value) => prop_assert_eq!(row["value"].parse::<f64>().unwrap().to_bits(), value.to_bits()),
                    Err(reason) => prop_assert_eq!(row["text"], reason),
                }
            }
            prop_assert_eq!(of_kind("time").len(), if attempt.result.times.is_some() { 6 } else { 1 });
        }
    }
}

/// Changes one place of a text: a byte, a stretch left out, or a number made absurd.
fn spoil(text: &str, chance: &mut Chance) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = chance.below(bytes.len() as u64) as usize;
    match chance.below(4) {
        0 => bytes[at] = chance.below(128) as u8,
        1 => {
            let end = (at + chance.below(40) as usize).min(bytes.len());
            bytes.drain(at..end);
        }
        2 => bytes.truncate(at),
        _ => {
            let absurd = [
                "-1",
                "1e999",
                "99999999999999999999",
                "null",
                "[]",
                "\"\"",
                "18446744073709551615",
            ];
            let word = absurd[chance.below(absurd.len() as u64) as usize];
            let is_digit = |byte: &u8| byte.is_ascii_digit();
            if let Some(start) = bytes[at..]
                .iter()
                .position(is_digit)
                .map(|start| start + at)
            {
                let length = bytes[start..]
                    .iter()
                    .take_while(|byte| is_digit(byte))
                    .count();
                bytes.splice(start..start + length, word.bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn no_spoilt_record_makes_a_panic() {
    let text = to_json(&record_with_attempts(1)).unwrap();
    let seed = 20_071_126;
    println!("seed {seed}");
    let mut chance = Chance(seed);
    let (_directory, mut store) = new_store();
    let mut refused = 0;
    for _ in 0..4000 {
        let spoilt = spoil(&text, &mut chance);
        match from_json(&spoilt) {
            Err(_) => refused += 1,
            // What is taken in can be read and written like any other.
            Ok(record) => {
                csv(&record);
                to_json(&record).unwrap();
                if store.import(&record).is_ok() {
                    assert!(store.record(&record.id).is_ok());
                }
            }
        }
    }
    assert!(refused > 1000, "{refused}");
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!(
        "{{\"schema\": \"knobstat.record/1\", \"record\": {}",
        "[".repeat(1 << 20)
    );
    assert!(matches!(from_json(&deep), Err(ImportError::Unreadable(_))));
}

#[test]
fn other_files_are_told_apart() {
    for (text, expected) in [
        ("", "no record"),
        ("[1, 2]", "no record"),
        ("{\"schema\": \"knobstat.report/1\"}", "export"),
        ("{\"schema\": \"knobstat.record/1\"}", "no record"),
        ("{\"schema\": \"knobstat.record/2\"}", "newer"),
    ] {
        let message = from_json(text).unwrap_err().to_string();
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn what_does_not_hold_together_is_refused() {
    let good = record_with_attempts(1);
    assert_eq!(check(&good), Ok(()));
    let spoilt = |change: &dyn Fn(&mut Record)| {
        let mut record = good.clone();
        change(&mut record);
        check(&record).unwrap_err().to_string()
    };
    let twice = spoilt(&|record| {
        let again = record.attempts[0].clone();
        record.attempts.push(again);
    });
    assert!(twice.contains("twice"), "{twice}");
    let treatment = spoilt(&|record| record.attempts[0].treatment = 7);
    assert!(treatment.contains("not in the plan"), "{treatment}");
    let run = spoilt(&|record| record.attempts[0].block = 9);
    assert!(run.contains("its place"), "{run}");
    let other = spoilt(&|record| record.plan.experiment = crate::support::id(9));
    assert!(other.contains("another experiment"), "{other}");
    let value = spoilt(&|record| record.attempts[3].result.metrics[0].value = f64::NAN);
    assert!(value.contains("finite"), "{value}");
}
