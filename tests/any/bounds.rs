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

#[test]
fn what_a_test_started_is_ended_when_its_time_is_over() {
    let place = Place::new();
    let mut child = endless(&place);
    let _limit = Limit::of(place.path(), Duration::ZERO);
    assert_eq!(child.wait().unwrap().signal(), Some(15));
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
    assert_eq!(child.wait().unwrap().signal(), Some(15));
}
