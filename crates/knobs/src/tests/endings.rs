//! The harness dies after any operation, while it turns and while it puts back: afterwards the
//! machine is, byte for byte, what it was.

use knobstat_data::Level;
use knobstat_data::experiment::OwnKnob;
use knobstat_data::vocabulary::Scope;
use proptest::prelude::*;

use super::machines::{amd_server, fake, guest, hybrid, intel_laptop};
use super::turning::{journal, turn_all};
use crate::fake::{Death, FakeMachine};
use crate::files::Files;
use crate::journal::Journal;
use crate::knob::Knob;
use crate::restore::{Options, restore};

const DEATHS: [Death; 3] = [Death::Before, Death::After, Death::Torn];

fn own_knobs() -> Vec<OwnKnob> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    vec![OwnKnob {
        name: "coalescing".to_owned(),
        get: words(&["get", "coalescing"]),
        set: words(&["set", "coalescing", "{value}"]),
        restore: words(&["set", "coalescing", "{value}"]),
        scope: Scope::Runtime,
    }]
}

fn settings(words: &[(&str, &str)]) -> Vec<(Knob, Level)> {
    words
        .iter()
        .map(|(name, level)| {
            let knob = Knob::find(name, &own_knobs()).unwrap_or_else(|| panic!("{name}"));
            (knob, Level::text(*level))
        })
        .collect()
}

/// An experiment of several treatments, broken off where something fails.
fn experiment(machine: &FakeMachine, treatments: &[Vec<(Knob, Level)>]) {
    let mut journal = journal();
    for treatment in treatments {
        if turn_all(machine, &mut journal, treatment).is_err() {
            return;
        }
    }
    machine.release_all();
    let _ = restore(machine, &mut journal, Options::default());
}

/// What another process does that finds the journal.
fn clean_up(machine: &FakeMachine) {
    if let Some(mut journal) = Journal::load(machine).unwrap() {
        let _ = restore(machine, &mut journal, Options::default());
    }
}

fn laptop() -> FakeMachine {
    let machine = fake(&intel_laptop());
    machine.set_command_value("coalescing", "3 us");
    machine
}

fn laptop_treatments() -> Vec<Vec<(Knob, Level)>> {
    vec![
        settings(&[
            ("turbo", "off"),
            ("cstate", "C1"),
            ("governor", "performance"),
            ("clocksource", "hpet"),
            ("thp", "never"),
            ("coalescing", "50 us"),
            ("latency", "20"),
        ]),
        settings(&[("smt", "off"), ("turbo", "on"), ("clocksource", "tsc")]),
        settings(&[
            ("smt", "on"),
            ("epp", "power"),
            ("governor", "powersave"),
            ("thp", "always"),
        ]),
    ]
}

fn assert_back(machine: &FakeMachine, fresh: &FakeMachine, when: &str) {
    assert_eq!(machine.journal(), None, "{when}: the journal is left");
    let (now, before) = (machine.tree(), fresh.tree());
    for (path, bytes) in &before {
        assert_eq!(
            now.get(path).map(|bytes| String::from_utf8_lossy(bytes)),
            Some(String::from_utf8_lossy(bytes)),
            "{when}: {path}"
        );
    }
    assert_eq!(now.len(), before.len(), "{when}");
    assert_eq!(machine.command_value("coalescing"), "3 us", "{when}");
}

#[test]
fn an_experiment_that_ends_well_leaves_nothing() {
    let machine = laptop();
    let mut journal = journal();
    for treatment in laptop_treatments() {
        assert!(turn_all(&machine, &mut journal, &treatment).unwrap());
        // Read back, whatever one setting did to another.
        for (knob, level) in &treatment {
            assert_eq!(knob.read(&machine).unwrap(), *level, "{}", knob.name());
        }
        // In force already: not written again.
        assert!(!turn_all(&machine, &mut journal, &treatment).unwrap());
    }
    machine.release_all();
    let restoration = restore(&machine, &mut journal, Options::default()).unwrap();
    assert_eq!(restoration.failed, []);
    assert_eq!(restoration.left_alone, Vec::<String>::new());
    assert_back(&machine, &laptop(), "at the end");
}

#[test]
fn what_was_turned_last_is_put_back_first() {
    let machine = laptop();
    let mut journal = journal();
    // None of them resets what another one wrote.
    let wanted = settings(&[
        ("governor", "performance"),
        ("turbo", "off"),
        ("cstate", "C1"),
        ("clocksource", "hpet"),
    ]);
    turn_all(&machine, &mut journal, &wanted).unwrap();
    let turned = machine.written();
    restore(&machine, &mut journal, Options::default()).unwrap();
    // Each file once: where its first change stands among all.
    let places = |written: &[(String, String)]| -> Vec<usize> {
        written
            .iter()
            .filter_map(|(path, _)| turned.iter().position(|(known, _)| known == path))
            .collect()
    };
    let put_back = places(&machine.written()[turned.len()..]);
    assert!(put_back.len() > 10, "{put_back:?}");
    assert!(
        put_back.windows(2).all(|pair| pair[0] > pair[1]),
        "{put_back:?}"
    );
    assert_eq!(machine.tree(), laptop().tree());
}

