//! Governors, and what goes with them: the energy preference, the frequency itself, boost.

use knobstat_data::messages::Availability;
use knobstat_data::words::Setting;

use super::machines::{fake, intel_laptop};
use super::turning::{is_available, journal, knob, turn, unavailable};
use crate::fake::FakeMachine;
use crate::knob::{Knob, Refused};
use crate::opening;
use crate::restore::{Options, restore};

#[test]
fn a_preference_may_be_a_number_where_the_words_are_listed() {
    let machine = fake(&intel_laptop());
    for level in ["power", "0", "77", "255"] {
        assert!(is_available(&machine, "epp", level), "{level}");
    }
    for level in ["256", "-1", "07", "fast"] {
        let (reason, _) = unavailable(&machine, "epp", level);
        assert!(reason.contains("does not offer"), "{level}: {reason}");
    }
    let mut journal = journal();
    turn(&machine, &mut journal, &[("epp", "77")]).unwrap();
    restore(&machine, &mut journal, Options::default()).unwrap();
    assert_eq!(machine.tree(), fake(&intel_laptop()).tree());
}

#[test]
fn boost_has_an_older_name_of_its_own() {
    let machine = FakeMachine::new(&[
        ("/sys/devices/system/cpu/cpufreq/policy0/cpb", "1\n"),
        ("/sys/devices/system/cpu/cpufreq/policy1/cpb", "1\n"),
    ]);
    let mut journal = journal();
    turn(&machine, &mut journal, &[("turbo", "off")]).unwrap();
    let value = || machine.value("/sys/devices/system/cpu/cpufreq/policy1/cpb");
    assert_eq!(value(), "0");
    restore(&machine, &mut journal, Options::default()).unwrap();
    assert_eq!(value(), "1");
}

#[test]
fn the_frequency_itself_can_be_set_where_the_same_experiment_sets_the_governor_for_it() {
    let policy = "/sys/devices/system/cpu/cpufreq/policy0";
    let speed = format!("{policy}/scaling_setspeed");
    let machine = FakeMachine::new(&[
        (&format!("{policy}/scaling_governor"), "ondemand\n"),
        (
            &format!("{policy}/scaling_available_governors"),
            "performance ondemand userspace\n",
        ),
        (&speed, "<unsupported>\n"),
    ]);
    let before = machine.tree();
    let path = speed.clone();
    machine.react(move |tree, changed, now| {
        if changed.ends_with("/scaling_governor") {
            let shown = if now == "userspace" {
                "2000000\n"
            } else {
                "<unsupported>\n"
            };
            tree.insert(path.clone(), shown.as_bytes().to_vec());
        }
    });
    let find = |name: &str| Knob::find(name, &[]);
    let among = |wanted: &[Setting]| {
        opening::availability(&machine, &find, &wanted[0], wanted, Refused(false)).unwrap()
    };
    let frequency = Setting::new("frequency", "1200000");
    let governor = |level| Setting::new("governor", level);
    let both = [frequency.clone(), governor("userspace")];
    assert_eq!(among(&both), Availability::Available);
    // By itself, or with another governor, it is not to be had, and that is said.
    for wanted in [
        vec![frequency.clone()],
        vec![frequency.clone(), governor("performance")],
        vec![frequency, governor("conservative")],
    ] {
        assert_ne!(among(&wanted), Availability::Available, "{wanted:?}");
    }
    let Availability::Unavailable { reason, remedy } =
        knob("frequency").settable(&machine, Refused(false))
    else {
        panic!("the governor holds it");
    };
    assert!(reason.contains("not userspace"), "{reason}");
    assert!(remedy.unwrap().contains("same experiment"));
    let mut journal = journal();
    let error = turn(&machine, &mut journal, &[("frequency", "1200000")]).unwrap_err();
    assert!(error.to_string().contains("not userspace"), "{error}");
    turn(
        &machine,
        &mut journal,
        &[("frequency", "1200000"), ("governor", "userspace")],
    )
    .unwrap();
    assert_eq!(machine.value(&speed), "1200000");
    let restoration = restore(&machine, &mut journal, Options::default()).unwrap();
    assert_eq!(restoration.failed, []);
    assert_eq!(restoration.left_alone, Vec::<String>::new());
    assert_eq!(machine.tree(), before);
}

