//! CPUs that go and come: whatever the kernel then decides anew is put back with them.

use super::machines::{fake, intel_laptop};
use super::turning::{journal, turn};
use crate::fake::FakeMachine;
use crate::restore::{Options, restore};

const CPU: &str = "/sys/devices/system/cpu";
const BOOST: &str = "/sys/devices/system/cpu/cpufreq/policy1/boost";
/// The interrupts of CPU 1 alone, and those of CPUs 0 and 1.
const OWN: &str = "/proc/irq/8/smp_affinity";
const SHARED: &str = "/proc/irq/9/smp_affinity";

/// Four CPUs of two cores. Somebody took CPU 3 offline, bound an interrupt to CPU 1, and turned the
/// boost of its policy off; the kernel forgets all of it when CPUs go and come.
fn machine() -> FakeMachine {
    let mut layout = intel_laptop();
    for (path, text) in [
        (format!("{CPU}/cpu1/online"), "1\n"),
        (format!("{CPU}/cpu2/online"), "1\n"),
        (format!("{CPU}/cpu3/online"), "0\n"),
        (BOOST.to_owned(), "0\n"),
        (OWN.to_owned(), "2\n"),
        (SHARED.to_owned(), "3\n"),
    ] {
        layout.push((path, text.to_owned()));
    }
    let machine = fake(&layout);
    machine.react(|tree, path, value| {
        let goes = match (path, value) {
            ("/sys/devices/system/cpu/smt/control", value) => value == "off",
            ("/sys/devices/system/cpu/cpu1/online", value) => value == "0",
            _ => return,
        };
        if goes {
            // No CPU of its own is left: it goes to any.
            tree.insert(OWN.to_owned(), b"f\n".to_vec());
        } else if tree.contains_key(BOOST) {
            tree.insert(BOOST.to_owned(), b"1\n".to_vec());
        }
        if path.ends_with("smt/control") {
            let state = if goes { "0\n" } else { "1\n" };
            // On, the kernel brings all of them, whoever took them away.
            for sibling in [1, 3] {
                let switch = format!("{CPU}/cpu{sibling}/online");
                tree.insert(switch, state.as_bytes().to_vec());
            }
        }
    });
    machine
}

#[test]
fn what_the_kernel_decides_anew_is_put_back_with_the_cpus() {
    for levels in [
        [("smt", "off"), ("smt", "on")],
        [("cpus_online", "0,2"), ("cpus_online", "0-2")],
    ] {
        for until in 1..=levels.len() {
            let machine = machine();
            let before = machine.tree();
            let mut journal = journal();
            for level in &levels[..until] {
                turn(&machine, &mut journal, &[*level]).unwrap();
            }
            assert_eq!(machine.value(OWN), "f", "{levels:?}: the kernel moved it");
            let restoration = restore(&machine, &mut journal, Options::default()).unwrap();
            assert_eq!(restoration.failed, [], "{levels:?}");
            assert_eq!(restoration.left_alone, Vec::<String>::new(), "{levels:?}");
            assert_eq!(machine.tree(), before, "{:?}", &levels[..until]);
        }
    }
}

#[test]
fn an_interrupt_that_only_the_kernel_moves_is_named_and_no_failure() {
    let machine = machine();
    machine.refuse(OWN, 5);
    let mut journal = journal();
    turn(&machine, &mut journal, &[("smt", "off")]).unwrap();
    let restoration = restore(&machine, &mut journal, Options::default()).unwrap();
    assert_eq!(restoration.failed, []);
    let [named] = restoration.left_alone.as_slice() else {
        panic!("{restoration:?}");
    };
    assert!(
        named.contains(&format!("{OWN} was 2 and went elsewhere")),
        "{named}"
    );
    assert_eq!(machine.journal(), None);
    // Any other reason is a failure, and the journal stays.
    let machine = self::machine();
    machine.refuse(OWN, 16);
    let mut journal = super::turning::journal();
    turn(&machine, &mut journal, &[("smt", "off")]).unwrap();
    let restoration = restore(&machine, &mut journal, Options::default()).unwrap();
    assert_eq!(restoration.failed.len(), 1);
    assert!(machine.journal().is_some());
}
