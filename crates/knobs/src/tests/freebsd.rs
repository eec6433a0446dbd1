//! FreeBSD's knobs, spoken to through a stand-in for sysctl(8): a script that keeps the values of
//! a Core i7-870 in files, refuses unknown names as FreeBSD does, and rounds where FreeBSD rounds.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use knobstat_data::Level;
use knobstat_data::messages::Availability;
use knobstat_sys::root::Root;

use super::turning::{journal, turn_all};
use crate::apply::ApplyError;
use crate::files::RootedFiles;
use crate::journal::Journal;
use crate::knob::{Knob, Refused};
use crate::restore::{Options, restore};
use crate::state_directory::StateDirectory;
use crate::system::System;

/// The stand-in. `DIRECTORY/NAME` holds a variable.
const SYSCTL: &str = include_str!("freebsd/sysctl.sh");

/// What the variables are when the machine has booted.
fn at_boot() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("freebsd/variables")
        .lines()
        .filter_map(|line| line.split_once(' '))
}

struct Machine {
    variables: tempfile::TempDir,
    _state: tempfile::TempDir,
    files: RootedFiles,
    system: System,
}

impl Machine {
    fn new() -> Self {
        let variables = tempfile::tempdir().unwrap();
        let state = tempfile::tempdir().unwrap();
        for (name, value) in at_boot() {
            fs::write(variables.path().join(name), format!("{value}\n")).unwrap();
        }
        let program = state.path().join("sysctl");
        let script = SYSCTL.replace("DIRECTORY", &variables.path().display().to_string());
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let root = Root::laid_out(variables.path()).unwrap();
        let directory = StateDirectory::at(state.path().join("knobstat"));
        Self {
            files: RootedFiles::new(root, directory),
            system: System::FreeBsd {
                sysctl: vec!["sh".to_owned(), program.display().to_string()],
            },
            variables,
            _state: state,
        }
    }

    fn knob(&self, name: &str) -> Knob {
        Knob::find_on(&self.system, name, &[]).unwrap_or_else(|| panic!("{name}"))
    }

    fn read(&self, name: &str) -> String {
        match self.knob(name).read(&self.files) {
            Ok(level) => level.to_string(),
            Err(why) => panic!("{name}: {}", why.reason),
        }
    }

    fn value(&self, variable: &str) -> String {
        let text = fs::read_to_string(self.variables.path().join(variable)).unwrap();
        text.trim().to_owned()
    }

    fn turn(&self, journal: &mut Journal, settings: &[(&str, &str)]) -> Result<bool, ApplyError> {
        let settings: Vec<(Knob, Level)> = settings
            .iter()
            .map(|(name, level)| (self.knob(name), Level::text(*level)))
            .collect();
        turn_all(&self.files, journal, &settings)
    }

    fn unavailable(&self, name: &str, level: &str) -> (String, Option<String>) {
        let knob = self.knob(name);
        match knob.availability(&self.files, &Level::text(level), Refused(false)) {
            Availability::Available => panic!("{name}={level} is available"),
            Availability::Unavailable { reason, remedy } => (reason, remedy),
        }
    }

    fn assert_fresh(&self) {
        for (name, value) in at_boot() {
            assert_eq!(self.value(name), value, "{name}");
        }
    }
}

#[test]
fn the_experiment_of_2010_is_turned_and_put_back() {
    let machine = Machine::new();
    let mut journal = journal();
    for (cstate, idletick) in [("C1", "on"), ("C2", "on"), ("C3", "off"), ("C3", "on")] {
        machine
            .turn(
                &mut journal,
                &[
                    ("cstate", cstate),
                    ("idletick", idletick),
                    ("turbo", "on"),
                    ("clocksource", "HPET"),
                ],
            )
            .unwrap_or_else(|error| panic!("{error}"));
        // Every CPU, each by itself.
        for cpu in [0, 1, 10] {
            assert_eq!(machine.value(&format!("dev.cpu.{cpu}.cx_lowest")), cstate);
        }
        assert_eq!(machine.read("cstate"), cstate);
        assert_eq!(machine.read("idletick"), idletick);
        assert_eq!(machine.value("dev.cpu.0.freq"), "2934");
        assert_eq!(machine.read("turbo"), "on");
    }
    // As another process would, from the journal alone.
    let mut left = Journal::load(&machine.files).unwrap().unwrap();
    let restoration = restore(&machine.files, &mut left, Options::default()).unwrap();
    assert_eq!(restoration.failed, []);
    assert_eq!(restoration.left_alone, Vec::<String>::new());
    machine.assert_fresh();
}

