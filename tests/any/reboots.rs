//! An experiment whose levels need boots, on a machine laid out in a tree: the test plays its
//! boot loader, its kernel and its service manager.

use std::collections::BTreeMap;

use crate::support::machine::Machine;
use crate::support::program::{Ended, Place, output};

const WORDS: &str = "root=/dev/sda1 quiet";
const GRUB: &str = "\
if [ \"${next_entry}\" ] ; then
   set default=\"${next_entry}\"
   set next_entry=
   save_env next_entry
fi
menuentry 'Debian GNU/Linux' $menuentry_id_option 'gnulinux-simple-1' {
\tsearch --no-floppy --fs-uuid --set=root 1
\tlinux\t/boot/vmlinuz-6.1.0-test root=/dev/sda1 quiet
}
source ${config_directory}/custom.cfg
";
const EXPERIMENT: &str = r#"
name = "idle tick"
[workload]
kind = "command"
command = ["true"]
[factors]
nohz = ["on", "off"]
thp = ["always", "never"]
[design]
replicates = 2
seed = 1
settle = "0s"
[target]
kind = "local"
"#;

/// A machine that boots by GRUB.
struct Booted {
    machine: Machine,
    place: Place,
    boots: u32,
}

impl Booted {
    fn new() -> Self {
        let machine = Machine::desktop();
        machine.write("boot/grub/grub.cfg", GRUB);
        let header = "# GRUB Environment Block\nsaved_entry=gnulinux-simple-1\n";
        machine.write("boot/grub/grubenv", &format!("{header:#<1024}"));
        machine.write("boot/vmlinuz-6.1.0-test", "kernel");
        let config = "CONFIG_HZ=250\nCONFIG_NO_HZ_COMMON=y\n";
        machine.write("boot/config-6.1.0-test", config);
        machine.write("etc/systemd/system/other.service", "[Unit]\n");
        let booted = Self {
            machine,
            place: Place::new(),
            boots: 0,
        };
        booted.place.file("experiment.toml", EXPERIMENT);
        booted.comes_up(WORDS);
        booted
    }

    fn comes_up(&self, words: &str) {
        self.machine
            .write("proc/cmdline", &format!("BOOT_IMAGE=/boot/v {words}\n"));
        self.machine.write(
            "proc/sys/kernel/random/boot_id",
            &format!("boot {}\n", self.boots),
        );
    }

    /// The machine starts anew: what is ordered is booted once, or else the default.
    fn starts_anew(&mut self) {
        self.boots += 1;
        let environment = self.machine.read("boot/grub/grubenv");
        if !environment.contains("next_entry=knobstat-one-boot\n") {
            self.comes_up(WORDS);
            return;
        }
        let cleared = environment.replace("next_entry=knobstat-one-boot\n", "next_entry=\n");
        self.machine
            .write("boot/grub/grubenv", &format!("{cleared:#<1024}"));
        let custom = self.machine.read("boot/grub/custom.cfg");
        let words: Vec<&str> = custom
            .lines()
            .find_map(|line| line.trim().strip_prefix("linux /boot/vmlinuz-6.1.0-test"))
            .expect("the entry boots the kernel")
            .split_whitespace()
            .map(|word| word.trim_matches('\''))
            .collect();
        self.comes_up(&words.join(" "));
    }

    fn run(&self, more: &[&str]) -> Ended {
        let file = self.place.path().join("experiment.toml");
        output(
            self.place
                .knobstat_on(&self.machine)
                .arg("run")
                .arg(file)
                .args(more),
        )
    }

    fn knobstat(&self, words: &[&str]) -> Ended {
        output(self.place.knobstat_on(&self.machine).args(words))
    }

    /// Everything that outlasts a boot.
    fn disk(&self) -> BTreeMap<String, Vec<u8>> {
        let mut tree = self.machine.tree();
        tree.retain(|path, _| !path.starts_with("proc/") && !path.starts_with("sys/"));
        tree
    }

    fn is_in_a_boot(&self) -> bool {
        self.machine.read("proc/cmdline").contains("knobstat.boot=")
    }
}

