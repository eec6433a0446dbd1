//! What the store promises to processes that are killed, and to those that may not write.
//!
//! Both tests start this very binary again, which then does the one thing that its environment
//! tells it to.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::chance::Chance;
use crate::support::{attempt, experiment, full_result, record};
use knobstat_data::observation::Outcome;
use knobstat_data::{Attempt, Record};
use knobstat_lab::store::{Store, StoreError};
use rustix::process::{Signal, geteuid, getpid, kill_process};

const STORE: &str = "KNOBSTAT_TEST_STORE";
const KILL_AFTER: &str = "KNOBSTAT_TEST_KILL_AFTER";

/// This binary again, running the one test. The path is looked up by the child itself, so that
/// one with fewer rights finds it as well.
fn again(test: &str, store: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command
        .args([test, "--exact", "--nocapture"])
        .env(STORE, store);
    command
}

fn the_record() -> Record {
    record(experiment(&["tsc", "hpet"], 100_000, 0), 1)
}

/// The attempt at a place of the order, the same in every process.
fn attempt_at(record: &Record, place: usize) -> Attempt {
    let run = record.plan.block(place / 2).boots[0].runs[place % 2].clone();
    let mut attempt = attempt(&run, place as u64, Outcome::Ok);
    attempt.result = full_result(Outcome::Ok, place as f64 + 0.1);
    attempt
}

/// Commits attempts and says so, until it is killed by its own hand: so many acknowledged
/// attempts and so many microseconds after it began, in the middle of whatever it does.
fn commit_until_killed(path: &Path, kill_after: &str) {
    let (acknowledged, microseconds) = kill_after.split_once(' ').unwrap();
    let acknowledged: usize = acknowledged.parse().unwrap();
    let delay = Duration::from_micros(microseconds.parse().unwrap());
    static ARMED: AtomicBool = AtomicBool::new(false);
    thread::spawn(move || {
        while !ARMED.load(Ordering::Acquire) {
            thread::yield_now();
        }
        let armed = Instant::now();
        while armed.elapsed() < delay {}
        kill_process(getpid(), Signal::KILL).unwrap();
    });
    ARMED.store(acknowledged == 0, Ordering::Release);
    let record = the_record();
    let mut store = Store::open(path, None).unwrap();
    let first = match store.record(&record.id) {
        Ok(known) => known.attempts.len(),
        Err(_) => {
            store.create(&record).unwrap();
            0
        }
    };
    for place in first.. {
        store
            .commit_attempt(&record.id, &attempt_at(&record, place))
            .unwrap();
        println!("acknowledged {place}");
        ARMED.store(place + 1 - first >= acknowledged, Ordering::Release);
    }
}

/// The last attempt that a process acknowledged.
fn last_acknowledged(output: &Output) -> Option<usize> {
    let text = String::from_utf8_lossy(&output.stdout);
    let places = text.lines().filter_map(|line| {
        // A line that was cut off by the end of the process is no acknowledgement.
        let place = line.split_once("acknowledged ")?.1;
        place.parse().ok()
    });
    let is_cut = !text.ends_with('\n');
    let mut places: Vec<usize> = places.collect();
    if is_cut {
        places.pop();
    }
    places.last().copied()
}

#[test]
fn every_acknowledged_attempt_outlives_the_process() {
    if let (Some(path), Ok(kill_after)) = (std::env::var_os(STORE), std::env::var(KILL_AFTER)) {
        return commit_until_killed(Path::new(&path), &kill_after);
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let record = the_record();
    let seed = 20_071_126;
    println!("seed {seed}");
    let mut chance = Chance(seed);
    let mut kept = 0;
    for round in 0..60 {
        let kill_after = format!("{} {}", chance.below(6), chance.below(20_000));
        let output = again(
            "durability::every_acknowledged_attempt_outlives_the_process",
            &path,
        )
        .env(KILL_AFTER, &kill_after)
        .output()
        .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(9), "round {round}: {errors}");
        let acknowledged = last_acknowledged(&output).map_or(kept, |last| last + 1);
        let found = Store::open(&path, None).unwrap().record(&record.id);
        let found = match found {
            Ok(found) => found.attempts,
            Err(StoreError::Unknown { .. }) if acknowledged == 0 => Vec::new(),
            Err(error) => panic!("round {round} ({kill_after}): {error}"),
        };
        let range = acknowledged.max(kept)..=acknowledged.max(kept) + 1;
        assert!(
            range.contains(&found.len()),
            "round {round} ({kill_after}): {} attempts and {acknowledged} acknowledged",
            found.len()
        );
        for (place, attempt) in found.iter().enumerate().skip(kept) {
            assert_eq!(*attempt, attempt_at(&record, place), "round {round}");
        }
        kept = found.len();
    }
    assert!(kept > 60, "{kept}");
}

/// Reads a store that cannot be written, and tries to.
fn read_and_try_to_write(path: &Path) {
    assert!(!geteuid().is_root());
    let mut store = Store::open(path, None).unwrap();
    let record = store.load("clock sources").unwrap();
    assert_eq!(record.attempts.len(), 1);
    assert_eq!(store.list().unwrap().len(), 1);
    let error = store
        .commit_attempt(&record.id, &attempt_at(&record, 1))
        .unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    assert_eq!(error.exit_code(), 4);
    // Nor can one be made beside it.
    let beside = path.with_file_name("beside.db");
    if fs::metadata(path.parent().unwrap())
        .unwrap()
        .permissions()
        .mode()
        & 0o222
        == 0
    {
        let error = Store::open(&beside, None).unwrap_err();
        assert!(matches!(error, StoreError::Open { .. }), "{error}");
    }
}

#[test]
fn a_store_that_cannot_be_written_is_read_all_the_same() {
    if let Some(path) = std::env::var_os(STORE) {
        return read_and_try_to_write(Path::new(&path));
    }
    let set_mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
    for directory_mode in [0o555, 0o777] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store?100%.db");
        let record = the_record();
        let mut store = Store::open(&path, None).unwrap();
        store.create(&record).unwrap();
        store
            .commit_attempt(&record.id, &attempt_at(&record, 0))
            .unwrap();
        drop(store);
        set_mode(&path, 0o444).unwrap();
        set_mode(directory.path(), directory_mode).unwrap();
        let mut command = again(
            "durability::a_store_that_cannot_be_written_is_read_all_the_same",
            &path,
        );
        if geteuid().is_root() {
            // Permissions do not bind root: somebody else has to try.
            command.uid(65_534).gid(65_534);
        }
        let output = command.output().unwrap();
        set_mode(directory.path(), 0o700).unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "directory {directory_mode:o}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(text.contains("1 passed"), "{text}");
    }
}
