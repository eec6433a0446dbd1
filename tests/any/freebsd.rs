//! A tree that stands for a machine with FreeBSD: its settings are turned through the tree's own
//! sysctl(8), and put back.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::install::install;
use crate::support::program::{Place, output};

/// A stand-in for sysctl(8) that keeps its variables in files, and what they are at first.
const SYSCTL: &str = include_str!("../../crates/knobs/src/tests/freebsd/sysctl.sh");
const VARIABLES: &str = include_str!("../../crates/knobs/src/tests/freebsd/variables");

/// The treatments of 2010 that the machine of the stand-in can take.
const FILE: &str = r#"
name = "TurboBoost against idle ticks"
[workload]
kind = "command"
command = "true"
[factors]
cstate = ["C1", "C3"]
idletick = ["off", "on"]
[fixed]
clocksource = "HPET"
[design]
replicates = 3
settle = "0s"
"#;

struct FreeBsd {
    tree: tempfile::TempDir,
}

impl FreeBsd {
    fn new() -> Self {
        let tree = tempfile::tempdir().unwrap();
        let variables = tree.path().join("variables");
        for directory in ["bin", "sbin", "variables"] {
            fs::create_dir(tree.path().join(directory)).unwrap();
        }
        fs::write(tree.path().join("bin/freebsd-version"), "#!/bin/sh\n").unwrap();
        for (name, value) in VARIABLES.lines().filter_map(|line| line.split_once(' ')) {
            fs::write(variables.join(name), format!("{value}\n")).unwrap();
        }
        let program = tree.path().join("sbin/sysctl");
        let script = SYSCTL.replace("DIRECTORY", &variables.display().to_string());
        let text = tree.path().join("sysctl.sh");
        fs::write(&text, script).unwrap();
        install(&text, &program);
        Self { tree }
    }

    fn path(&self) -> &Path {
        self.tree.path()
    }

    fn value(&self, name: &str) -> String {
        let path: PathBuf = self.path().join("variables").join(name);
        fs::read_to_string(path).unwrap().trim().to_owned()
    }

    fn assert_fresh(&self) {
        for (name, value) in VARIABLES.lines().filter_map(|line| line.split_once(' ')) {
            assert_eq!(self.value(name), value, "{name}");
        }
    }
}

#[test]
fn its_knobs_are_shown_turned_and_put_back() {
    let (place, machine) = (Place::new(), FreeBsd::new());
    let root = machine.path();
    let shown = output(place.knobstat().arg("--root").arg(root).arg("knobs"))
        .must_exit(0)
        .stdout();
    assert!(shown.contains("TSC-low"), "{shown}");
    assert!(!shown.contains("transparent"), "{shown}");

    let file = place.file("2010.toml", FILE);
    let ran = output(
        place
            .knobstat()
            .arg("--root")
            .arg(root)
            .args(["run", "--json"])
            .arg(&file),
    )
    .must_exit(0);
    let report = ran.json();
    let treatments = report["treatments"].as_array().unwrap();
    assert_eq!(treatments.len(), 4);
    for treatment in treatments {
        let runs = &treatment["runs"];
        assert!(runs["ok"].as_u64() >= Some(3), "{treatment}");
        assert_eq!((&runs["tainted"], &runs["failed"]), (&0.into(), &0.into()));
    }
    machine.assert_fresh();
}

#[test]
fn what_only_the_other_system_has_is_left_out_with_its_reason() {
    let (place, machine) = (Place::new(), FreeBsd::new());
    let text = FILE.replace("[fixed]", "thp = [\"never\", \"always\"]\n[fixed]");
    let file = place.file("thp.toml", &text);
    let ran = output(
        place
            .knobstat()
            .arg("--root")
            .arg(machine.path())
            .args(["run"])
            .arg(&file),
    );
    let said = format!("{}{}", ran.stdout(), ran.stderr());
    assert!(said.contains("there is no knob thp"), "{said}");
    machine.assert_fresh();
}
