//! Reboots of a real machine: a guest with a disk, whose kernel starts the next one by kexec. The
//! experiment goes on by itself, and through a power cut.

use std::fs;
use std::io::{BufRead, BufReader, Read, Seek};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use knobstat_lab::guest::{
    Accelerator, BOUND, Disk, GuestTime, Initramfs, Machine, Ports, libraries_of,
};
use knobstat_lab::kernels::Kernel;
use knobstat_sys::pidfd::PidFd;

use crate::Test;
use crate::needs;

/// The tests of this group.
pub const TESTS: &[Test] = &[(
    "an_experiment_goes_on_from_boot_to_boot_and_through_a_power_cut",
    an_experiment_goes_on_from_boot_to_boot_and_through_a_power_cut,
)];
/// Those of the long campaigns.
pub const LONG_TESTS: &[Test] = &[(
    "a_boot_that_panics_three_times_ends_it",
    a_boot_that_panics_three_times_ends_it,
)];

/// The program that is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_knobstat");
const INIT: &str = include_str!("scripts/init.sh");
const EARLY: &str = include_str!("scripts/early.sh");
/// The drivers of a disk, where the kernel has them as modules, in the order of what rests on what.
const DRIVERS: [&str; 6] = [
    "virtio_ring",
    "virtio",
    "virtio_pci_legacy_dev",
    "virtio_pci_modern_dev",
    "virtio_pci",
    "virtio_blk",
];
/// Four boots. A run says so on the console, so that the power can be cut in the midst of one.
const EXPERIMENT: &str = r#"
name = "reboots"
[workload]
kind = "command"
command = ["sh", "-c", "echo a run >/dev/console; exec sleep 0.2"]
warmup_runs = 0
[factors]
nohz = ["on", "off"]
[design]
replicates = 2
seed = 7
settle = "0s"
[target]
kind = "local"
"#;
/// A kernel without a first process panics, and is told to start anew then.
const PANICS: &str = r#"
name = "reboots"
[workload]
kind = "command"
command = "true"
warmup_runs = 0
[factors]
"cmdline:rdinit" = ["/none", "/early"]
[design]
replicates = 2
order = "as-written"
settle = "0s"
[target]
kind = "local"
"#;
/// A guest that has not come to its end by then is ended: something in it waits for ever. On a quiet
/// machine it takes a minute at the most.
const LONGEST: Duration = Duration::from_secs(3600);
/// The run in whose midst the power is cut: in the third boot, as each boot has one.
const CUT_IN_RUN: usize = 3;