#[test]
fn an_experiment_goes_on_from_boot_to_boot_until_it_is_done() {
    let mut booted = Booted::new();
    let before = booted.disk();
    let first = booted.run(&["--reboot"]).must_exit(0);
    assert!(
        first.stderr().contains("at least 5 times"),
        "{}",
        first.stderr()
    );
    assert!(
        first.stderr().contains("the machine reboots"),
        "{}",
        first.stderr()
    );
    let unit = booted
        .machine
        .read("etc/systemd/system/knobstat-resume.service");
    assert!(unit.contains("knobstat\" resume\n"), "{unit}");
    let mut lines = Vec::new();
    loop {
        assert!(
            lines.len() < 10,
            "it makes no end: {lines:?}\n{}",
            booted.knobstat(&["show", "idle tick"]).stdout()
        );
        booted.starts_anew();
        lines.push(booted.machine.read("proc/cmdline"));
        assert!(booted.is_in_a_boot());
        // A power cut in the second boot, before anything was done in it.
        if lines.len() == 2 {
            booted.starts_anew();
            assert!(!booted.is_in_a_boot());
        }
        let ended = booted.knobstat(&["resume"]).must_exit(0);
        if ended.stdout().contains("idle tick") {
            break;
        }
    }
    // Two levels in each of two blocks, and one boot that was asked for twice.
    assert_eq!(lines.len(), 5, "{lines:?}");
    for level in ["nohz=on panic=10", "nohz=off panic=10"] {
        let count = lines.iter().filter(|line| line.contains(level)).count();
        assert!(count == 2 || count == 3, "{lines:?}");
    }
    assert_eq!(
        booted.disk(),
        before,
        "nothing is left, the default entry is as it was"
    );
    booted.starts_anew();
    assert!(!booted.is_in_a_boot());
    let listed = booted.knobstat(&["list", "--json"]).must_exit(0).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    let shown = booted
        .knobstat(&["export", "idle tick"])
        .must_exit(0)
        .json();
    let attempts = shown["record"]["attempts"].as_array().expect("attempts");
    let measured: Vec<_> = attempts
        .iter()
        .filter(|attempt| attempt["warmup"].is_null())
        .collect();
    assert_eq!(measured.len(), 8);
    assert!(
        measured
            .iter()
            .all(|attempt| attempt["result"]["outcome"] == "Ok"),
        "{measured:#?}"
    );
    booted.knobstat(&["resume"]).must_exit(0);
}

#[test]
fn without_consent_the_levels_are_left_out_and_the_flag_is_named() {
    let booted = Booted::new();
    let before = booted.disk();
    let plan = booted.run(&["--check"]).must_exit(0);
    assert!(plan.stdout().contains("--reboot"), "{}", plan.stdout());
    let with = booted.run(&["--check", "--reboot"]).must_exit(0);
    assert!(
        !with.stdout().contains("needs another boot"),
        "{}",
        with.stdout()
    );
    let ended = booted.run(&[]).must_exit(0);
    assert!(!ended.stderr().contains("reboots"), "{}", ended.stderr());
    assert_eq!(booted.disk(), before);
}

#[test]
fn an_order_that_could_never_be_cleared_is_refused() {
    let booted = Booted::new();
    std::fs::remove_file(booted.machine.path().join("boot/grub/grubenv")).expect("it is there");
    let before = booted.disk();
    let refused = booted.run(&["--reboot"]).must_exit(2);
    assert!(
        refused.stderr().contains("boot it for ever"),
        "{}",
        refused.stderr()
    );
    assert_eq!(booted.disk(), before);
}

#[test]
fn another_machine_is_not_rebooted() {
    let booted = Booted::new();
    let guest = EXPERIMENT.replace("kind = \"local\"", "kind = \"vm\"");
    booted.place.file("experiment.toml", &guest);
    let refused = booted.run(&["--reboot"]).must_exit(2);
    assert!(
        refused.stderr().contains("Leave --reboot out"),
        "{}",
        refused.stderr()
    );
}

