//! Power cuts: an experiment runs in a guest, on a disk of its own, and the guest is ended at a
//! random moment, as a power cut ends a machine. In the next boot the journal is closed with a word
//! about the reboot, and every run that was finished is there.
//!
//! That the test would see a loss is shown by the same without `fsync`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Test;
use crate::boot::{Boot, Running};
use crate::modules;
use crate::needs::{self, Need};
use crate::support::progress::finished_after;
use crate::support::random::Random;
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
            kernel_parameters: "",
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

fn no_finished_run_is_lost_one() {
    cut_over_and_over(0x0c07_0001);
}

fn no_finished_run_is_lost_two() {
    cut_over_and_over(0x0c07_0002);
}

fn cut_over_and_over(seed: u64) {
    let mut random = Random::seeded(seed);
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
