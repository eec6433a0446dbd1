//! Files that refuse, that take a value without effect, and other processes that turn the same
//! knobs: each is told apart and none is silent.

use knobstat_data::Level;
use knobstat_data::messages::{Availability, Refusal, RefusalKind};

use super::machines::{amd_server, fake, guest, hybrid, intel_laptop};
use super::turning::{is_available, journal, knob, turn, unavailable};
use crate::apply::{ApplyError, Turning};
use crate::fake::FakeMachine;
use crate::journal::Journal;
use crate::knob::Refused;
use crate::restore::{Options, plan_restore, restore};

const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

#[test]
fn a_clock_source_that_is_not_offered_says_what_would_offer_it() {
    let machine = fake(&guest());
    for level in ["tsc", "hpet", "acpi_pm"] {
        assert!(is_available(&machine, "clocksource", level));
    }
    let (reason, remedy) = unavailable(&machine, "clocksource", "jiffies");
    assert!(reason.contains("tsc, hpet, acpi_pm"), "{reason}");
    assert!(remedy.unwrap().contains("nohz=off highres=off"));
}

#[test]
fn a_guest_without_frequencies_is_told_from_a_kernel_without() {
    let (reason, remedy) = unavailable(&fake(&guest()), "governor", "performance");
    assert!(reason.contains("guest of QEMU"), "{reason}");
    assert!(remedy.unwrap().contains("host"));
    let (reason, _) = unavailable(&fake(&hybrid()), "governor", "performance");
    assert!(!reason.contains("guest"), "{reason}");
}

#[test]
fn one_thread_a_core_is_a_reason_of_its_own() {
    let (reason, _) = unavailable(&fake(&amd_server()), "smt", "off");
    assert!(reason.contains("one thread in each core"), "{reason}");
    let (reason, _) = unavailable(&fake(&intel_laptop()), "smt", "forceoff");
    assert!(reason.contains("no level of smt"), "{reason}");
}

#[test]
fn a_knob_that_cannot_be_turned_says_why_and_not_that_its_value_is_odd() {
    let settable = |machine: &FakeMachine, name: &str| knob(name).settable(machine, Refused(false));
    let Availability::Unavailable { reason, .. } = settable(&fake(&amd_server()), "smt") else {
        panic!("there is nothing to turn");
    };
    assert!(reason.contains("one thread in each core"), "{reason}");
    let machine = fake(&intel_laptop());
    for name in ["smt", "turbo", "cstate", "epb", "clocksource", "aslr"] {
        assert_eq!(settable(&machine, name), Availability::Available, "{name}");
    }
}

#[test]
fn a_boot_knob_has_its_present_level_and_tells_how_to_get_another() {
    let machine = fake(&intel_laptop());
    for (name, present, other, needed) in [
        ("hz", "250", "1000", "CONFIG_HZ=1000"),
        ("nohz", "on", "off", "nohz=off"),
        ("idletick", "off", "on", "nohz=off"),
        ("kernel", "6.1.0-40-amd64", "6.12.1", "boot 6.12.1"),
        ("cmdline:quiet", "present", "absent", "without quiet"),
        ("cmdline:mitigations", "absent", "off", "mitigations=off"),
    ] {
        assert!(is_available(&machine, name, present), "{name}");
        let (reason, remedy) = unavailable(&machine, name, other);
        assert!(reason.contains("another"), "{reason}");
        assert!(remedy.unwrap().contains(needed), "{name}");
    }
}

#[test]
fn a_level_in_force_is_available_where_nothing_can_be_written() {
    let machine = fake(&intel_laptop());
    machine.refuse(NO_TURBO, 30);
    assert!(is_available(&machine, "turbo", "on"));
    let (reason, _) = unavailable(&machine, "turbo", "off");
    assert!(reason.contains("read-only"), "{reason}");
}

#[test]
fn firmware_that_forbids_turbo_is_named() {
    let machine = fake(&intel_laptop());
    machine.set(NO_TURBO, "1\n");
    machine.refuse_value(NO_TURBO, "0", 1);
    let mut journal = journal();
    let error = turn(&machine, &mut journal, &[("turbo", "on")]).unwrap_err();
    assert!(matches!(error, ApplyError::Write { .. }), "{error}");
    assert!(error.to_string().contains("firmware"), "{error}");
    let refusal = Refusal::from(&error);
    assert_eq!(refusal.kind, RefusalKind::Setting);
    assert!(
        refusal.cause.ends_with("turned turbo off"),
        "{}",
        refusal.cause
    );
    assert!(
        refusal.remedy.starts_with("enable it"),
        "{}",
        refusal.remedy
    );
    // Nothing was changed: there is nothing to put back.
    let restoration = restore(&machine, &mut journal, Options::default()).unwrap();
    assert_eq!(restoration, Default::default());
    assert_eq!(machine.journal(), None);
}