#[test]
fn what_goes_with_a_governor_comes_back_with_it() {
    let policy = "/sys/devices/system/cpu/cpufreq/policy0";
    let governors = "/sys/devices/system/cpu/cpufreq";
    for (governor, kept, value) in [
        (
            "ondemand",
            format!("{governors}/ondemand/up_threshold"),
            "63",
        ),
        (
            "schedutil",
            format!("{policy}/schedutil/rate_limit_us"),
            "77",
        ),
        ("userspace", format!("{policy}/scaling_setspeed"), "1800000"),
    ] {
        let machine = FakeMachine::new(&[
            (
                &format!("{policy}/scaling_governor"),
                &format!("{governor}\n"),
            ),
            (
                &format!("{policy}/scaling_available_governors"),
                "performance ondemand schedutil userspace\n",
            ),
            (&kept, &format!("{value}\n")),
        ]);
        let before = machine.tree();
        let path = kept.clone();
        machine.react(move |tree, changed, now| {
            if !changed.ends_with("/scaling_governor") {
                return;
            }
            if now == governor {
                tree.insert(path.clone(), b"1\n".to_vec());
            } else {
                tree.remove(&path);
            }
        });
        let mut journal = journal();
        turn(&machine, &mut journal, &[("governor", "performance")]).unwrap();
        assert!(!machine.tree().contains_key(&kept));
        let restoration = restore(&machine, &mut journal, Options::default()).unwrap();
        assert_eq!(restoration.failed, []);
        assert_eq!(restoration.left_alone, Vec::<String>::new());
        assert_eq!(machine.tree(), before, "{governor}");
    }
}

#[test]
fn the_performance_governor_is_named_for_a_busy_preference() {
    let machine = fake(&intel_laptop());
    let mut journal = journal();
    turn(&machine, &mut journal, &[("governor", "performance")]).unwrap();
    for policy in 0..4 {
        machine.refuse_value(
            &format!(
                "/sys/devices/system/cpu/cpufreq/policy{policy}/energy_performance_preference"
            ),
            "power",
            16,
        );
    }
    let error = turn(&machine, &mut journal, &[("epp", "power")]).unwrap_err();
    assert!(
        error.to_string().contains("performance governor"),
        "{error}"
    );
}

#[test]
fn a_driver_in_another_mode_opens_what_rests_on_it() {
    let machine = FakeMachine::new(&[
        ("/sys/devices/system/cpu/intel_pstate/status", "active\n"),
        (
            "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
            "powersave\n",
        ),
        (
            "/sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors",
            "performance powersave\n",
        ),
        (
            "/sys/devices/system/cpu/cpufreq/policy0/scaling_setspeed",
            "<unsupported>\n",
        ),
    ]);
    let find = |name: &str| Knob::find(name, &[]);
    let wanted = [
        ("frequency", "1200000"),
        ("governor", "userspace"),
        ("intel_pstate", "passive"),
    ]
    .map(|(factor, level)| Setting::new(factor, level));
    let available = |setting: &Setting, wanted: &[Setting]| {
        opening::availability(&machine, &find, setting, wanted, Refused(false))
            == Some(Availability::Available)
    };
    for setting in &wanted {
        assert!(available(setting, &wanted), "{setting}");
    }
    // Without what opens them they are not.
    assert!(!available(&wanted[1], &wanted[..2]));
    assert!(!available(&wanted[0], &wanted[..2]));
    // The mode that is in force opens nothing more.
    let now = [
        Setting::new("governor", "schedutil"),
        Setting::new("intel_pstate", "active"),
    ];
    assert!(!available(&now[0], &now));
}
