//! A guest: QEMU boots it for each boot of a plan, and its agent is spoken to over a serial line.
//!
//! The settings of a boot are a kernel and words of its command line; whether the guest came up
//! with them is read in the guest. A guest holds no setting beyond its own life, so that its end
//! puts everything back.

mod boots;
mod on_paper;
mod session;

use std::ffi::OsString;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use knobstat_data::experiment::{Accelerator, GuestTime, VirtualMachine};
use knobstat_data::words::Setting;
use rustix::fs::{MemfdFlags, memfd_create};

use super::Watch;
use crate::acpi_tables;
use crate::guest::{self, BootError, Guest, Initramfs, ModuleFile, PackError, Ports};
use crate::kernels::{Cache, KernelError};
use crate::target::{Opened, Target, TargetError};

use boots::Boot;
pub use boots::{Boots, BootsError};
pub use on_paper::VmOnPaper;
use session::{Asked, VmSession};

/// So often the boot that tells what the machine is is tried before the last resort.
const TRIES_TO_DESCRIBE: usize = 2;

/// What guests are made of, besides the experiment's own description of its machine.
pub struct Parts {
    /// This program.
    pub program: PathBuf,
    /// QEMU.
    pub qemu: PathBuf,
    /// The directory that relative paths start at.
    pub directory: PathBuf,
    /// Where kernels are.
    pub cache: Cache,
    /// Programs of the host that the workload starts, by their whole paths.
    pub programs: Vec<PathBuf>,
    /// Settings that every boot has.
    pub fixed: Vec<Setting>,
    /// The names of the knobs of the experiment that are decided at boot.
    pub at_boot: Vec<String>,
    /// The first level of each factor that needs a boot: the boot that tells what the machine is.
    pub first: Vec<Setting>,
}

/// A machine that QEMU boots anew for each boot.
pub struct VmTarget<W> {
    program: PathBuf,
    qemu: PathBuf,
    machine: VirtualMachine,
    boots: Boots,
    fixed: Vec<Setting>,
    at_boot: Vec<String>,
    first: Vec<Setting>,
    initramfs: OwnedFd,
    acpi_tables: Vec<Table>,
    watch: Rc<W>,
    /// How long the last boot took.
    took: Option<Duration>,
}

/// An ACPI table: a file, or one of the program's own in memory.
enum Table {
    File(PathBuf),
    Memory(OwnedFd),
}

impl Table {
    fn path(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Memory(table) => descriptor_path(table),
        }
    }
}

/// Where a process that inherits a descriptor finds what it is of.
fn descriptor_path(descriptor: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/dev/fd/{}", descriptor.as_raw_fd()))
}

