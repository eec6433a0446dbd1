//! The command line of QEMU for a guest: which machine, which time, which ports.
//!
//! Builds a command and starts nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The program.
pub const QEMU: &str = "qemu-system-x86_64";

/// The kernel reads no more of a command line than this (COMMAND_LINE_SIZE of x86).
pub const LONGEST_COMMAND_LINE: usize = 2048;

/// What every guest's kernel is told: where its console is, to end instead of staying where it
/// panicked, and to believe the timers of an emulator whatever the host's load made of them.
const ALWAYS: &str = "console=ttyS0 quiet panic=-1 no_timer_check tsc=reliable";

/// What executes the guest's instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accelerator {
    /// QEMU itself, anywhere.
    #[default]
    Tcg,
    /// The processor, where the host lets it.
    Kvm,
}

/// What the guest's time follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GuestTime {
    /// The instructions that the guest executes: the same on any host, however loaded.
    #[default]
    Virtual,
    /// The host's time.
    Wall,
}

/// A disk of the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// The image: a raw file.
    pub image: PathBuf,
}

/// Where the guest's serial ports lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ports {
    /// Standard output is the console, and standard input is a socket that carries the second
    /// port both ways.
    Frames,
    /// Standard input and output are the console.
    Console,
}

/// A guest's machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The kernel's image.
    pub kernel: PathBuf,
    /// The initramfs.
    pub initrd: Option<PathBuf>,
    /// What the kernel is told besides what every guest's is.
    pub append: String,
    /// Logical CPUs.
    pub cpus: u32,
    /// Memory in bytes.
    pub memory: u64,
    /// What its time follows.
    pub time: GuestTime,
    /// What executes its instructions.
    pub accelerator: Accelerator,
    /// ACPI tables besides the machine's own.
    pub acpi_tables: Vec<PathBuf>,
    /// Its disks, in order: /dev/vda first.
    pub disks: Vec<Disk>,
    /// Its serial ports.
    pub ports: Ports,
}

impl Machine {
    /// The kernel's whole command line.
    pub fn command_line(&self) -> String {
        let mut line = ALWAYS.to_owned();
        if self.time == GuestTime::Virtual {
            // Time that follows instructions makes the counter's rate constant by construction.
            line.push_str(" knobstat.counter=vouched");
        }
        let append = self.append.trim();
        if !append.is_empty() {
            line.push(' ');
            line.push_str(append);
        }
        line
    }

    /// The arguments of QEMU.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut add = |words: &[&str]| arguments.extend(words.iter().map(OsString::from));
        // Nothing but what is asked for; no files of the user or the system decide anything.
        add(&["-nodefaults", "-no-user-config", "-no-reboot"]);
        add(&["-display", "none", "-monitor", "none"]);
        add(&["-machine", "q35"]);
        match self.accelerator {
            Accelerator::Tcg => add(&["-accel", "tcg"]),
            Accelerator::Kvm => add(&["-accel", "kvm"]),
        }
        // The ACPI processor driver and acpi-cpufreq bind to a processor of a kind that had them.
        match (self.accelerator, self.acpi_tables.is_empty()) {
            (Accelerator::Kvm, _) => add(&["-cpu", "host"]),
            (Accelerator::Tcg, true) => add(&["-cpu", "max"]),
            (Accelerator::Tcg, false) => add(&["-cpu", "max,family=6,model=6"]),
        }
        add(&["-smp", &self.cpus.to_string()]);
        add(&["-m", &format!("{}k", self.memory.div_ceil(1024))]);
        if self.time == GuestTime::Virtual {
            add(&["-icount", "shift=1,sleep=off"]);
        }
        match self.ports {
            Ports::Frames => {
                add(&["-chardev", "file,id=console,path=/dev/fd/1"]);
                add(&["-serial", "chardev:console"]);
                add(&["-chardev", "socket,id=frames,fd=0"]);
                add(&["-serial", "chardev:frames"]);
            }
            Ports::Console => {
                add(&["-chardev", "stdio,id=console,signal=off"]);
                add(&["-serial", "chardev:console", "-serial", "null"]);
            }
        }
        for table in &self.acpi_tables {
            arguments.push("-acpitable".into());
            arguments.push(with_path("file=", table));
        }
        for disk in &self.disks {
            arguments.push("-drive".into());
            arguments.push(with_path("if=virtio,format=raw,file=", &disk.image));
        }
        arguments.push("-kernel".into());
        arguments.push(self.kernel.clone().into());
        if let Some(initrd) = &self.initrd {
            arguments.push("-initrd".into());
            arguments.push(initrd.clone().into());
        }
        arguments.push("-append".into());
        arguments.push(self.command_line().into());
        arguments
    }
}

/// An option that ends in a path; a comma in it is doubled, as QEMU wants it.
fn with_path(option: &str, path: &Path) -> OsString {
    match path.to_str() {
        Some(path) => format!("{option}{}", path.replace(',', ",,")).into(),
        None => {
            let mut option = OsString::from(option);
            option.push(path);
            option
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine {
            kernel: "/k/bzImage".into(),
            initrd: Some("/dev/fd/7".into()),
            append: " nohz=off ".to_owned(),
            cpus: 2,
            memory: 256 << 20,
            time: GuestTime::Virtual,
            accelerator: Accelerator::Tcg,
            acpi_tables: Vec::new(),
            disks: Vec::new(),
            ports: Ports::Frames,
        }
    }

    fn words(machine: &Machine) -> String {
        let arguments = machine.arguments();
        let words: Vec<_> = arguments
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        words.join(" ")
    }

    #[test]
    fn virtual_time_follows_instructions_and_its_counter_is_vouched_for() {
        let machine = machine();
        let words = words(&machine);
        assert!(words.contains("-icount shift=1,sleep=off"), "{words}");
        assert!(words.contains("-smp 2 -m 262144k"), "{words}");
        assert!(
            words.ends_with(
                "-kernel /k/bzImage -initrd /dev/fd/7 -append console=ttyS0 quiet panic=-1 no_timer_check tsc=reliable knobstat.counter=vouched nohz=off"
            ),
            "{words}"
        );
    }

    #[test]
    fn wall_time_vouches_for_nothing() {
        let machine = Machine {
            time: GuestTime::Wall,
            accelerator: Accelerator::Kvm,
            append: String::new(),
            ..machine()
        };
        let words = words(&machine);
        assert!(
            !words.contains("icount") && !words.contains("vouched"),
            "{words}"
        );
        assert!(words.contains("-accel kvm -cpu host"), "{words}");
    }

    #[test]
    fn a_comma_in_a_path_is_no_separator() {
        let machine = Machine {
            acpi_tables: vec!["/tables/a,b.aml".into()],
            disks: vec![Disk {
                image: "/disk,1".into(),
            }],
            ..machine()
        };
        let words = words(&machine);
        assert!(
            words.contains("-acpitable file=/tables/a,,b.aml"),
            "{words}"
        );
        assert!(words.contains("file=/disk,,1"), "{words}");
        assert!(words.contains("family=6,model=6"), "{words}");
    }
}
