//! Failures that other tools had with settings, one test each, named by their numbers in the
//! specification; those of whole experiments are in the program's own tests.

use knobstat_data::Level;
use knobstat_data::messages::Availability;
use knobstat_data::observation::KnobReading;
use knobstat_sys::root::Root;

use super::machines::{Layout, amd_server, fake, hybrid, intel_laptop};
use super::turning::{journal, knob, turn};
use crate::apply::ApplyError;
use crate::fake::FakeMachine;
use crate::files::Files;
use crate::journal::Journal;
use crate::knob::{Knob, Refused};
use crate::owners::{OWNERS, Owner, running};
use crate::restore::{Options, plan_restore, restore};
use crate::taint;

const POLICIES: &str = "/sys/devices/system/cpu/cpufreq";
const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// What another process does that has nothing but the journal on the disk.
fn restore_from_the_journal(machine: &FakeMachine) {
    let mut left = Journal::load(machine).unwrap().expect("a journal");
    let restoration = restore(machine, &mut left, Options::default()).unwrap();
    assert_eq!(restoration.failed, []);
    assert_eq!(restoration.left_alone, Vec::<String>::new());
}

/// A server whose policies are not alike, as after somebody tuned some of them by hand.
fn uneven_server() -> Layout {
    let mut layout = amd_server();
    for (path, text) in &mut layout {
        if path.ends_with("policy3/scaling_governor") {
            "schedutil\n".clone_into(text);
        }
    }
    for policy in 0..12 {
        let limit = 2_000_000 + policy * 100_000;
        for (file, limit) in [
            ("scaling_min_freq", 1_200_000 + policy),
            ("scaling_max_freq", limit),
        ] {
            layout.push((
                format!("{POLICIES}/policy{policy}/{file}"),
                format!("{limit}\n"),
            ));
        }
    }
    layout
}

fn reading(knob: &str, asked: &str, read: &str) -> KnobReading {
    KnobReading {
        knob: knob.to_owned(),
        asked: Some(Level::text(asked)),
        read: Ok(Level::text(read)),
    }
}

fn owners(names: &[&str]) -> Vec<Owner> {
    OWNERS
        .iter()
        .filter(|owner| names.contains(&owner.name))
        .copied()
        .collect()
}

#[test]
fn f01_siblings_come_back_though_the_changed_system_does_not_list_them() {
    let machine = fake(&intel_laptop());
    let before = machine.tree();
    turn(&machine, &mut journal(), &[("smt", "off")]).unwrap();
    // What the changed system shows are the CPUs that are left.
    assert!(!machine.exists(&format!("{POLICIES}/policy1/scaling_governor")));
    restore_from_the_journal(&machine);
    assert_eq!(machine.tree(), before);
}

#[test]
fn f03_every_policy_gets_back_its_own_limits_and_not_fixed_ones() {
    let machine = fake(&uneven_server());
    let before = machine.tree();
    let mut journal = journal();
    turn(
        &machine,
        &mut journal,
        &[
            ("max_freq", "1900000"),
            ("min_freq", "1300000"),
            ("governor", "performance"),
        ],
    )
    .unwrap();
    // What would be done is shown first, value by value.
    let planned = plan_restore(&machine, &journal, Options::default());
    let command = format!("echo 3100000 > {POLICIES}/policy11/scaling_max_freq");
    assert!(
        planned.put_back.contains(&command),
        "{:#?}",
        planned.put_back
    );
    restore_from_the_journal(&machine);
    assert_eq!(machine.tree(), before);
}

#[test]
fn f04_the_governor_of_each_policy_comes_back() {
    let machine = fake(&uneven_server());
    turn(&machine, &mut journal(), &[("governor", "performance")]).unwrap();
    restore_from_the_journal(&machine);
    let governor = |policy| machine.value(&format!("{POLICIES}/policy{policy}/scaling_governor"));
    assert_eq!(governor(0), "ondemand");
    assert_eq!(governor(3), "schedutil");
    assert_eq!(governor(11), "ondemand");
}

#[test]
fn f06_a_daemon_that_turns_a_knob_back_is_noticed_and_named() {
    let taints = taint::between(
        &[reading("turbo", "off", "off")],
        &[reading("turbo", "off", "on")],
        |name| Knob::find(name, &[]),
        || owners(&["thermald", "irqbalance"]),
    );
    let cause = taints[0].cause.as_deref().unwrap();
    assert!(
        cause.contains("thermald") && cause.contains("systemctl stop thermald"),
        "{cause}"
    );
    assert!(
        !cause.contains("irqbalance"),
        "it turns another knob: {cause}"
    );
}

