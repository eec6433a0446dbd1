//! The store: what it keeps, what it refuses, and in which words.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::outcomes::record_with_attempts;
use crate::support::{attempt, experiment, full_result, id, record};
use knobstat_data::observation::Outcome;
use knobstat_data::words::{RequestId, UnixTime};
use knobstat_lab::store::{Merged, Store, StoreError, default_path};
use rusqlite::Connection;

fn new_store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&directory.path().join("store.db"), None).unwrap();
    (directory, store)
}

#[test]
fn an_experiment_is_read_back_as_it_was_written() {
    let (_directory, mut store) = new_store();
    let whole = record_with_attempts(1);
    let mut begun = whole.clone();
    begun.attempts.clear();
    store.create(&begun).unwrap();
    for attempt in &whole.attempts {
        store.commit_attempt(&whole.id, attempt).unwrap();
    }
    assert_eq!(store.record(&whole.id).unwrap(), whole);
    let path = store.path().to_owned();
    drop(store);
    let store = Store::open_existing(&path).unwrap();
    assert_eq!(store.load(whole.id.as_str()).unwrap(), whole);
}

#[test]
fn a_request_is_unfinished_until_it_is_done() {
    let (_directory, mut store) = new_store();
    let request = RequestId::of("test", "machine");
    assert_eq!(store.find_unfinished(&request).unwrap(), None);
    let first = record(experiment(&["tsc", "hpet"], 2, 0), 1);
    let mut second = record(experiment(&["tsc", "hpet"], 2, 0), 2);
    second.started = UnixTime(first.started.0 + 1);
    store.create(&first).unwrap();
    store.create(&second).unwrap();
    assert_eq!(
        store.find_unfinished(&request).unwrap(),
        Some(second.id.clone())
    );
    store.finish(&second.id, UnixTime(7)).unwrap();
    assert_eq!(
        store.find_unfinished(&request).unwrap(),
        Some(first.id.clone())
    );
    store.finish(&first.id, UnixTime(8)).unwrap();
    assert_eq!(store.find_unfinished(&request).unwrap(), None);
    assert_eq!(store.record(&first.id).unwrap().finished, Some(UnixTime(8)));
    let other = RequestId::of("test", "another machine");
    assert_eq!(store.find_unfinished(&other).unwrap(), None);
}

#[test]
fn a_list_counts_what_was_run() {
    let (_directory, mut store) = new_store();
    assert_eq!(store.list().unwrap(), []);
    let record = record_with_attempts(1);
    store.create(&record).unwrap();
    let list = store.list().unwrap();
    assert_eq!(list.len(), 1);
    let count = |word: &str, warmups: bool| {
        let attempts = record.attempts.iter();
        attempts
            .filter(|attempt| attempt.result.outcome.word() == word)
            .filter(|attempt| warmups || attempt.warmup.is_none())
            .count() as u64
    };
    assert_eq!(list[0].ok, count("ok", false));
    assert_eq!(list[0].tainted, count("tainted", false));
    assert_eq!(list[0].failed, count("failed", true));
    assert!(list[0].ok > 0 && list[0].tainted > 0 && list[0].failed > 0);
    assert_eq!(
        (list[0].name.as_str(), list[0].host.as_deref()),
        ("clock sources", Some("host"))
    );
}

#[test]
fn an_experiment_goes_by_its_id_its_beginning_or_its_name() {
    let (_directory, mut store) = new_store();
    let first = record(experiment(&["tsc", "hpet"], 2, 0), 1);
    store.create(&first).unwrap();
    let beginning = &first.id.as_str()[..4];
    for word in [first.id.as_str(), beginning, "clock sources"] {
        assert_eq!(store.find(word).unwrap(), first.id);
    }
    for word in ["", "%", "____", "clock", "zz", "' OR 1"] {
        let error = store.find(word).unwrap_err();
        assert!(
            matches!(error, StoreError::Unknown { .. }),
            "{word}: {error}"
        );
        assert_eq!(error.exit_code(), 2);
    }
    store
        .create(&record(experiment(&["tsc", "hpet"], 2, 0), 2))
        .unwrap();
    let error = store.find("clock sources").unwrap_err();
    assert!(matches!(&error, StoreError::Ambiguous { candidates, .. } if candidates.len() == 2));
    assert!(error.to_string().contains(first.id.as_str()));
}