#[test]
fn an_unknown_name_is_refused_and_an_unknown_variable_is_missing() {
    let machine = Machine::new();
    let (reason, _) = machine.unavailable("clocksource", "jiffies");
    assert!(
        reason.contains("TSC-low, HPET, ACPI-fast, i8254"),
        "{reason}"
    );
    assert!(!reason.contains("dummy"));
    let (reason, remedy) = machine.unavailable("epp", "50");
    assert!(
        reason.contains("does not choose its frequency itself"),
        "{reason}"
    );
    assert!(remedy.is_some());
    let (reason, _) = machine.unavailable("sysctl:kern.no.such", "1");
    assert!(reason.contains("kern.no.such does not exist"), "{reason}");
    // What the kernel itself refuses is an error of the write, in its words.
    let error = machine
        .turn(
            &mut journal(),
            &[("sysctl:kern.timecounter.hardware", "sundial")],
        )
        .unwrap_err();
    assert!(error.to_string().contains("Invalid argument"), "{error}");
    machine.assert_fresh();
}

#[test]
fn what_freebsd_rounds_does_not_count_as_set() {
    let machine = Machine::new();
    let (reason, _) = machine.unavailable("frequency", "2000");
    assert!(reason.contains("2934, 2933, 2800, 1200"), "{reason}");
    let mut journal = journal();
    let error = machine
        .turn(&mut journal, &[("sysctl:dev.cpu.0.freq", "2700")])
        .unwrap_err();
    assert!(matches!(error, ApplyError::NotInForce { .. }), "{error}");
    assert!(error.to_string().contains("it reads 2800"), "{error}");
    restore(&machine.files, &mut journal, Options::default()).unwrap();
    machine.assert_fresh();
    // The deepest state has another name once it is set, and is known by either.
    for deepest in ["Cmax", "C8"] {
        machine.turn(&mut journal, &[("cstate", deepest)]).unwrap();
        assert_eq!(machine.value("dev.cpu.1.cx_lowest"), "C8");
        restore(&machine.files, &mut journal, Options::default()).unwrap();
        machine.assert_fresh();
    }
    let (reason, _) = machine.unavailable("cstate", "C7");
    assert!(reason.contains("C1, C2, C3"), "{reason}");
}

#[test]
fn what_the_loader_decides_needs_another_boot() {
    let machine = Machine::new();
    assert_eq!(machine.read("hz"), "1000");
    assert_eq!(machine.read("smt"), "on");
    let (reason, remedy) = machine.unavailable("hz", "100");
    assert!(reason.contains("needs another boot"), "{reason}");
    assert!(
        remedy
            .unwrap()
            .contains("kern.hz=\"100\" to /boot/loader.conf")
    );
    let (_, remedy) = machine.unavailable("smt", "off");
    assert!(
        remedy
            .unwrap()
            .contains("machdep.hyperthreading_allowed=\"0\"")
    );
    assert!(!machine.turn(&mut journal(), &[("hz", "1000")]).unwrap());
}

#[test]
fn a_processor_without_the_level_above_its_nominal_one_has_no_turbo_switch() {
    let machine = Machine::new();
    let levels = machine.variables.path().join("dev.cpu.0.freq_levels");
    fs::write(levels, "2800/82000 1200/20000\n").unwrap();
    let (reason, remedy) = machine.unavailable("turbo", "on");
    assert!(reason.contains("1 MHz above"), "{reason}");
    assert!(remedy.unwrap().contains("epp"));
}

#[test]
fn the_command_to_put_a_variable_back_is_one_that_a_person_would_type() {
    let machine = Machine::new();
    let mut journal = journal();
    machine.turn(&mut journal, &[("idletick", "on")]).unwrap();
    fs::remove_file(machine.variables.path().join("kern.eventtimer.idletick")).unwrap();
    let restoration = restore(&machine.files, &mut journal, Options::default()).unwrap();
    let [failure] = restoration.failed.as_slice() else {
        panic!("one variable cannot be put back: {restoration:?}");
    };
    assert!(
        failure.command.ends_with("kern.eventtimer.idletick=0"),
        "{}",
        failure.command
    );
}

#[test]
fn every_entry_is_read_or_tells_why_not() {
    let machine = Machine::new();
    for entry in machine.system.catalogue().entries() {
        let knob = machine.knob(&entry.name);
        match knob.read(&machine.files) {
            Ok(level) => assert!(
                knob.levels(&machine.files).contains(&level) || entry.levels.is_some(),
                "{}",
                entry.name
            ),
            Err(why) => assert!(!why.reason.is_empty()),
        }
    }
}
