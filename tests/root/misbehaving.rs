//! Files that refuse, take a value without effect, change others with it, and are turned back by
//! somebody else: each is told apart, nothing else of the experiment is lost, and the machine is
//! put back.

use std::time::Duration;

use fuser::Errno;

use crate::Test;
use crate::needs::Need;
use crate::settings_file_system::{Behaviour, SettingsFileSystem};
use crate::support::machine::Machine;
use crate::support::program::{Ended, Place, output};

/// The tests of this group.
pub const TESTS: &[Test] = &[
    (
        "firmware_that_forbids_turbo",
        &[Need::Fuse],
        firmware_that_forbids_turbo,
    ),
    ("a_read_only_file", &[Need::Fuse], a_read_only_file),
    (
        "a_preference_that_a_governor_holds",
        &[Need::Fuse],
        a_preference_that_a_governor_holds,
    ),
    (
        "a_machine_with_nothing_to_turn",
        &[Need::Fuse],
        a_machine_with_nothing_to_turn,
    ),
    ("a_value_that_is_none", &[Need::Fuse], a_value_that_is_none),
    (
        "a_write_without_effect",
        &[Need::Fuse],
        a_write_without_effect,
    ),
    (
        "a_write_with_a_late_effect",
        &[Need::Fuse],
        a_write_with_a_late_effect,
    ),
    (
        "a_write_that_changes_another_file",
        &[Need::Fuse],
        a_write_that_changes_another_file,
    ),
    (
        "an_owner_that_turns_a_value_back",
        &[Need::Fuse],
        an_owner_that_turns_a_value_back,
    ),
];

const GOVERNOR: &str = "sys/devices/system/cpu/cpufreq/policy1/scaling_governor";
const NO_TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";
const LIMIT: &str = "sys/devices/system/cpu/intel_pstate/min_perf_pct";
const CURRENT: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";
const SWAPPINESS: &str = "proc/sys/vm/swappiness";

/// Runs an experiment with these factors over a machine with one behaviour, and holds it to
/// leaving every byte as it was.
fn run(machine: &Machine, behaviours: Vec<(String, Behaviour)>, tables: &str) -> Ended {
    let files = SettingsFileSystem::mount(machine, behaviours);
    let place = Place::new();
    let file = place.file(
        "misbehaving.toml",
        &format!(
            "name = \"misbehaving\"\n[workload]\nkind = \"command\"\ncommand = \"true\"\nwarmup_runs = 0\n{tables}\n[design]\nreplicates = 2\nsettle = \"0s\"\n"
        ),
    );
    let before = files.bytes();
    let mut command = place.knobstat();
    command
        .arg("--root")
        .arg(files.path())
        .args(["run", "--json"])
        .arg(file);
    let ended = output(&mut command);
    assert_eq!(files.bytes(), before, "{}", ended.stderr());
    ended
}

fn one(path: &str, behaviour: Behaviour) -> Vec<(String, Behaviour)> {
    vec![(path.to_owned(), behaviour)]
}

/// The runs of each treatment that ended this way, by the level of a factor.
fn runs(ended: &Ended, factor: &str, how: &str) -> Vec<(String, u64)> {
    let report = ended.json();
    report["treatments"]
        .as_array()
        .expect("treatments")
        .iter()
        .map(|treatment| {
            let level = &treatment["levels"][factor];
            let level = level
                .as_str()
                .map_or_else(|| level.to_string(), str::to_owned);
            (level, treatment["runs"][how].as_u64().expect("a count"))
        })
        .collect()
}

fn pairs(levels: &[(&str, u64)]) -> Vec<(String, u64)> {
    levels
        .iter()
        .map(|(level, count)| ((*level).to_owned(), *count))
        .collect()
}

fn firmware_that_forbids_turbo() {
    let machine = Machine::desktop();
    machine.write(NO_TURBO, "1\n");
    let refused = Behaviour::Refused("0".to_owned(), Errno::EPERM);
    let ended = run(
        &machine,
        one(NO_TURBO, refused),
        "[factors]\nturbo = [\"off\", \"on\"]",
    )
    .must_exit(1);
    assert!(
        ended.stderr().contains("the firmware has turned turbo off"),
        "{}",
        ended.stderr()
    );
    assert_eq!(runs(&ended, "turbo", "ok"), pairs(&[("off", 2), ("on", 0)]));
}

