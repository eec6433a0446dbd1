//! However an experiment in guests ends, none of them is left behind, and it can be continued.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::Test;
use crate::needs;
use crate::support::processes::{children, kill, wait_until_gone};
use crate::support::program::{Place, output};

pub const TESTS: &[Test] = &[
    ("a_killed_front_leaves_no_guest", a_killed_front),
    (
        "a_signal_ends_a_run_and_the_same_command_continues",
        a_signal,
    ),
];

/// An experiment with a long run, and its front as soon as it says so.
fn long_run(place: &Place, duration: &str) -> (std::path::PathBuf, Child) {
    let file = place.file(
        "long.toml",
        &format!(
            "name = \"long\"\n\n\
             [workload]\nkind = \"clock\"\nduration = \"{duration}\"\n\n\
             [factors]\nclocksource = [\"tsc\", \"hpet\"]\n\n\
             [design]\nreplicates = 2\nseed = 7\n\n\
             [target]\nkind = \"vm\"\nkernel = \"{}\"\n",
            needs::kernel()
        ),
    );
    let mut front = place
        .knobstat()
        .args(["run"])
        .arg(&file)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let said = BufReader::new(front.stderr.take().unwrap());
    let line = said
        .lines()
        .map(Result::unwrap)
        .find(|line| line.contains("run 1 of 4"));
    assert!(line.is_some(), "it said nothing of its first run");
    (file, front)
}

/// The guest of a front.
fn guest_of(front: &Child) -> i32 {
    let guests = children(front.id());
    assert_eq!(guests.len(), 1, "{guests:?}");
    guests[0]
}

fn a_killed_front() {
    let place = Place::new();
    let (_, mut front) = long_run(&place, "1h");
    let guest = guest_of(&front);
    front.kill().unwrap();
    front.wait().unwrap();
    wait_until_gone(guest);
}

fn a_signal() {
    let place = Place::new();
    let (file, mut front) = long_run(&place, "2s");
    let guest = guest_of(&front);
    kill("INT", front.id().cast_signed());
    assert_eq!(front.wait().unwrap().code(), Some(130));
    wait_until_gone(guest);
    let ended = output(place.knobstat().args(["run", "--json"]).arg(file)).must_exit(0);
    assert!(
        ended.stderr().contains("goes on after"),
        "{}",
        ended.stderr()
    );
    for treatment in ended.json()["treatments"].as_array().unwrap() {
        assert_eq!(treatment["runs"]["ok"], 2, "{treatment}");
    }
}
