//! A boot of Debian's kernel that runs a script, with this program and busybox in it.

use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use knobstat_lab::acpi_tables;
use knobstat_lab::guest::{Accelerator, BOUND, Disk, GuestTime, Initramfs, Machine, Ports};
use knobstat_sys::pidfd::PidFd;

use crate::needs;
use crate::transcript::Transcript;

/// A guest that has not come to its end by then is ended: something in it waits for ever. On a quiet
/// machine it takes a minute at the most.
const LONGEST: Duration = Duration::from_secs(3600);

/// What every script begins with.
const BEGINNING: &str = include_str!("scripts/begin.sh");

/// The program that is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_knobstat");

/// A guest to be.
pub struct Boot {
    /// What it does.
    pub script: &'static str,
    /// Two processors of one core, and time that follows the host's; else one, and time that
    /// follows instructions.
    pub siblings: bool,
    /// What else its kernel is told.
    pub kernel_parameters: &'static str,
    /// An ACPI table that comes with the program.
    pub acpi_table: Option<&'static str>,
    /// Files of the host below /test in the guest, by the names of their files.
    pub files: Vec<PathBuf>,
    /// Its disk.
    pub disk: Option<PathBuf>,
}

/// A guest that runs. Dropping it ends it.
pub struct Running {
    /// QEMU; its standard output is the console.
    pub child: Child,
    _held: Vec<OwnedFd>,
    _table: Option<tempfile::NamedTempFile>,
}

impl Running {
    /// Cuts the power.
    pub fn cut(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Boot {
    /// Boots it, and waits until it has turned itself off.
    pub fn to_the_end(&self) -> Transcript {
        let mut running = self.start();
        let mut said = Vec::new();
        let console = running.child.stdout.as_mut().unwrap();
        console.read_to_end(&mut said).unwrap();
        running.child.wait().unwrap();
        Transcript::new(&String::from_utf8_lossy(&said))
    }

    /// Boots it.
    pub fn start(&self) -> Running {
        let table = self.acpi_table.map(|name| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), acpi_tables::shipped(name).unwrap().bytes).unwrap();
            file
        });
        let initramfs = self.initramfs();
        let machine = Machine {
            kernel: needs::kernel().unwrap().image,
            initrd: Some(format!("/dev/fd/{}", initramfs.as_raw_fd()).into()),
            // Nothing of the kernel's own stands between what the script says. Emulated processors
            // do not agree on their counters, which the kernel would find out in the midst of it.
            append: format!(
                "rdinit=/test/begin loglevel=0{} {}",
                if self.siblings { " tsc=unstable" } else { "" },
                self.kernel_parameters,
            ),
            cpus: if self.siblings { 2 } else { 1 },
            memory: 256 << 20,
            time: if self.siblings {
                GuestTime::Wall
            } else {
                GuestTime::Virtual
            },
            accelerator: Accelerator::Tcg,
            acpi_tables: table.iter().map(|table| table.path().to_owned()).collect(),
            disks: self.disk.iter().map(|image| disk(image)).collect(),
            ports: Ports::Console,
        };
        let mut command = Command::new(PROGRAM);
        command
            .args([BOUND, &std::process::id().to_string(), "--"])
            .arg(needs::qemu())
            .args(machine.arguments())
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        if self.siblings {
            // Only a processor of this maker has two threads a core here. The last word counts.
            command.args(["-smp", "threads=2"]);
            command.args(["-cpu", "max,family=6,model=6,vendor=GenuineIntel"]);
        }
        let child = command.spawn().unwrap();
        end_late(&child);
        Running {
            child,
            _held: vec![initramfs],
            _table: table,
        }
    }

    fn initramfs(&self) -> OwnedFd {
        let busybox = needs::find("busybox").unwrap();
        let mut initramfs = Initramfs::of_program(Path::new(PROGRAM)).unwrap();
        initramfs.add_program(&busybox).unwrap();
        for file in &self.files {
            let name = file.file_name().unwrap().to_str().unwrap();
            let bytes = std::fs::read(file).unwrap();
            initramfs.add_content(&format!("/test/{name}"), 0o755, &bytes);
        }
        let begin = format!(
            "#!{busybox} sh\nBUSYBOX={busybox}\n{BEGINNING}",
            busybox = busybox.display()
        );
        initramfs.add_content("/test/begin", 0o755, begin.as_bytes());
        initramfs.add_content("/test/script", 0o755, self.script.as_bytes());
        initramfs.image().unwrap()
    }
}

fn disk(image: &Path) -> Disk {
    Disk {
        image: image.to_owned(),
    }
}

/// Ends a guest that does not end.
pub fn end_late(child: &Child) {
    let held = PidFd::open(child.id()).unwrap();
    std::thread::spawn(move || {
        if !held.wait_ended(Some(LONGEST)).unwrap_or(true) {
            let _ = held.kill();
        }
    });
}