fn a_read_only_file() {
    let ended = run(
        &Machine::desktop(),
        one(CURRENT, Behaviour::OpenRefused(Errno::EROFS)),
        "[factors]\nclocksource = [\"tsc\", \"hpet\"]\nthp = [\"always\", \"never\"]",
    )
    .must_exit(0);
    assert!(
        ended.stderr().contains("mounted read-only"),
        "{}",
        ended.stderr()
    );
    let report = ended.json();
    assert_eq!(report["omitted"][0]["level"], "hpet");
    assert_eq!(
        runs(&ended, "thp", "ok"),
        pairs(&[("always", 2), ("never", 2)])
    );
}

fn a_preference_that_a_governor_holds() {
    let policies = "sys/devices/system/cpu/cpufreq";
    let behaviours = (0..2)
        .map(|number| {
            let held = format!("{policies}/policy{number}/scaling_governor");
            (
                format!("{policies}/policy{number}/energy_performance_preference"),
                Behaviour::RefusedWhile(held, "performance".to_owned(), Errno::EBUSY),
            )
        })
        .collect();
    let ended = run(
        &Machine::desktop(),
        behaviours,
        "[factors]\nepp = [\"balance_performance\", \"power\"]\n[fixed]\ngovernor = \"performance\"",
    )
    .must_exit(1);
    assert!(
        ended.stderr().contains("performance governor holds"),
        "{}",
        ended.stderr()
    );
    let ok = runs(&ended, "epp", "ok");
    assert_eq!(ok, pairs(&[("balance_performance", 2), ("power", 0)]));
}

fn a_value_that_is_none() {
    let ended = run(
        &Machine::desktop(),
        one(
            SWAPPINESS,
            Behaviour::Refused("900".to_owned(), Errno::EINVAL),
        ),
        "[factors]\nswappiness = [60, 10, 900]",
    )
    .must_exit(1);
    assert!(ended.stderr().contains("EINVAL"), "{}", ended.stderr());
    let ok = runs(&ended, "swappiness", "ok");
    assert_eq!(ok, pairs(&[("60", 2), ("10", 2), ("900", 0)]));
}

fn a_write_without_effect() {
    let ended = run(
        &Machine::desktop(),
        one(CURRENT, Behaviour::WithoutEffect),
        "[factors]\nclocksource = [\"tsc\", \"hpet\"]",
    )
    .must_exit(1);
    assert!(
        ended.stderr().contains("it reads tsc"),
        "{}",
        ended.stderr()
    );
    assert_eq!(
        runs(&ended, "clocksource", "ok"),
        pairs(&[("tsc", 2), ("hpet", 0)])
    );
}

fn a_write_with_a_late_effect() {
    // As the limits of a frequency policy: `run` compares every byte when the program has ended.
    let ended = run(
        &Machine::desktop(),
        one(SWAPPINESS, Behaviour::Late(Duration::from_millis(10))),
        "[factors]\nswappiness = [10, 20]",
    )
    .must_exit(0);
    let ok = runs(&ended, "swappiness", "ok");
    assert_eq!(ok, pairs(&[("10", 2), ("20", 2)]));
}

fn a_write_that_changes_another_file() {
    // The limit of 8 must come back although nobody asked for it: `run` compares every byte.
    let ended = run(
        &Machine::desktop(),
        one(NO_TURBO, Behaviour::changes_too("1", LIMIT, "20")),
        "[factors]\nturbo = [\"on\", \"off\"]",
    )
    .must_exit(0);
    assert_eq!(runs(&ended, "turbo", "ok"), pairs(&[("on", 2), ("off", 2)]));
}

fn an_owner_that_turns_a_value_back() {
    // It is right when it is set and read back, and another value before or after the run.
    let ended = run(
        &Machine::desktop(),
        one(NO_TURBO, Behaviour::TurnedBack("0".to_owned(), 7)),
        "[factors]\nturbo = [\"on\", \"off\"]",
    );
    let tainted: u64 = runs(&ended, "turbo", "tainted")
        .iter()
        .map(|(_, count)| count)
        .sum();
    assert!(tainted > 0, "{}\n{}", ended.stdout(), ended.stderr());
    // A repeat goes into a further complete block.
    let ok = runs(&ended, "turbo", "ok");
    assert!(ok[0].0 == "on" && ok[0].1 >= 2, "{ok:?}");
}

fn a_machine_with_nothing_to_turn() {
    let ended = run(
        &Machine::bare(),
        Vec::new(),
        "[factors]\ngovernor = [\"performance\", \"powersave\"]",
    )
    .must_exit(2);
    assert!(
        ended.stderr().contains("no cpufreq policy"),
        "{}",
        ended.stderr()
    );
    // What the files hold is what a machine on the disk would hold.
    let machine = Machine::desktop();
    let files = SettingsFileSystem::mount(&machine, Vec::new());
    assert_eq!(files.read(GOVERNOR), machine.read(GOVERNOR));
}