#[test]
fn death_after_any_operation_is_put_right() {
    let treatments = laptop_treatments();
    let mut operations = 0;
    for death in DEATHS {
        for operation in 0.. {
            let machine = laptop();
            machine.die_at(operation, death);
            experiment(&machine, &treatments);
            if !machine.revive() {
                operations = operation;
                break;
            }
            clean_up(&machine);
            assert_back(&machine, &laptop(), &format!("{death:?} {operation}"));
        }
    }
    assert!(operations > 60, "only {operations} operations were tried");
}

#[test]
fn death_while_putting_back_is_put_right_too() {
    let treatments = laptop_treatments();
    // Deaths at each stage of the experiment, and then at every operation of the putting back.
    for first in (0..).step_by(11) {
        let machine = laptop();
        machine.die_at(first, Death::After);
        experiment(&machine, &treatments);
        if !machine.revive() {
            break;
        }
        for death in [Death::Before, Death::After] {
            for second in 0.. {
                let machine = laptop();
                machine.die_at(first, Death::After);
                experiment(&machine, &treatments);
                machine.revive();
                machine.die_at(second, death);
                clean_up(&machine);
                let died = machine.revive();
                clean_up(&machine);
                let when = format!("{first}, then {death:?} {second}");
                assert_back(&machine, &laptop(), &when);
                if !died {
                    break;
                }
            }
        }
    }
}

/// A machine, and the levels of its knobs that can be drawn.
fn machine_and_knobs(
    index: usize,
    plain: bool,
) -> (FakeMachine, Vec<(&'static str, Vec<&'static str>)>) {
    let common = vec![
        ("clocksource", vec!["tsc", "hpet", "acpi_pm"]),
        ("thp", vec!["always", "madvise", "never"]),
        (
            "sysctl:net.ipv4.tcp_rmem",
            vec!["4096 131072 6291456", "4096 4096 4096"],
        ),
        ("coalescing", vec!["3 us", "50 us"]),
        ("latency", vec!["none", "0", "20"]),
    ];
    let (layout, special) = match index {
        0 => (
            intel_laptop(),
            vec![
                ("smt", vec!["on", "off"]),
                ("governor", vec!["performance", "powersave"]),
                ("turbo", vec!["on", "off"]),
                ("cstate", vec!["POLL", "C1", "C1E", "C6", "C10"]),
            ],
        ),
        1 => (
            amd_server(),
            vec![
                ("governor", vec!["performance", "ondemand", "schedutil"]),
                ("turbo", vec!["on", "off"]),
                ("cstate", vec!["POLL", "C1", "C2"]),
                ("numa_balancing", vec!["0", "1"]),
            ],
        ),
        2 => (guest(), vec![]),
        _ => (
            hybrid(),
            vec![("cstate", vec!["POLL", "C1", "C1E", "C6", "C6S", "C10"])],
        ),
    };
    let mut machine = fake(&layout);
    if plain {
        machine = machine.keeping_bytes();
    }
    machine.set_command_value("coalescing", "3 us");
    (machine, [common, special].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_treatments_on_any_machine_with_any_death(
        index in 0usize..4,
        plain: bool,
        draws in prop::collection::vec(prop::collection::vec((0usize..8, 0usize..6), 1..5), 1..5),
        operation in 0usize..120,
        death in prop::sample::select(&DEATHS[..]),
    ) {
        let (machine, knobs) = machine_and_knobs(index, plain);
        let (fresh, _) = machine_and_knobs(index, plain);
        let treatments: Vec<Vec<(Knob, Level)>> = draws
            .iter()
            .map(|draw| {
                let mut words: Vec<(&str, &str)> = Vec::new();
                for (knob, level) in draw {
                    let (name, levels) = &knobs[knob % knobs.len()];
                    if !words.iter().any(|(known, _)| known == name) {
                        words.push((name, levels[level % levels.len()]));
                    }
                }
                settings(&words)
            })
            .collect();
        machine.die_at(operation, death);
        experiment(&machine, &treatments);
        machine.revive();
        clean_up(&machine);
        assert_back(&machine, &fresh, "at the end");
    }

    #[test]
    fn a_level_in_force_reads_as_itself(index in 0usize..4, knob in 0usize..8, level in 0usize..6) {
        let (machine, knobs) = machine_and_knobs(index, false);
        let (name, levels) = &knobs[knob % knobs.len()];
        let wanted = settings(&[(name, levels[level % levels.len()])]);
        turn_all(&machine, &mut journal(), &wanted).unwrap();
        let (knob, level) = &wanted[0];
        prop_assert_eq!(&knob.read(&machine).unwrap(), level);
        prop_assert!(machine.exists("/proc/cpuinfo"));
    }
}