#[test]
fn a_record_is_taken_in_once() {
    let (_directory, mut store) = new_store();
    let mut record = record_with_attempts(1);
    let all = record.attempts.len();
    let late = record.attempts.split_off(3);
    let merged = |experiment, attempts| Merged {
        experiment,
        attempts,
    };
    assert_eq!(store.import(&record).unwrap(), merged(true, 3));
    assert_eq!(store.import(&record).unwrap(), merged(false, 0));
    record.attempts.extend(late);
    record.finished = Some(UnixTime(9));
    assert_eq!(store.import(&record).unwrap(), merged(false, all - 3));
    assert_eq!(store.record(&record.id).unwrap(), record);
    // An older copy takes nothing away.
    record.attempts.truncate(1);
    record.finished = None;
    assert_eq!(store.import(&record).unwrap(), merged(false, 0));
    assert_eq!(store.record(&record.id).unwrap().attempts.len(), all);
    assert_eq!(
        store.record(&record.id).unwrap().finished,
        Some(UnixTime(9))
    );
}

#[test]
fn a_record_that_contradicts_what_is_there_is_refused_whole() {
    let (_directory, mut store) = new_store();
    let record = record_with_attempts(1);
    store.import(&record).unwrap();

    let mut other_plan = record.clone();
    other_plan.plan.seed += 1;
    let mut other_value = record.clone();
    other_value.attempts[1].result.metrics[0].value += 1.0;
    // An attempt that is new comes before the one that contradicts.
    let new = record.plan.block(7).boots[0].runs[0].clone();
    other_value
        .attempts
        .insert(0, attempt(&new, 99, Outcome::Ok));
    let mut other_experiment = record_with_attempts(2);
    other_experiment.attempts[0].id = record.attempts[0].id.clone();
    for contradiction in [other_plan, other_value, other_experiment] {
        let error = store.import(&contradiction).unwrap_err();
        assert!(matches!(error, StoreError::Conflict { .. }), "{error}");
        assert_eq!(error.exit_code(), 2);
        assert_eq!(store.record(&record.id).unwrap(), record);
        assert_eq!(store.list().unwrap().len(), 1);
    }
}

#[test]
fn experiments_of_two_machines_share_a_store() {
    let (_directory, mut store) = new_store();
    let (mut here, mut there) = (record_with_attempts(1), record_with_attempts(2));
    there.machine.id = "another machine".to_owned();
    there.request = RequestId::of("test", "another machine");
    there.started = UnixTime(here.started.0 + 1);
    // Both are under way at once: two connections, attempts in turn.
    let attempts = here
        .attempts
        .iter()
        .zip(&there.attempts)
        .map(|(a, b)| (a.clone(), b.clone()));
    let attempts: Vec<_> = attempts.collect();
    here.attempts.clear();
    there.attempts.clear();
    let mut second = Store::open_existing(store.path()).unwrap();
    store.create(&here).unwrap();
    second.create(&there).unwrap();
    for (ours, theirs) in &attempts {
        store.commit_attempt(&here.id, ours).unwrap();
        second.commit_attempt(&there.id, theirs).unwrap();
    }
    for (record, index) in [(&here, 0), (&there, 1)] {
        let found = store.record(&record.id).unwrap();
        let expected = attempts.iter().map(|pair| [&pair.0, &pair.1][index]);
        assert!(found.attempts.iter().eq(expected));
        assert_eq!(
            store.find_unfinished(&record.request).unwrap(),
            Some(record.id.clone())
        );
    }
}

#[test]
fn what_a_store_cannot_hold_is_refused_and_leaves_nothing() {
    let (_directory, mut store) = new_store();
    let mut record = record_with_attempts(1);
    let mut bad = record.attempts.pop().unwrap();
    store.create(&record).unwrap();
    bad.result = full_result(Outcome::Ok, f64::INFINITY);
    let error = store.commit_attempt(&record.id, &bad).unwrap_err();
    assert!(matches!(error, StoreError::OutOfRange { .. }), "{error}");
    bad.result = full_result(Outcome::Ok, 1.0);
    bad.result.settling.waited = std::time::Duration::MAX;
    store.commit_attempt(&record.id, &bad).unwrap_err();
    bad.result.settling.waited = std::time::Duration::ZERO;
    assert_eq!(store.record(&record.id).unwrap(), record);
    // An attempt of an experiment that is not there.
    store.commit_attempt(&id(9), &bad).unwrap_err();
    store.commit_attempt(&record.id, &bad).unwrap();
}

#[test]
fn a_new_store_is_its_owners_alone() {
    let (directory, _store) = new_store();
    for made in fs::read_dir(directory.path()).unwrap() {
        let made = made.unwrap();
        let mode = made.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{made:?}");
    }
}

#[test]
fn the_directories_of_a_new_store_are_its_owners_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("share/knobstat/store.db");
    Store::open(&path, None).unwrap();
    for made in ["share", "share/knobstat"] {
        let mode = fs::metadata(directory.path().join(made))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700, "{made}");
    }
}

