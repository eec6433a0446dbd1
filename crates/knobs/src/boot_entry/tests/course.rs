//! Boots of an experiment that fail, that are in the way of another, and whose traces go,
//! whatever the loader is.

use std::path::Path;

use knobstat_data::messages::{Boot, BootLoader, BootName, MayReboot, Resume};
use knobstat_data::words::Setting;
use knobstat_sys::root::Root;

use super::machine::{Machine, nohz};
use crate::boot_entry::{BootError, Boots};
use crate::knob::Refused;
use crate::state_directory::StateDirectory;

#[test]
fn three_failed_boots_end_it_and_leave_nothing() {
    let mut machine = Machine::with_grub();
    let before = machine.content();
    for attempt in 1..=3 {
        assert!(!machine.is_here((0, 0), &nohz("off")), "try {attempt}");
        machine.grub_boots();
        // It hung: somebody, or the watchdog, started it anew, and the default came up.
        machine.grub_boots();
    }
    match machine.be_in((0, 0), &nohz("off")) {
        Err(BootError::GivenUp { tries: 3, what, .. }) => assert_eq!(what, "did not come up"),
        other => panic!("{other:?}"),
    }
    assert_eq!(machine.content(), before);
}

#[test]
fn a_boot_that_ends_early_three_times_ends_it_too() {
    let mut machine = Machine::with_grub();
    for _ in 0..3 {
        assert!(!machine.is_here((0, 0), &nohz("off")));
        machine.grub_boots();
        assert!(machine.is_here((0, 0), &nohz("off")));
        machine.grub_boots();
    }
    let ended = machine.be_in((0, 0), &nohz("off"));
    let Err(BootError::GivenUp { what, .. }) = ended else {
        panic!("{ended:?}");
    };
    assert_eq!(what, "ended before its runs were done");
    assert!(machine.boots().traces().is_empty());
}

#[test]
fn what_no_boot_brings_about_is_told() {
    let machine = Machine::with_grub();
    let refused = |setting: Setting| {
        machine
            .boots()
            .can_boot(BootLoader::Grub, &setting)
            .map_err(|error| error.to_string())
    };
    for setting in [
        Setting::new("nohz", "off"),
        Setting::new("idletick", "on"),
        Setting::new("highres", "absent"),
        Setting::new("hz", 1000),
        Setting::new("kernel", "6.1-b"),
        Setting::new("kernel", "base"),
        Setting::new("cmdline:hpet", "disable"),
        Setting::new("cmdline:quiet", "absent"),
        Setting::new("isolcpus", "none"),
    ] {
        assert_eq!(refused(setting.clone()), Ok(()), "{setting}");
    }
    for (setting, cause) in [
        (Setting::new("hz", 300), "CONFIG_HZ=300"),
        (Setting::new("kernel", "6.9"), "6.9 is not installed"),
        (Setting::new("kernel", "../a"), "is not installed"),
        (Setting::new("cmdline:x", "a b"), "cannot be a word"),
        (Setting::new("clockevent", "hpet"), "no single word"),
        (Setting::new("governor", "performance"), "is not known here"),
    ] {
        let told = refused(setting.clone()).unwrap_err();
        assert!(told.contains(cause), "{setting}: {told}");
    }
}

#[test]
fn a_machine_that_is_still_in_a_boot_is_not_taken_for_itself() {
    let machine = Machine::with_grub();
    machine.comes_up("6.1-a", "nohz=off knobstat.boot=0123456789ab-0-0-1", 1);
    let refused = machine.be_in((0, 0), &nohz("on"));
    assert!(
        matches!(refused, Err(BootError::StillInABoot)),
        "{refused:?}"
    );
}

#[test]
fn an_experiment_in_the_midst_of_its_boots_is_not_disturbed() {
    let machine = Machine::with_grub();
    assert!(!machine.is_here((0, 0), &nohz("off")));
    let before = machine.content();
    let other = machine.boots().be_in(&Boot {
        name: BootName {
            experiment: "ba9876543210".parse().unwrap(),
            block: 0,
            boot: 0,
        },
        settings: nohz("on").to_vec(),
        may: MayReboot::default(),
        resume: Resume::default(),
    });
    assert!(
        matches!(other, Err(BootError::AnotherExperiment(_))),
        "{other:?}"
    );
    assert_eq!(machine.content(), before);
    let resumption = machine.boots().resumption().unwrap().unwrap();
    assert_eq!(resumption.resume.arguments, ["run", "file.toml"]);
    assert_eq!(resumption.program, Path::new("/usr/bin/knobstat"));
}

#[test]
fn what_is_left_is_removed_even_where_nothing_is_known_of_it() {
    let machine = Machine::with_grub();
    let before = machine.content();
    assert!(!machine.is_here((0, 0), &nohz("off")));
    let state = machine
        .content()
        .into_keys()
        .find(|path| path.ends_with("boots.json"))
        .unwrap();
    std::fs::write(machine.state.path().join(state), "torn").unwrap();
    let commands: Vec<String> = machine
        .boots()
        .traces()
        .into_iter()
        .map(|trace| trace.command)
        .collect();
    for (command, what) in commands
        .iter()
        .zip(["grub-editenv ", "rm ", "rm ", "rm ", "rm "])
    {
        assert!(command.starts_with(what), "{commands:?}");
    }
    assert_eq!(commands.len(), 5);
    machine.boots().remove_traces().unwrap();
    let mut after = machine.content();
    // Whether that directory had to be made is not known any more.
    after.remove("etc/systemd/system/multi-user.target.wants");
    assert_eq!(after, before);
}

#[test]
fn what_a_power_cut_left_half_written_goes_as_well() {
    for custom in [None, Some("set timeout=3\n")] {
        let machine = Machine::with_grub();
        if let Some(custom) = custom {
            machine.write("boot/grub/custom.cfg", custom);
        }
        let before = machine.content();
        // The unit cannot take its place, and what was begun cannot be removed: it stays as the
        // cut leaves it.
        let unit = machine.path("etc/systemd/system/knobstat-resume.service");
        std::fs::create_dir(&unit).unwrap();
        assert!(machine.be_in((0, 0), &nohz("off")).is_err());
        assert!(machine.boots().end().is_err());
        std::fs::remove_dir(&unit).unwrap();
        for left in [
            "etc/systemd/system/knobstat-resume.service.knobstat",
            "boot/grub/custom.cfg.knobstat",
        ] {
            machine.write(left, "half");
        }
        std::fs::create_dir_all(machine.path("etc/systemd/system/multi-user.target.wants"))
            .unwrap();
        machine.boots().end().unwrap();
        assert_eq!(machine.content(), before);
    }
}

#[test]
fn the_machine_itself_is_left_alone_where_that_is_asked() {
    let state = tempfile::tempdir().unwrap();
    let boots = Boots::new(
        Root::real(),
        StateDirectory::at(state.path().to_owned()),
        Refused(true),
        "/usr/bin/knobstat".into(),
    );
    let refused = boots.can_reboot(MayReboot::default());
    assert!(matches!(refused, Err(BootError::Refused)), "{refused:?}");
}
