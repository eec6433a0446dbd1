//! Limits that rest on each other, and that the kernel brings into force a moment after they were
//! written.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use super::machines::{fake, intel_laptop};
use super::turning::{journal, turn};
use crate::apply::ApplyError;
use crate::fake::{Death, FakeMachine};
use crate::journal::Journal;
use crate::restore::{Options, restore};

const POLICY: &str = "/sys/devices/system/cpu/cpufreq/policy";
const PSTATE: &str = "/sys/devices/system/cpu/intel_pstate";
const MOST: u32 = 4_800_000;
/// How long the kernel's worker thread takes where nothing keeps it from running.
const A_MOMENT: Duration = Duration::from_millis(3);

fn maximum(policy: u32) -> String {
    format!("{POLICY}{policy}/scaling_max_freq")
}

/// A laptop whose kernel takes limits as Linux does: what is written to a policy is a request, and
/// what is shown is what all requests come to, a moment later; the percentages of intel_pstate are
/// clamped to each other when they are written.
fn laptop(delay: Duration) -> FakeMachine {
    let machine = fake(&intel_laptop());
    for policy in 0..4 {
        machine.delay(&maximum(policy), delay);
        machine.delay(&format!("{POLICY}{policy}/scaling_min_freq"), delay);
    }
    let requests: RefCell<BTreeMap<String, u32>> = RefCell::default();
    machine.react(move |tree, path, value| {
        let Some((policy, file)) = path.rsplit_once('/') else {
            return;
        };
        let (low, high) = (
            format!("{policy}/scaling_min_freq"),
            format!("{policy}/scaling_max_freq"),
        );
        if file.starts_with("scaling_m") {
            let mut requests = requests.borrow_mut();
            requests.insert(path.to_owned(), value.parse().unwrap());
            let most = requests.get(&high).copied().unwrap_or(MOST).min(MOST);
            let least = requests.get(&low).copied().unwrap_or(400_000).min(most);
            tree.insert(high, format!("{most}\n").into_bytes());
            tree.insert(low, format!("{least}\n").into_bytes());
        }
        let percentage = |name: &str| -> u32 {
            let bytes = &tree[&format!("{PSTATE}/{name}")];
            String::from_utf8_lossy(bytes).trim().parse().unwrap()
        };
        let clamped = match file {
            "max_perf_pct" => percentage(file).max(percentage("min_perf_pct")),
            "min_perf_pct" => percentage(file).min(percentage("max_perf_pct")),
            _ => return,
        };
        tree.insert(path.to_owned(), format!("{clamped}\n").into_bytes());
    });
    machine
}

/// What another process does that finds the journal.
fn clean_up(machine: &FakeMachine) {
    if let Some(mut journal) = Journal::load(machine).unwrap() {
        let restoration = restore(machine, &mut journal, Options::default()).unwrap();
        assert_eq!(restoration.failed, []);
        assert_eq!(restoration.left_alone, Vec::<String>::new());
    }
}

#[test]
fn a_limit_that_comes_a_moment_later_is_ours_and_goes_back() {
    let machine = laptop(A_MOMENT);
    let before = machine.tree();
    let mut journal = journal();
    turn(&machine, &mut journal, &[("max_freq", "1800000")]).unwrap();
    assert_eq!(machine.value(&maximum(3)), "1800000");
    // Below the lower limit, which the kernel then holds down too.
    turn(&machine, &mut journal, &[("min_freq", "1500000")]).unwrap();
    turn(
        &machine,
        &mut journal,
        &[("max_freq", "900000"), ("min_freq", "900000")],
    )
    .unwrap();
    let restoration = restore(&machine, &mut journal, Options::default()).unwrap();
    assert_eq!(restoration.failed, []);
    assert_eq!(restoration.left_alone, Vec::<String>::new());
    assert_eq!(machine.tree(), before);
}