#[test]
fn a_file_of_something_else_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("notes.txt");
    let content =
        "These are notes, and longer than the hundred bytes of an SQLite header. ".repeat(20);
    fs::write(&text, &content).unwrap();
    let database = directory.path().join("other.db");
    let connection = Connection::open(&database).unwrap();
    connection
        .execute_batch("CREATE TABLE a (x); PRAGMA user_version = 1;")
        .unwrap();
    drop(connection);
    let before = fs::read(&database).unwrap();
    for path in [&text, &database] {
        let error = Store::open(path, None).unwrap_err();
        assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
        assert_eq!(error.exit_code(), 4);
    }
    assert_eq!(fs::read_to_string(&text).unwrap(), content);
    assert_eq!(fs::read(&database).unwrap(), before);
}

#[test]
fn a_store_of_a_newer_version_is_refused_in_a_sentence() {
    let (directory, store) = new_store();
    drop(store);
    let path = directory.path().join("store.db");
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let error = Store::open(&path, None).unwrap_err();
    assert!(
        matches!(error, StoreError::Newer { found: 99, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("newer knobstat"), "{error}");
    assert_eq!(error.exit_code(), 4);
}

#[test]
fn places_without_a_store_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let error = Store::open(directory.path(), None).unwrap_err();
    assert!(matches!(error, StoreError::IsDirectory { .. }), "{error}");
    let missing = directory.path().join("missing.db");
    let error = Store::open_existing(&missing).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
    assert!(!missing.exists(), "looking for a store makes none");
    // Nobody, root included, makes a file there.
    let error = Store::open(Path::new("/proc/knobstat/store.db"), None).unwrap_err();
    assert!(matches!(error, StoreError::Open { .. }), "{error}");
    assert_eq!(error.exit_code(), 4);
}

#[test]
fn a_spoilt_store_is_an_error_and_no_panic() {
    let (directory, mut store) = new_store();
    store.create(&record_with_attempts(1)).unwrap();
    let path = store.path().to_owned();
    drop(store);
    let good = fs::read(&path).unwrap();
    let seed = 7;
    println!("seed {seed}");
    let mut chance = crate::chance::Chance(seed);
    let mut errors = 0;
    for round in 0..200 {
        let mut bytes = good.clone();
        for _ in 0..20 {
            let at = chance.below(bytes.len() as u64) as usize;
            bytes[at] = chance.below(256) as u8;
        }
        if round % 4 == 0 {
            bytes.truncate(chance.below(bytes.len() as u64) as usize);
        }
        let path = directory.path().join(format!("spoilt{round}.db"));
        fs::write(&path, bytes).unwrap();
        let opened = Store::open_existing(&path);
        let read = opened.and_then(|store| store.load("clock sources"));
        errors += usize::from(read.is_err());
    }
    assert!(errors > 0);
}

#[test]
fn the_usual_place_follows_the_xdg_directories() {
    let place = |variables: &[(&str, &str)]| {
        default_path(|name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).into())
        })
    };
    let home = ("HOME", "/home/user");
    assert_eq!(
        place(&[home]).unwrap(),
        Path::new("/home/user/.local/share/knobstat/store.db")
    );
    assert_eq!(
        place(&[("XDG_DATA_HOME", "/data"), home]).unwrap(),
        Path::new("/data/knobstat/store.db")
    );
    assert_eq!(
        place(&[("XDG_DATA_HOME", "relative"), home]).unwrap(),
        Path::new("/home/user/.local/share/knobstat/store.db")
    );
    assert!(matches!(place(&[("HOME", "")]), Err(StoreError::NoPlace)));
}

#[test]
fn the_query_of_the_documentation_finds_the_observations() {
    let (_directory, mut store) = new_store();
    let record = record_with_attempts(1);
    store.create(&record).unwrap();
    let documentation = include_str!("../../../../docs/store.md");
    let (_, query) = documentation.split_once("```sql\n").unwrap();
    let (query, _) = query.split_once("```").unwrap();
    let query = query
        .replace("clock sources revisited", "clock sources")
        .replace("'throughput'", "'wall'");
    let connection = Connection::open(store.path()).unwrap();
    let mut statement = connection.prepare(&query).unwrap();
    let found: Vec<(String, f64)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let expected: Vec<(String, f64)> = record
        .attempts
        .iter()
        .filter(|attempt| attempt.is_observation())
        .map(|attempt| {
            let planned = &record.plan.treatments[attempt.treatment];
            let level = planned.treatment.level("clocksource").unwrap();
            (level.to_string(), attempt.result.metrics[0].value)
        })
        .collect();
    assert!(!expected.is_empty());
    assert_eq!(found, expected);
}