#[test]
fn a_value_that_the_kernel_does_not_take_is_named() {
    let machine = FakeMachine::new(&[("/proc/sys/vm/swappiness", "60\n")]);
    machine.refuse_value("/proc/sys/vm/swappiness", "many", 22);
    let error = turn(
        &machine,
        &mut journal(),
        &[("sysctl:vm.swappiness", "many")],
    )
    .unwrap_err();
    assert!(error.to_string().contains("EINVAL"), "{error}");
}

#[test]
fn a_write_without_effect_is_an_error_that_tells_what_is_in_force() {
    let machine = fake(&intel_laptop());
    machine.ignore_writes(CURRENT);
    let mut journal = journal();
    let error = turn(&machine, &mut journal, &[("clocksource", "hpet")]).unwrap_err();
    assert!(matches!(error, ApplyError::NotInForce { .. }), "{error}");
    assert!(error.to_string().contains("it reads tsc"), "{error}");
    restore(&machine, &mut journal, Options::default()).unwrap();
    assert_eq!(machine.tree(), fake(&intel_laptop()).tree());
}

#[test]
fn what_somebody_writes_between_our_write_and_its_reading_back_is_written_over_once() {
    // A daemon puts the old value back after the first write only, or after every one.
    for (reversions, holds) in [(1, true), (usize::MAX, false)] {
        let machine = fake(&intel_laptop());
        let left = std::cell::Cell::new(reversions);
        machine.react(move |tree, path, _| {
            if path == NO_TURBO && left.get() > 0 {
                left.set(left.get() - 1);
                tree.insert(path.to_owned(), b"0\n".to_vec());
            }
        });
        let mut journal = journal();
        let turned = turn(&machine, &mut journal, &[("turbo", "off")]);
        assert_eq!(turned.is_ok(), holds, "{turned:?}");
        assert_eq!(machine.value(NO_TURBO) == "1", holds);
        assert_eq!(machine.written().len(), 2, "written twice and no more");
        restore(&machine, &mut journal, Options::default()).unwrap();
        assert_eq!(machine.value(NO_TURBO), "0");
    }
}

#[test]
fn a_setting_that_another_one_resets_is_set_again_and_else_named() {
    let machine = fake(&intel_laptop());
    machine.react(|tree, path, _| {
        if path.ends_with("transparent_hugepage/enabled") {
            tree.insert(CURRENT.to_owned(), b"acpi_pm\n".to_vec());
        }
    });
    let mut journal = journal();
    let mut turn_both = || {
        turn(
            &machine,
            &mut journal,
            &[("clocksource", "hpet"), ("thp", "never")],
        )
    };
    assert!(turn_both().unwrap());
    assert_eq!(machine.value(CURRENT), "hpet");
    // Two that cannot hold together are no setting.
    machine.react(|tree, path, _| {
        if path == CURRENT {
            tree.insert(path.to_owned(), b"acpi_pm\n".to_vec());
        }
    });
    machine.set(CURRENT, "acpi_pm\n");
    let error = turn_both().unwrap_err();
    assert!(error.to_string().contains("it reads acpi_pm"), "{error}");
}

#[test]
fn without_a_guardian_nothing_is_written() {
    let machine = fake(&intel_laptop());
    let error = Turning {
        files: &machine,
        journal: &mut journal(),
        refused: Refused(false),
        guarded: &|| false,
    }
    .turn_all(&[(knob("turbo"), Level::text("off"))])
    .unwrap_err();
    assert!(matches!(error, ApplyError::Unguarded));
    assert_eq!(machine.written(), []);
    assert_eq!(machine.journal(), None);
}