#[test]
fn three_failed_boots_end_it() {
    let mut booted = Booted::new();
    let before = booted.disk();
    booted.run(&["--reboot"]).must_exit(0);
    for _ in 0..2 {
        booted.starts_anew();
        // It hangs; the default comes up.
        booted.starts_anew();
        booted.knobstat(&["resume"]).must_exit(0);
    }
    booted.starts_anew();
    booted.starts_anew();
    let ended = booted.knobstat(&["resume"]).must_exit(1);
    assert!(ended.stderr().contains("3 times"), "{}", ended.stderr());
    assert_eq!(booted.disk(), before);
    let nothing = booted.knobstat(&["resume"]).must_exit(0);
    assert!(
        nothing.stderr().contains("no experiment"),
        "{}",
        nothing.stderr()
    );
}

#[test]
fn restore_removes_every_trace_and_can_say_how_first() {
    let booted = Booted::new();
    let before = booted.disk();
    booted.run(&["--reboot"]).must_exit(0);
    let during = booted.disk();
    assert_ne!(during, before);
    let told = booted.knobstat(&["restore", "--dry-run"]).must_exit(0);
    for command in [
        "grub-editenv ",
        "rm ",
        "knobstat-resume.service",
        "boots.json",
    ] {
        assert!(told.stdout().contains(command), "{}", told.stdout());
    }
    assert_eq!(booted.disk(), during);
    booted.knobstat(&["restore"]).must_exit(0);
    assert_eq!(booted.disk(), before);
    let state = booted.place.path().join("state");
    let left = std::fs::read_dir(state).map_or(0, Iterator::count);
    assert_eq!(left, 0, "no state is left");
    let again = booted.knobstat(&["restore"]).must_exit(0);
    assert!(
        again.stdout().contains("Nothing is left"),
        "{}",
        again.stdout()
    );
}

#[test]
fn an_experiment_that_was_changed_meanwhile_is_not_gone_on_with() {
    let mut booted = Booted::new();
    booted.run(&["--reboot"]).must_exit(0);
    booted.starts_anew();
    let changed = EXPERIMENT.replace("\"true\"", "\"touch\", \"/changed\"");
    booted.place.file("experiment.toml", &changed);
    let refused = booted.knobstat(&["resume"]).must_exit(2);
    assert!(
        refused.stderr().contains("was changed"),
        "{}",
        refused.stderr()
    );
    booted.knobstat(&["restore"]).must_exit(0);
}

#[test]
fn an_experiment_that_was_finished_before_the_boots_were_ended_is_not_begun_anew() {
    let mut booted = Booted::new();
    let before = booted.disk();
    booted.run(&["--reboot"]).must_exit(0);
    // The power fails between the end of the experiment and the end of its boots.
    let mut last = (BTreeMap::new(), String::new());
    let state = loop {
        booted.starts_anew();
        let path = walk(&booted.place.path().join("state"));
        let bytes = std::fs::read(&path).expect("the state");
        last = (booted.machine.tree(), last.1);
        let ended = booted.knobstat(&["resume"]).must_exit(0);
        if !ended.stdout().is_empty() {
            break (path, bytes);
        }
    };
    for (path, bytes) in &last.0 {
        let path = booted.machine.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    }
    std::fs::create_dir_all(state.0.parent().expect("a folder")).expect("a folder");
    std::fs::write(&state.0, &state.1).expect("the state");
    booted.starts_anew();
    let ended = booted.knobstat(&["resume"]).must_exit(0);
    assert!(ended.stderr().contains("is finished"), "{}", ended.stderr());
    assert_eq!(booted.disk(), before);
    let listed = booted.knobstat(&["list", "--json"]).must_exit(0).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
}

/// The only file beneath a directory.
fn walk(directory: &std::path::Path) -> std::path::PathBuf {
    let entry = std::fs::read_dir(directory)
        .expect("a directory")
        .next()
        .expect("something in it")
        .expect("an entry");
    if entry.path().is_dir() {
        walk(&entry.path())
    } else {
        entry.path()
    }
}
