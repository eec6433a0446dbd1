//! A guest: QEMU boots it for each boot of a plan, and its agent is spoken to over a serial line.
//!
//! The settings of a boot are a kernel and words of its command line; whether the guest came up
//! with them is read in the guest. A guest holds no setting beyond its own life, so that its end
//! puts everything back.

mod boots;
mod on_paper;
mod session;

use std::collections::BTreeMap;
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
use crate::kernels::Cache;
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
    /// The levels of the factors that need a boot, for each boot that the experiment wants, in the
    /// order of its treatments.
    pub wanted: Vec<Vec<Setting>>,
}

/// A machine that QEMU boots anew for each boot.
pub struct VmTarget<W> {
    program: PathBuf,
    qemu: PathBuf,
    machine: VirtualMachine,
    boots: Boots,
    fixed: Vec<Setting>,
    at_boot: Vec<String>,
    /// The boot that tells what the machine is.
    first: Vec<Setting>,
    initramfs: Initramfs,
    /// What was packed of it, by the modules that are loaded.
    images: BTreeMap<Vec<PathBuf>, OwnedFd>,
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
    /// When a kernel, a table, a module or a file cannot be had, or none of the boots that are
    /// wanted.
    pub fn new(machine: VirtualMachine, parts: Parts, watch: Rc<W>) -> Result<Self, VmError> {
        let boots = Boots::new(&machine, parts.directory.clone(), parts.cache)?;
        let (first, boot) = first_of(&boots, &parts.fixed, &parts.wanted)?;
        let mut initramfs = Initramfs::of_program(&parts.program)?;
        for program in &parts.programs {
            initramfs.add_program(program)?;
        }
        for file in &machine.files {
            initramfs.add_file(&parts.directory.join(file))?;
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
        let mut target = Self {
            program: parts.program,
            qemu: parts.qemu,
            boots,
            fixed: parts.fixed,
            at_boot: parts.at_boot,
            first,
            initramfs,
            images: BTreeMap::new(),
            acpi_tables,
            machine,
            watch,
            took: None,
        };
        // A file that cannot be read is told of before anything is booted.
        target.image(&boot.modules)?;
        Ok(target)
    }

    /// QEMU, and its arguments for a guest whose console is at standard input and output and that
    /// does what these words of its command line ask for. It inherits what this target holds in
    /// memory.
    ///
    /// # Errors
    /// When the machine's own settings cannot be booted.
    pub fn at_the_console(&mut self, words: &str) -> Result<(PathBuf, Vec<OsString>), VmError> {
        let boot = self.boots.of(&self.fixed)?;
        let mut machine = self.machine(boot, Ports::Console)?;
        machine.append.push(' ');
        machine.append.push_str(words);
        Ok((self.qemu.clone(), machine.arguments()))
    }

    fn machine(&mut self, boot: Boot, ports: Ports) -> Result<guest::Machine, VmError> {
        Ok(guest::Machine {
            initrd: Some(self.image(&boot.modules)?),
            kernel: boot.kernel,
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
        })
    }

    /// Where a child of this process finds the initramfs with these modules.
    fn image(&mut self, modules: &[PathBuf]) -> Result<PathBuf, VmError> {
        if let Some(image) = self.images.get(modules) {
            return Ok(descriptor_path(image));
        }
        let mut initramfs = self.initramfs.clone();
        for module in modules {
            initramfs.add_module(&ModuleFile(module.clone()))?;
        }
        let image = initramfs.image().map_err(BootError::from)?;
        let path = descriptor_path(&image);
        self.images.insert(modules.to_vec(), image);
        Ok(path)
    }

    fn boot(&mut self, settings: &[Setting]) -> Result<VmSession<W>, TargetError> {
        let held = self.fixed.iter().filter(|held| !settings.contains(held));
        let settings: Vec<Setting> = held.chain(settings).cloned().collect();
        let cannot = |error: VmError| TargetError::Boot(format!("it cannot be booted so: {error}"));
        let boot = self
            .boots
            .of(&settings)
            .map_err(|error| cannot(error.into()))?;
        let machine = self.machine(boot, Ports::Frames).map_err(cannot)?;
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
        // What the machine can take is asked of the first boot that is wanted; where that one does
        // not come up, of one without any of the levels.
        let first = self.first.clone();
        let mut tries = vec![first.as_slice(); TRIES_TO_DESCRIBE];
        if self.boots.of(&self.fixed).is_ok() {
            tries.push(&[]);
        }
        let mut why_not = String::new();
        for settings in tries {
            match self.boot(settings) {
                Err(TargetError::Boot(reason)) => why_not = reason,
                result => {
                    return result.map(|session| Opened::Session(Box::new(session) as Box<_>));
                }
            }
        }
        Err(TargetError::Boot(format!(
            "{why_not}; `knobstat vm shell` opens a guest for a look"
        )))
    }

    fn boot_takes(&self) -> Option<Duration> {
        self.took
    }

    fn cannot_boot(&self, settings: &[Setting]) -> Option<String> {
        self.boots.cannot(settings)
    }
}

/// The first of the boots that are wanted that there is, and what is booted for it.
fn first_of(
    boots: &Boots,
    fixed: &[Setting],
    wanted: &[Vec<Setting>],
) -> Result<(Vec<Setting>, Boot), BootsError> {
    let mut why_not = None;
    for settings in wanted {
        match boots.of(&[fixed, settings].concat()) {
            Ok(boot) => return Ok((settings.clone(), boot)),
            Err(error) => why_not = why_not.or(Some(error)),
        }
    }
    match why_not {
        Some(error) => Err(error),
        None => Ok((Vec::new(), boots.of(fixed)?)),
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
