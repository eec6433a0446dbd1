//! What the README shows works as it stands there for a user without any rights.

use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;

use knobstat_sys::user::{self, User};

use crate::Test;
use crate::needs::Need;
use crate::support::install::install;
use crate::support::limit::MARK;
use crate::support::machine::Machine;
use crate::support::program::{Ended, Place, output};

/// The tests of this group.
pub const TESTS: &[Test] = &[(
    "every_command_of_the_readme_works_for_nobody",
    &[Need::Root, Need::Nobody],
    every_command_of_the_readme_works_for_nobody,
)];

/// The command lines of the README that begin with the program's name.
fn commands() -> Vec<String> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```sh";
        } else if inside && line.starts_with("knobstat ") {
            found.push(line.to_owned());
        }
    }
    assert!(found.len() >= 5, "{found:?}");
    found
}

/// Gives a tree to a user.
fn give(path: &Path, user: &User) {
    let ids = &user.credentials;
    chown(path, Some(ids.uid), Some(ids.gid)).unwrap();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path(), user);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        std::fs::copy(from, to).unwrap();
    }
}

/// A user's own machine, program and files.
struct Desk {
    place: Place,
    machine: Machine,
}

impl Desk {
    fn of(user: &User) -> Self {
        let (place, machine) = (Place::new(), Machine::desktop());
        let own = place.path();
        let program = own.join("knobstat");
        install(Path::new(env!("CARGO_BIN_EXE_knobstat")), &program);
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
        copy(Path::new(examples), &own.join("examples"));
        place.file("before.txt", "10.1\n10.2\n10.3\n10.0\n");
        place.file("after.txt", "9.1\n9.2\n9.0\n9.3\n");
        // What the examples start, if only for a moment.
        std::fs::create_dir(own.join("bin")).unwrap();
        let nothing = place.file("nothing.sh", "#!/bin/sh\nexit 0\n");
        for program in ["build.sh", "bin/rustc"] {
            install(&nothing, &own.join(program));
        }
        give(own, user);
        give(machine.path(), user);
        Self { place, machine }
    }

    /// A line as a shell would take it, with the laid-out machine in place of this one.
    fn run(&self, line: &str) -> Ended {
        let own = self.place.path();
        let line = line.strip_prefix("knobstat").unwrap();
        // ministat's own arguments begin right after its name.
        let root = if line.trim_start().starts_with("ministat") {
            String::new()
        } else {
            format!(" --root {}", self.machine.path().display())
        };
        output(
            Command::new("setpriv")
                .args(["--reuid", "nobody", "--regid", "nogroup", "--clear-groups"])
                .args(["sh", "-c", &format!("./knobstat{root}{line}")])
                .env_clear()
                .env("PATH", format!("{}/bin:/usr/bin:/bin", own.display()))
                .env("HOME", own)
                .env("XDG_STATE_HOME", own.join("state"))
                .env("KNOBSTAT_NO_KNOBS", "1")
                .env(MARK, own)
                .current_dir(own),
        )
    }
}

fn every_command_of_the_readme_works_for_nobody() {
    let nobody = user::named("nobody").unwrap();
    let desk = Desk::of(&nobody);
    let before = desk.machine.bytes();
    // There must be an experiment for those that look at one.
    desk.run("knobstat try -k thp=always,never -n 2 -- true")
        .must_exit(0);
    let list = desk.run("knobstat list --json").must_exit(0).json();
    let id = list[0]["id"].as_str().unwrap().to_owned();
    for line in commands() {
        let ended = desk.run(&line.replace("3f2a", &id));
        assert_eq!(
            ended.code(),
            Some(0),
            "{line}\n{}\n{}",
            ended.stdout(),
            ended.stderr()
        );
    }
    assert_eq!(desk.machine.bytes(), before);
}