#[test]
fn f07_nothing_is_written_that_was_not_changed() {
    let mut layout = intel_laptop();
    layout.push(("/proc/sys/net/ipv4/ip_forward".to_owned(), "0\n".to_owned()));
    let machine = fake(&layout);
    let mut journal = journal();
    turn(
        &machine,
        &mut journal,
        &[("thp", "never"), ("sysctl:kernel.randomize_va_space", "1")],
    )
    .unwrap();
    machine.set("/proc/sys/net/ipv4/ip_forward", "1\n");
    restore(&machine, &mut journal, Options::default()).unwrap();
    assert_eq!(machine.value("/proc/sys/net/ipv4/ip_forward"), "1");
    let mut paths: Vec<String> = machine
        .written()
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    paths.sort();
    paths.dedup();
    assert_eq!(
        paths,
        [
            "/proc/sys/kernel/randomize_va_space",
            "/sys/kernel/mm/transparent_hugepage/enabled"
        ]
    );
    // Nor is a file of a knob that is as it should be before the others are.
    let machine = fake(&uneven_server());
    turn(&machine, &mut self::journal(), &[("governor", "schedutil")]).unwrap();
    restore_from_the_journal(&machine);
    let third = format!("{POLICIES}/policy3/scaling_governor");
    let written = machine.written();
    assert!(written.len() > 20, "eleven policies, there and back");
    assert!(written.iter().all(|(path, _)| *path != third));
}

#[test]
fn f08_owners_that_run_are_found_by_the_names_of_their_processes() {
    // A process of that name, which turns nothing.
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("power-profiles-daemon");
    std::fs::copy("/bin/sleep", &program).unwrap();
    let mut daemon = std::process::Command::new(&program)
        .arg("1000")
        .spawn()
        .unwrap();
    let found = running(&Root::real());
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let owner = found
        .iter()
        .find(|owner| owner.name == "power-profiles-daemon")
        .unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(owner.stop, "systemctl stop power-profiles-daemon");
}

#[test]
fn f09_a_clock_source_that_the_watchdog_gave_up_is_not_believed() {
    let machine = fake(&intel_laptop());
    machine.set(CURRENT, "hpet\n");
    // As the kernel does it: the write succeeds, and the time is taken from where it was.
    machine.ignore_writes(CURRENT);
    let error = turn(&machine, &mut journal(), &[("clocksource", "tsc")]).unwrap_err();
    assert!(matches!(error, ApplyError::NotInForce { .. }), "{error}");
    assert!(error.to_string().contains("it reads hpet"), "{error}");
    assert!(error.to_string().contains("reboot"), "{error}");
    // In the middle of a run the change itself is the taint.
    let taints = taint::between(
        &[reading("clocksource", "tsc", "tsc")],
        &[reading("clocksource", "tsc", "hpet")],
        |name| Knob::find(name, &[]),
        Vec::new,
    );
    let cause = taints[0].cause.as_deref().unwrap();
    assert!(
        cause.contains("watchdog") && cause.contains("reboot"),
        "{cause}"
    );
}

#[test]
fn f11_firmware_that_refuses_turbo_is_told_from_every_other_cause() {
    let machine = fake(&intel_laptop());
    machine.set(NO_TURBO, "1\n");
    machine.refuse_value(NO_TURBO, "0", 1);
    let mut journal = journal();
    let error = turn(&machine, &mut journal, &[("turbo", "on")]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the firmware has turned turbo off"),
        "{error}"
    );
    // Other levels and other knobs can be had all the same, and all of it is put back.
    turn(
        &machine,
        &mut journal,
        &[("turbo", "off"), ("thp", "never")],
    )
    .unwrap();
    let restoration = restore(&machine, &mut journal, Options::default()).unwrap();
    assert_eq!(restoration.failed, []);
    assert_eq!(machine.value(NO_TURBO), "1");
}

#[test]
fn f12_the_governor_is_written_before_the_preference_that_rests_on_it() {
    let machine = fake(&intel_laptop());
    let mut journal = journal();
    turn(&machine, &mut journal, &[("governor", "performance")]).unwrap();
    let before = machine.written().len();
    // Named in the wrong order.
    turn(
        &machine,
        &mut journal,
        &[("epp", "power"), ("governor", "powersave")],
    )
    .unwrap();
    let written = machine.written();
    let first = |suffix: &str| {
        written[before..]
            .iter()
            .position(|(path, _)| path.ends_with(suffix))
            .unwrap_or_else(|| panic!("{suffix} was not written"))
    };
    assert!(first("scaling_governor") < first("energy_performance_preference"));
    restore_from_the_journal(&machine);
    assert_eq!(machine.tree(), fake(&intel_laptop()).tree());
}

