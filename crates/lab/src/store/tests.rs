//! What needs the connection itself: a full disk, and how writes are flushed.

#[path = "../../tests/lab/support/mod.rs"]
mod support;

use knobstat_data::observation::Outcome;

use self::support::{attempt, experiment, full_result, record};
use super::{Store, StoreError};

fn new_store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&directory.path().join("store.db"), None).unwrap();
    (directory, store)
}

fn number(store: &Store, pragma: &str) -> i64 {
    store
        .connection
        .pragma_query_value(None, pragma, |row| row.get(0))
        .unwrap()
}

#[test]
fn every_commit_is_flushed_to_the_disk() {
    let (directory, store) = new_store();
    // 2 is FULL: the log is flushed at every commit.
    assert_eq!(number(&store, "synchronous"), 2);
    assert_eq!(number(&store, "foreign_keys"), 1);
    let journal: String = store
        .connection
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .unwrap();
    let is_remote = super::file_system::is_remote(directory.path());
    assert_eq!(journal, if is_remote { "delete" } else { "wal" });
}

#[test]
fn a_full_disk_takes_nothing_of_an_attempt_and_all_before_it_is_safe() {
    let (_directory, mut store) = new_store();
    let record = record(experiment(&["tsc", "hpet"], 100, 0), 1);
    store.create(&record).unwrap();
    let room = number(&store, "page_count") + 8;
    store
        .connection
        .pragma_update_and_check(None, "max_page_count", room, |_| Ok(()))
        .unwrap();
    let mut attempts = (0..).zip(record.plan.runs()).map(|(sequence, run)| {
        let mut attempt = attempt(&run, sequence, Outcome::Ok);
        attempt.result = full_result(Outcome::Ok, 1.5);
        attempt
    });
    let mut kept = Vec::new();
    let (refused, error) = loop {
        let attempt = attempts.next().unwrap();
        match store.commit_attempt(&record.id, &attempt) {
            Ok(()) => kept.push(attempt),
            Err(error) => break (attempt, error),
        }
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert_eq!(error.exit_code(), 4);
    assert!(!kept.is_empty());
    assert_eq!(store.record(&record.id).unwrap().attempts, kept);
    // There is room again.
    store
        .connection
        .pragma_update_and_check(None, "max_page_count", room + 100, |_| Ok(()))
        .unwrap();
    store.commit_attempt(&record.id, &refused).unwrap();
    kept.push(refused);
    assert_eq!(store.record(&record.id).unwrap().attempts, kept);
    let check: String = store
        .connection
        .pragma_query_value(None, "integrity_check", |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
}
