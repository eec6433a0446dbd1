//! No test waits for ever for what it started, and none leaves it behind.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::time::Duration;

use crate::support::limit::{Limit, MARK};
use crate::support::program::Place;

/// What would outlast every test.
fn endless(place: &Place) -> Child {
    let mut command = Command::new("sleep");
    command.arg("100000").env(MARK, place.path());
    command.spawn().unwrap()
}

/// By a signal: which one it is depends on whether it was started to ignore the polite one.
fn must_be_ended(child: &mut Child) {
    assert!(child.wait().unwrap().signal().is_some());
}

#[test]
fn what_a_test_started_is_ended_when_its_time_is_over() {
    let place = Place::new();
    let mut child = endless(&place);
    let _limit = Limit::of(place.path(), Duration::ZERO);
    must_be_ended(&mut child);
}

#[test]
fn what_a_test_that_fails_started_is_ended() {
    let (children, child) = std::sync::mpsc::channel();
    let failed = std::thread::spawn(move || {
        let place = Place::new();
        children.send(endless(&place)).unwrap();
        panic!("a test that fails");
    });
    assert!(failed.join().is_err());
    let mut child = child.recv().unwrap();
    must_be_ended(&mut child);
}