#[test]
fn f14_cpus_of_two_kinds_are_turned_each_by_its_own_states() {
    let machine = fake(&hybrid());
    let allowed = |cpu: u32| -> Vec<String> {
        (0..4)
            .filter(|state| {
                let state = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}");
                machine.value(&format!("{state}/disable")) == "0"
            })
            .map(|state| {
                machine.value(&format!(
                    "/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}/name"
                ))
            })
            .collect()
    };
    let mut journal = journal();
    turn(&machine, &mut journal, &[("cstate", "C6S")]).unwrap();
    // The state of that name is one kind's; the other's are held to what wakes as fast.
    assert_eq!(allowed(2), ["POLL", "C1", "C6S"]);
    assert_eq!(allowed(0), ["POLL", "C1E", "C6"]);
    turn(&machine, &mut journal, &[("cstate", "10us")]).unwrap();
    assert_eq!(allowed(2), ["POLL", "C1"]);
    assert_eq!(allowed(0), ["POLL", "C1E"]);
    restore_from_the_journal(&machine);
    assert_eq!(machine.tree(), fake(&hybrid()).tree());
}

#[test]
fn f15_a_cpu_that_comes_back_in_the_middle_does_not_pass_as_set() {
    // Policy 4's CPU went off and on meanwhile: the kernel's default is back. It is set again.
    let policy = format!("{POLICIES}/policy4/scaling_governor");
    let comes_back_after = |last: &'static str| {
        let machine = fake(&amd_server());
        let policy = policy.clone();
        machine.react(move |tree, path, _| {
            if path.ends_with(last) {
                tree.insert(policy.clone(), b"schedutil\n".to_vec());
            }
        });
        machine
    };
    let machine = comes_back_after("policy11/scaling_governor");
    turn(&machine, &mut journal(), &[("governor", "performance")]).unwrap();
    assert_eq!(machine.value(&policy), "performance");
    // One that does so again and again is named.
    let machine = comes_back_after("scaling_governor");
    let mut journal = journal();
    let error = turn(&machine, &mut journal, &[("governor", "performance")]).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("policy4/scaling_governor is schedutil"),
        "{said}"
    );
    // A CPU that is gone when it is written is named as well.
    let machine = fake(&amd_server());
    machine.refuse(&format!("{POLICIES}/policy4/scaling_governor"), 16);
    let error = turn(&machine, &mut journal, &[("governor", "performance")]).unwrap_err();
    assert!(
        error.to_string().contains("policy4/scaling_governor"),
        "{error}"
    );
}

#[test]
fn f17_a_read_only_sysfs_is_one_message_before_anything_is_written() {
    let layout: Layout = (0..64)
        .map(|policy| {
            let path = format!("{POLICIES}/policy{policy}/scaling_governor");
            (path, "powersave\n".to_owned())
        })
        .collect();
    let machine = fake(&layout);
    for (path, _) in &layout {
        machine.refuse(path, 30);
    }
    let availability =
        knob("governor").availability(&machine, &Level::text("performance"), Refused(false));
    let Availability::Unavailable { reason, remedy } = availability else {
        panic!("it is available");
    };
    assert!(
        reason.contains("policy*/scaling_governor (64 files)"),
        "{reason}"
    );
    assert!(reason.contains("read-only"), "{reason}");
    assert!(remedy.is_some());
    assert_eq!(machine.written(), []);
}

#[test]
fn f21_a_locked_kernel_is_reported_as_one() {
    let machine = FakeMachine::new(&[
        (
            "/sys/kernel/security/lockdown",
            "none [integrity] confidentiality\n",
        ),
        ("/sys/devices/system/cpu/cpu0/power/energy_perf_bias", "6\n"),
    ]);
    machine.refuse("/sys/devices/system/cpu/cpu0/power/energy_perf_bias", 1);
    let availability = knob("epb").availability(&machine, &Level::text("0"), Refused(false));
    let Availability::Unavailable { reason, .. } = availability else {
        panic!("it is available");
    };
    // Without root it is root that lacks first.
    let root = knobstat_sys::session::is_root();
    let word = if root {
        "locked down (integrity)"
    } else {
        "only root"
    };
    assert!(reason.contains(word), "{reason}");
}