fn an_experiment_goes_on_from_boot_to_boot_and_through_a_power_cut() {
    let place = tempfile::tempdir().unwrap();
    let machine = Disked::new(place.path(), EXPERIMENT);

    let mut said = Vec::new();
    let mut runs = 0;
    // Until the power is cut.
    let mut running = Running::start(&machine);
    for line in running.lines() {
        runs += usize::from(line.contains("a run"));
        said.push(line);
        if runs == CUT_IN_RUN {
            break;
        }
    }
    assert_eq!(
        runs,
        CUT_IN_RUN,
        "it ended before the cut:\n{}",
        said.join("\n")
    );
    drop(running);
    said.push("(the power is cut)".to_owned());
    // The machine comes up by its default entry, and goes on until the last reboot, which goes
    // through the firmware: QEMU ends there.
    said.extend(Running::start(&machine).lines());
    // And once more, as it boots by itself.
    let last: Vec<String> = Running::start(&machine).lines().collect();
    said.push("(the machine was put back)".to_owned());
    said.extend(last.iter().cloned());
    let transcript = said.join("\n");

    let boots: Vec<&String> = said
        .iter()
        .filter(|line| line.contains("came up: "))
        .collect();
    let of_the_plan = boots
        .iter()
        .filter(|line| line.contains("knobstat.boot="))
        .count();
    // Four of the plan, one of them asked for twice.
    assert_eq!(of_the_plan, 5, "{transcript}");
    assert!(boots.len() >= of_the_plan + 3, "{transcript}");
    assert!(
        last.iter()
            .any(|line| line.contains("no experiment is to be continued")),
        "{transcript}"
    );
    assert!(
        last.iter()
            .any(|line| line.contains("Nothing is left to put back")),
        "{transcript}"
    );
    let is_the_users = |line: &&String| {
        let mut words = line.split_whitespace();
        let owner = words.nth(2);
        line.ends_with("store.db") && owner == Some("1000")
    };
    assert!(last.iter().any(|line| is_the_users(&line)), "{transcript}");
    let record = machine.export();
    assert!(!record["record"]["finished"].is_null(), "{transcript}");
    let attempts = record["record"]["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 4, "{transcript}\n{record:#}");
    for attempt in attempts {
        assert_eq!(
            attempt["result"]["outcome"], "Ok",
            "{transcript}\n{attempt:#}"
        );
    }
    let places: Vec<(u64, u64)> = attempts
        .iter()
        .map(|attempt| {
            let number = |key: &str| attempt[key].as_u64().unwrap();
            (number("block"), number("boot"))
        })
        .collect();
    let planned: Vec<(u64, u64)> = (0..2)
        .flat_map(|block| (0..2).map(move |boot| (block, boot)))
        .collect();
    assert_eq!(places, planned, "in the order of the plan");
}

fn a_boot_that_panics_three_times_ends_it() {
    let place = tempfile::tempdir().unwrap();
    let machine = Disked::new(place.path(), PANICS);
    let mut said: Vec<String> = Vec::new();
    // The default boot, from which the boot is asked for; its kernel panics and starts the machine
    // anew by its default entry, and so on.
    for _ in 0..4 {
        said.extend(Running::start(&machine).lines());
        said.push("(QEMU has ended)".to_owned());
    }
    let transcript = said.join("\n");
    let panics = said
        .iter()
        .filter(|line| line.contains("Kernel panic"))
        .count();
    assert_eq!(panics, 3, "{transcript}");
    let ended = [
        "was asked for 3 times and did not come up",
        "it ended: 1",
        "Nothing is left",
    ];
    for words in ended {
        assert!(
            said.iter().any(|line| line.contains(words)),
            "{words}: {transcript}"
        );
    }
    assert!(
        machine.export()["record"]["attempts"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

/// A guest that runs. Dropping it cuts its power.
struct Running {
    child: Child,
}

impl Running {
    fn start(machine: &Disked) -> Self {
        let machine = Machine {
            kernel: machine.kernel.image.clone(),
            initrd: Some(machine.initrd.clone()),
            append: "rdinit=/early rw".to_owned(),
            cpus: 1,
            memory: 512 << 20,
            time: GuestTime::Virtual,
            accelerator: Accelerator::Tcg,
            acpi_tables: Vec::new(),
            disks: vec![Disk {
                image: machine.image.clone(),
            }],
            ports: Ports::Console,
        };
        let child = Command::new(PROGRAM)
            .args([BOUND, &std::process::id().to_string(), "--"])
            .arg(needs::qemu())
            .args(machine.arguments())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let held = PidFd::open(child.id()).unwrap();
        std::thread::spawn(move || {
            if !held.wait_ended(Some(LONGEST)).unwrap_or(true) {
                let _ = held.kill();
            }
        });
        Self { child }
    }

    /// What the console says, until the guest has turned itself off.
    fn lines(&mut self) -> impl Iterator<Item = String> + use<> {
        let console = BufReader::new(self.child.stdout.take().unwrap());
        console
            .split(b'\n')
            .map_while(Result::ok)
            .map(|line| String::from_utf8_lossy(&line).trim_end().to_owned())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A machine with a disk: this program, busybox, a kernel, the experiment.
struct Disked {
    kernel: Kernel,
    initrd: PathBuf,
    image: PathBuf,
}

impl Disked {
    fn new(place: &Path, experiment: &str) -> Self {
        let kernel = needs::kernel_of_the_cache();
        let machine = Self {
            initrd: place.join("initrd.img"),
            image: place.join("disk.img"),
            kernel,
        };
        machine.make_initial_file_system();
        machine.make_disk(&place.join("tree"), experiment);
        machine
    }

    /// What mounts the disk, by way of the drivers.
    fn make_initial_file_system(&self) {
        let busybox = needs::find("busybox").unwrap();
        let mut initramfs = Initramfs::of_program(Path::new(PROGRAM)).unwrap();
        initramfs.add_program(&busybox).unwrap();
        for (place, driver) in DRIVERS.into_iter().enumerate() {
            // What is no module is in the kernel.
            if let Ok(path) = self.kernel.module(driver) {
                let module = fs::read(path).unwrap();
                initramfs.add_content(&format!("/modules/{place}-{driver}.ko"), 0o644, &module);
            }
        }
        let early = format!(
            "#!{busybox} sh\nfor applet in mount insmod switch_root; do\n\
             \x20 {busybox} ln -s {busybox} /$applet\ndone\nexport PATH=/\n\
             {busybox} mkdir /disk\n{EARLY}",
            busybox = busybox.display()
        );
        initramfs.add_content("/early", 0o755, early.as_bytes());
        let mut bytes = Vec::new();
        let mut memory = fs::File::from(initramfs.image().unwrap());
        memory.rewind().unwrap();
        memory.read_to_end(&mut bytes).unwrap();
        fs::write(&self.initrd, bytes).unwrap();
    }

    fn make_disk(&self, tree: &Path, experiment: &str) {
        let directories = ["bin", "dev", "proc", "root", "run", "sys", "tmp", "var/lib"];
        for directory in directories {
            fs::create_dir_all(tree.join(directory)).unwrap();
        }
        install(tree, &needs::find("busybox").unwrap(), "/bin/busybox");
        for applet in APPLETS {
            symlink("busybox", tree.join("bin").join(applet)).unwrap();
        }
        install(tree, Path::new(PROGRAM), "/usr/local/bin/knobstat");
        let put = |path: &str, mode, bytes: &[u8]| write(tree, path, mode, bytes);
        put("/sbin/init", 0o755, format!("#!/bin/sh\n{INIT}").as_bytes());
        put("/experiment.toml", 0o644, experiment.as_bytes());
        put(
            "/etc/machine-id",
            0o644,
            b"0123456789abcdef0123456789abcdef\n",
        );
        let kernel = fs::read(&self.kernel.image).unwrap();
        let release = release_of(&kernel);
        put(&format!("/boot/vmlinuz-{release}"), 0o644, &kernel);
        let initrd = fs::read(&self.initrd).unwrap();
        put(&format!("/boot/initrd.img-{release}"), 0o644, &initrd);
        let config = self.kernel.config.as_deref().unwrap_or_default();
        put(&format!("/boot/config-{release}"), 0o644, config.as_bytes());
        let made = Command::new(needs::mkfs().unwrap())
            .args(["-q", "-F", "-d"])
            .arg(tree)
            .arg(&self.image)
            .arg("512M")
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(made.success());
    }

    /// What the guest exported to its disk.
    fn export(&self) -> serde_json::Value {
        let read = Command::new(needs::mkfs().unwrap().with_file_name("debugfs"))
            .args(["-R", "cat /var/export.json"])
            .arg(&self.image)
            .output()
            .unwrap();
        serde_json::from_slice(&read.stdout).unwrap()
    }
}

/// What the guest's scripts use of busybox.
const APPLETS: [&str; 9] = [
    "sh", "mount", "mkdir", "chown", "chmod", "ls", "sleep", "sync", "true",
];

/// A program at a path, and what its dynamic linker lists at the same paths as here.
fn install(tree: &Path, program: &Path, path: &str) {
    let bytes = fs::read(program).unwrap();
    write(tree, path, 0o755, &bytes);
    for library in libraries_of(program, &bytes).unwrap() {
        let path = library.to_str().unwrap();
        if !tree.join(path.trim_start_matches('/')).exists() {
            write(tree, path, 0o755, &fs::read(&library).unwrap());
        }
    }
}

fn write(tree: &Path, path: &str, mode: u32, bytes: &[u8]) {
    let path = tree.join(path.trim_start_matches('/'));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The release of a kernel, which its image names (Documentation/arch/x86/boot.rst,
/// `kernel_version`).
fn release_of(image: &[u8]) -> String {
    let pointer = usize::from(u16::from_le_bytes([image[0x20e], image[0x20f]]));
    let text = &image[pointer + 0x200..];
    let word = text
        .split(|byte| *byte == b' ' || *byte == 0)
        .next()
        .unwrap();
    String::from_utf8(word.to_owned()).unwrap()
}