#[test]
fn a_limit_that_comes_when_nobody_waits_any_more_is_ours_all_the_same() {
    let long = Duration::from_secs(60);
    let machine = laptop(long);
    let before = machine.tree();
    let mut journal = journal();
    let error = turn(&machine, &mut journal, &[("max_freq", "1800000")]).unwrap_err();
    assert!(matches!(error, ApplyError::NotInForce { .. }), "{error}");
    machine.let_pass(long);
    assert_eq!(machine.value(&maximum(0)), "1800000");
    // Putting back takes as long: it is no success before it shows.
    let restoration = restore(&machine, &mut journal, Options::default()).unwrap();
    assert_eq!(restoration.left_alone, Vec::<String>::new());
    assert_eq!(restoration.failed.len(), 4);
    machine.let_pass(long);
    clean_up(&machine);
    assert_eq!(machine.journal(), None);
    assert_eq!(machine.tree(), before);
}

#[test]
fn death_between_a_write_and_its_effect_is_put_right() {
    let treatments: [&[(&str, &str)]; 3] = [
        &[("max_freq", "1800000"), ("turbo", "off")],
        &[("max_freq", "2000000"), ("min_freq", "1000000")],
        &[("max_freq", "800000"), ("min_freq", "800000")],
    ];
    let mut deaths = 0;
    for death in [Death::Before, Death::After, Death::Torn] {
        for operation in 0.. {
            let machine = laptop(A_MOMENT);
            let before = machine.tree();
            machine.die_at(operation, death);
            let mut journal = journal();
            if treatments
                .iter()
                .all(|treatment| turn(&machine, &mut journal, treatment).is_ok())
            {
                let _ = restore(&machine, &mut journal, Options::default());
            }
            if !machine.revive() {
                break;
            }
            deaths += 1;
            clean_up(&machine);
            machine.let_pass(Duration::from_secs(60));
            let when = format!("{death:?} {operation}");
            assert_eq!(machine.journal(), None, "{when}");
            assert_eq!(machine.tree(), before, "{when}");
        }
    }
    assert!(deaths > 60, "only {deaths} operations were tried");
}

#[test]
fn a_pair_of_limits_can_be_moved_past_each_other() {
    let machine = laptop(Duration::ZERO);
    let before = machine.tree();
    let mut journal = journal();
    for (least, most) in [("50", "90"), ("10", "20"), ("70", "80"), ("5", "5")] {
        turn(
            &machine,
            &mut journal,
            &[("max_perf", most), ("min_perf", least)],
        )
        .unwrap();
        assert_eq!(machine.value(&format!("{PSTATE}/min_perf_pct")), least);
        assert_eq!(machine.value(&format!("{PSTATE}/max_perf_pct")), most);
    }
    // One that the other keeps away is no success.
    let error = turn(&machine, &mut journal, &[("max_perf", "3")]).unwrap_err();
    assert!(error.to_string().contains("it reads 5"), "{error}");
    let restoration = restore(&machine, &mut journal, Options::default()).unwrap();
    assert_eq!(restoration.failed, []);
    assert_eq!(machine.tree(), before);
}

#[test]
fn the_uncore_is_found_by_either_of_its_names() {
    for part in ["package_00_die_00", "uncore00"] {
        let directory = format!("/sys/devices/system/cpu/intel_uncore_frequency/{part}");
        let (least, most) = (
            format!("{directory}/min_freq_khz"),
            format!("{directory}/max_freq_khz"),
        );
        let machine = FakeMachine::new(&[(&least, "800000\n"), (&most, "2400000\n")]);
        let before = machine.tree();
        let mut journal = journal();
        let fixed = [
            ("uncore_min_freq", "1200000"),
            ("uncore_max_freq", "1200000"),
        ];
        turn(&machine, &mut journal, &fixed).unwrap();
        assert_eq!(machine.value(&least), "1200000");
        assert_eq!(machine.value(&most), "1200000");
        restore(&machine, &mut journal, Options::default()).unwrap();
        assert_eq!(machine.tree(), before);
    }
}