impl<W: Watch + 'static> VmTarget<W> {
    /// A machine that has not been booted yet. Packs what its guests are given.
    ///
    /// # Errors
    /// When a kernel, a table, a module or a file cannot be had.
    pub fn new(machine: VirtualMachine, parts: Parts, watch: Rc<W>) -> Result<Self, VmError> {
        let boots = Boots::new(&machine, parts.directory.clone(), parts.cache)?;
        let mut initramfs = Initramfs::of_program(&parts.program)?;
        for program in &parts.programs {
            initramfs.add_program(program)?;
        }
        for file in &machine.files {
            initramfs.add_file(&parts.directory.join(file))?;
        }
        for module in &machine.modules {
            initramfs.add_module(&ModuleFile(boots.module(module)?))?;
        }
        let acpi_tables = machine
            .acpi_tables
            .iter()
            .map(|table| match acpi_tables::shipped(table) {
                Some(shipped) => in_memory("knobstat-acpi", shipped.bytes).map(Table::Memory),
                None => Ok(Table::File(parts.directory.join(table))),
            })
            .collect::<std::io::Result<_>>()
            .map_err(BootError::from)?;
        Ok(Self {
            program: parts.program,
            qemu: parts.qemu,
            boots,
            fixed: parts.fixed,
            at_boot: parts.at_boot,
            first: parts.first,
            initramfs: initramfs.image().map_err(BootError::from)?,
            acpi_tables,
            machine,
            watch,
            took: None,
        })
    }

    /// QEMU, and its arguments for a guest whose console is at standard input and output and that
    /// does what these words of its command line ask for. It inherits what this target holds in
    /// memory.
    ///
    /// # Errors
    /// When the machine's own settings cannot be booted.
    pub fn at_the_console(&self, words: &str) -> Result<(PathBuf, Vec<OsString>), BootsError> {
        let mut machine = self.machine(self.boots.of(&self.fixed)?, Ports::Console);
        machine.append.push(' ');
        machine.append.push_str(words);
        Ok((self.qemu.clone(), machine.arguments()))
    }

    fn machine(&self, boot: Boot, ports: Ports) -> guest::Machine {
        guest::Machine {
            kernel: boot.kernel,
            initrd: Some(descriptor_path(&self.initramfs)),
            append: boot.append,
            cpus: self.machine.cpus,
            memory: self.machine.memory.0,
            time: match self.machine.time {
                GuestTime::Virtual => guest::GuestTime::Virtual,
                GuestTime::Wall => guest::GuestTime::Wall,
            },
            accelerator: match self.machine.accelerator {
                Accelerator::Tcg => guest::Accelerator::Tcg,
                Accelerator::Kvm => guest::Accelerator::Kvm,
            },
            acpi_tables: self.acpi_tables.iter().map(Table::path).collect(),
            disks: Vec::new(),
            ports,
        }
    }

    fn boot(&mut self, settings: &[Setting]) -> Result<VmSession<W>, TargetError> {
        let held = self.fixed.iter().filter(|held| !settings.contains(held));
        let settings: Vec<Setting> = held.chain(settings).cloned().collect();
        let boot = self
            .boots
            .of(&settings)
            .map_err(|error| TargetError::Unreachable {
                cause: format!("the guest cannot be booted so: {error}"),
                remedy: "leave that level out".to_owned(),
            })?;
        let machine = self.machine(boot, Ports::Frames);
        let begun = Instant::now();
        let booted = Guest::boot(
            &self.program,
            &self.qemu,
            &machine,
            self.machine.boot_timeout,
            Some(self.watch.descriptor()),
        );
        self.took = Some(begun.elapsed());
        let guest = booted.map_err(|error| self.unreachable(error))?;
        let asked = Asked {
            settings,
            at_boot: self.at_boot.clone(),
            varies: self
                .first
                .iter()
                .map(|first| first.factor.clone())
                .collect(),
            boots: self.boots.clone(),
            machine: self.machine.clone(),
        };
        Ok(VmSession::new(guest, Rc::clone(&self.watch), asked))
    }

    fn unreachable(&self, error: BootError) -> TargetError {
        match error {
            BootError::Interrupted => {
                self.watch.take();
                TargetError::Interrupted
            }
            BootError::Ended { .. } | BootError::Deadline { .. } => {
                let remedy = match self.machine.accelerator {
                    Accelerator::Kvm => "; leave `accelerator` out where KVM does not work",
                    Accelerator::Tcg => "",
                };
                TargetError::Boot(format!("{error}{remedy}"))
            }
            BootError::NoQemu | BootError::CommandLine(_) | BootError::Host(_) => {
                TargetError::Setup(error.to_string())
            }
        }
    }
}

impl<W: Watch + 'static> Target for VmTarget<W> {
    fn open(&mut self, boot: &[Setting]) -> Result<Opened, TargetError> {
        if !boot.is_empty() {
            let session = self.boot(boot)?;
            return Ok(Opened::Session(Box::new(session)));
        }
        // What the machine can take is asked of a boot with the first level of each factor; where
        // that one does not come up, of one without any.
        let first = self.first.clone();
        let tries = std::iter::repeat_n(first.as_slice(), TRIES_TO_DESCRIBE);
        for settings in tries {
            match self.boot(settings) {
                Err(TargetError::Boot(_)) => {}
                result => {
                    return result.map(|session| Opened::Session(Box::new(session) as Box<_>));
                }
            }
        }
        let session = self.boot(&[])?;
        Ok(Opened::Session(Box::new(session)))
    }

    fn boot_takes(&self) -> Option<Duration> {
        self.took
    }
}

/// Why there is no guest to be booted.
#[derive(Debug, thiserror::Error)]
pub enum VmError {
    /// QEMU or something of the host.
    #[error(transparent)]
    Host(#[from] BootError),
    /// A kernel or a module.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A kernel that a path names.
    #[error(transparent)]
    Boots(#[from] BootsError),
    /// A file of the host.
    #[error(transparent)]
    Pack(#[from] PackError),
}

/// Bytes as a file in memory that a child inherits.
fn in_memory(name: &str, bytes: &[u8]) -> std::io::Result<OwnedFd> {
    let mut file = std::fs::File::from(memfd_create(name, MemfdFlags::empty())?);
    file.write_all(bytes)?;
    Ok(file.into())
}
