//! Power cuts: an experiment runs in a guest, on a disk of its own, and the guest is ended at a
//! random moment, as a power cut ends a machine. In the next boot the journal is closed with a word
//! about the reboot, and every run that was finished is there.
//!
//! That the test would see a loss is shown by the same without `fsync`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::Test;
use crate::boot::{Boot, Running};
use crate::modules;
use crate::needs::{self, Need};
use crate::transcript::{MARK, Transcript};

/// The tests of this group.
pub const TESTS: &[Test] = &[
    (
        "no_finished_run_is_lost_one",
        &[Need::Guest, Need::Disk],
        no_finished_run_is_lost_one,
    ),
    (
        "no_finished_run_is_lost_two",
        &[Need::Guest, Need::Disk],
        no_finished_run_is_lost_two,
    ),
    (
        "without_fsync_it_would_be",
        &[Need::Guest, Need::Disk, Need::Compiler],
        without_fsync_it_would_be,
    ),
];

/// How often each of the two cuts the power.
fn cuts() -> u64 {
    if std::env::var_os("KNOBSTAT_LONG").is_some() {
        100
    } else {
        10
    }
}

/// A small generator (splitmix64): the test's own, so that its seed means the same for ever.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// Lets a random time pass, awake: moments that no clock tick groups together.
    fn pass(&mut self, at_most: Duration) {
        let time = Duration::from_nanos(self.below(at_most.as_nanos() as u64));
        let begun = Instant::now();
        while begun.elapsed() < time {
            std::hint::spin_loop();
        }
    }
}

/// A machine whose disk outlives its boots.
struct Machine {
    directory: tempfile::TempDir,
    forgetful: Option<PathBuf>,
}

/// What one boot found of those before it.
struct Found {
    settings: String,
    boot: String,
    restored: String,
    runs: u64,
}

impl Machine {
    fn new(forgetful: bool) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let image = Command::new(needs::mkfs().unwrap())
            .args(["-q", "-F"])
            .arg(directory.path().join("disk"))
            .arg("64M")
            .output()
            .unwrap();
        assert!(image.status.success(), "{image:?}");
        let forgetful = forgetful.then(|| forgetful_library(directory.path()));
        Self {
            directory,
            forgetful,
        }
    }

    /// Boots, looks at what is there, and goes on with the experiment.
    fn boot(&self) -> (Running, BufReader<std::process::ChildStdout>, Found) {
        let drivers = [
            "virtio",
            "virtio_ring",
            "virtio_pci_legacy_dev",
            "virtio_pci_modern_dev",
            "virtio_pci",
            "virtio_blk",
        ];
        let mut files: Vec<PathBuf> = drivers.map(modules::the_kernels).into();
        files.extend(self.forgetful.clone());
        let mut running = Boot {
            script: include_str!("scripts/power_cut.sh"),
            siblings: false,
            acpi_table: None,
            files,
            disk: Some(self.directory.path().join("disk")),
        }
        .start();
        let mut console = BufReader::new(running.child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.contains(&format!("\n{MARK}running")) {
            let mut line = Vec::new();
            let read = console.read_until(b'\n', &mut line).unwrap();
            assert_ne!(read, 0, "the guest ended: {said}");
            said.push_str(&String::from_utf8_lossy(&line));
        }
        let found = Found::read(&Transcript::new(&said));
        (running, console, found)
    }
}

impl Found {
    fn read(said: &Transcript) -> Self {
        let experiments = said.report("kept");
        let experiments = experiments.as_array().unwrap();
        assert!(experiments.len() < 2, "one experiment: {experiments:#?}");
        let count = |key: &str| {
            let counts = experiments.iter().filter_map(|one| one[key].as_u64());
            counts.sum::<u64>()
        };
        let nothing = "Nothing is left to put back.";
        said.must_have("restored_again", &[nothing]);
        Self {
            settings: said.section("settings").to_owned(),
            boot: said.section("boot").trim().to_owned(),
            restored: said.section("restored").to_owned(),
            runs: count("ok") + count("tainted") + count("failed"),
        }
    }
}

/// Reads what the program says until so many more runs have begun; how many are finished by then.
fn finished_after(console: &mut impl BufRead, runs: u64) -> u64 {
    let mut finished = 0;
    let mut begun = 0;
    while begun < runs {
        let mut line = Vec::new();
        let read = console.read_until(b'\n', &mut line).unwrap();
        let line = String::from_utf8_lossy(&line);
        assert_ne!(read, 0, "the guest ended");
        let number = line
            .strip_prefix('[')
            .and_then(|line| line.split_once("run "))
            .and_then(|(_, rest)| rest.split(' ').next()?.parse::<u64>().ok());
        if let Some(number) = number {
            finished = number - 1;
            begun += 1;
        }
    }
    finished
}

fn no_finished_run_is_lost_one() {
    cut_over_and_over(0x0c07_0001);
}

fn no_finished_run_is_lost_two() {
    cut_over_and_over(0x0c07_0002);
}

fn cut_over_and_over(seed: u64) {
    let seed = std::env::var("KNOBSTAT_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(seed);
    println!("seed {seed} (KNOBSTAT_SEED)");
    let mut random = Random(seed);
    let machine = Machine::new(false);
    let mut told = 0;
    let mut found_before: Option<Found> = None;
    let mut closed = 0;
    for cut in 0..=cuts() {
        let (mut running, mut console, found) = machine.boot();
        assert!(
            found.runs >= told,
            "cut {cut}: {} runs are kept and {told} were told of",
            found.runs
        );
        if let Some(before) = &found_before {
            assert_ne!(found.boot, before.boot, "cut {cut}: another boot");
            assert_eq!(found.settings, before.settings, "cut {cut}: at boot values");
            assert!(found.runs >= before.runs, "cut {cut}");
        }
        let is_closed = found.restored.contains("the reboot put its settings back");
        let is_nothing = found.restored.starts_with("Nothing is left");
        assert!(is_closed || is_nothing, "cut {cut}: {}", found.restored);
        closed += u64::from(is_closed);

        let runs = random.below(5);
        told = found.runs.max(finished_after(&mut console, runs));
        random.pass(Duration::from_millis(if runs == 0 { 3000 } else { 300 }));
        running.cut();
        found_before = Some(found);
    }
    println!("{told} runs finished, {closed} journals closed");
    // The cuts fell where they were meant to.
    assert!(
        closed * 3 >= cuts(),
        "only {closed} fell while settings were turned"
    );
    assert!(told >= cuts(), "only {told} runs were finished");
}

fn without_fsync_it_would_be() {
    let machine = Machine::new(true);
    let (mut running, mut console, found) = machine.boot();
    assert_eq!(found.runs, 0);
    let told = finished_after(&mut console, 5);
    assert!(told >= 4);
    running.cut();
    let (_running, _console, found) = machine.boot();
    assert!(
        found.runs < told,
        "{} runs are kept of {told}, so that this test could not see a loss",
        found.runs
    );
}

fn forgetful_library(directory: &Path) -> PathBuf {
    let library = directory.join("forgetful.so");
    let built = Command::new("gcc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest/forgetful.c"))
        .status()
        .unwrap();
    assert!(built.success());
    library
}