#[test]
fn what_somebody_else_wrote_is_left_and_named_unless_told_otherwise() {
    for overwrite_others in [false, true] {
        let machine = fake(&intel_laptop());
        let mut journal = journal();
        turn(&machine, &mut journal, &[("clocksource", "hpet")]).unwrap();
        turn(&machine, &mut journal, &[("thp", "never")]).unwrap();
        machine.set(CURRENT, "acpi_pm\n");
        let options = Options {
            overwrite_others,
            ..Options::default()
        };
        let planned = plan_restore(&machine, &journal, options);
        let done = restore(&machine, &mut journal, options).unwrap();
        assert_eq!(planned.left_alone, done.left_alone);
        assert_eq!(planned.put_back.len(), done.put_back.len());
        assert_eq!(done.failed, []);
        assert_eq!(
            machine.value("/sys/kernel/mm/transparent_hugepage/enabled"),
            "madvise"
        );
        if overwrite_others {
            assert_eq!(machine.value(CURRENT), "tsc");
            assert_eq!(done.left_alone, Vec::<String>::new());
        } else {
            assert_eq!(machine.value(CURRENT), "acpi_pm");
            let [sentence] = done.left_alone.as_slice() else {
                panic!("one value is somebody else's");
            };
            for word in [CURRENT, "acpi_pm", "tsc", "hpet"] {
                assert!(sentence.contains(word), "{sentence}");
            }
        }
        assert_eq!(machine.journal(), None);
    }
}

#[test]
fn what_cannot_be_put_back_comes_with_the_command_and_stays_in_the_journal() {
    let machine = fake(&intel_laptop());
    let mut journal = journal();
    turn(&machine, &mut journal, &[("turbo", "off")]).unwrap();
    machine.refuse(NO_TURBO, 1);
    let restoration = restore(&machine, &mut journal, Options::default()).unwrap();
    let [failure] = restoration.failed.as_slice() else {
        panic!("one setting cannot be put back");
    };
    assert_eq!(failure.command, format!("echo 0 > {NO_TURBO}"));
    assert!(failure.reason.contains(NO_TURBO), "{}", failure.reason);
    machine.relent(NO_TURBO);
    let mut left = Journal::load(&machine).unwrap().unwrap();
    let restoration = restore(&machine, &mut left, Options::default()).unwrap();
    assert_eq!(restoration.failed, []);
    assert_eq!(machine.tree(), fake(&intel_laptop()).tree());
}

#[test]
fn a_device_that_is_gone_is_no_failure() {
    let machine = FakeMachine::new(&[("/sys/class/net/usb0/threaded", "0\n")]);
    let mut journal = journal();
    turn(
        &machine,
        &mut journal,
        &[("sysfs:/sys/class/net/usb0/threaded", "1")],
    )
    .unwrap();
    let unplugged = FakeMachine::new(&[]);
    unplugged.set_journal(&machine.journal().unwrap());
    let restoration = restore(&unplugged, &mut journal, Options::default()).unwrap();
    assert_eq!(restoration.failed, []);
    assert!(restoration.left_alone[0].contains("is gone"));
}

#[test]
fn many_files_are_put_back_in_one_sentence() {
    let machine = fake(&amd_server());
    let mut journal = journal();
    turn(&machine, &mut journal, &[("governor", "performance")]).unwrap();
    let restoration = restore(&machine, &mut journal, Options::default()).unwrap();
    assert_eq!(
        restoration.put_back,
        [
            "put /sys/devices/system/cpu/cpufreq/policy*/scaling_governor (12 files) back to ondemand"
        ]
    );
}

#[test]
fn the_hybrid_part_is_turned_by_latency_where_a_name_is_lacking() {
    let machine = fake(&hybrid());
    let disabled = |cpu: u32| -> Vec<String> {
        (0..4)
            .map(|state| {
                machine.value(&format!(
                    "/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}/disable"
                ))
            })
            .collect()
    };
    let mut journal = journal();
    // C6 is a name of the performance cores; the others have nothing that wakes as fast but C1.
    turn(&machine, &mut journal, &[("cstate", "C6")]).unwrap();
    assert_eq!(disabled(0), ["0", "0", "0", "1"]);
    assert_eq!(disabled(2), ["0", "0", "1", "1"]);
    // C1 is one of the efficiency cores; C1E wakes more slowly.
    turn(&machine, &mut journal, &[("cstate", "C1")]).unwrap();
    assert_eq!(disabled(0), ["0", "1", "1", "1"]);
    assert_eq!(disabled(2), ["0", "0", "1", "1"]);
    let (reason, _) = unavailable(&machine, "cstate", "C3");
    assert!(reason.contains("POLL, C1, C1E, C6, C6S, C10"), "{reason}");
}
