//! The virtual machine that an experiment asks for.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::words::Bytes;

/// A guest that is booted for the experiment: each boot of the plan is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VirtualMachine {
    /// A kernel: the path of its image, or its name in the cache; the newest of the cache where
    /// the file does not say.
    pub kernel: Option<String>,
    /// Logical CPUs.
    pub cpus: u32,
    /// Memory.
    pub memory: Bytes,
    /// What its time follows.
    pub time: GuestTime,
    /// What executes its instructions.
    pub accelerator: Accelerator,
    /// ACPI tables besides the machine's own: paths of compiled ones, or names of those that come
    /// with the program.
    pub acpi_tables: Vec<String>,
    /// Words for the kernel's command line in every boot.
    pub append: String,
    /// Files of the host that the guest gets, at the same paths.
    pub files: Vec<String>,
    /// Kernel modules, loaded in this order: paths, or names of modules of the kernel.
    pub modules: Vec<String>,
    /// A boot that has not answered for so long has failed.
    pub boot_timeout: Duration,
}

impl Default for VirtualMachine {
    fn default() -> Self {
        Self {
            kernel: None,
            cpus: 1,
            memory: Bytes(512 << 20),
            time: GuestTime::Virtual,
            accelerator: Accelerator::Tcg,
            acpi_tables: Vec::new(),
            append: String::new(),
            files: Vec::new(),
            modules: Vec::new(),
            boot_timeout: Duration::from_secs(120),
        }
    }
}

/// What the time of a guest follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestTime {
    /// The instructions that it executes.
    Virtual,
    /// The host's time.
    Wall,
}

impl GuestTime {
    /// The word for it in a file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Virtual => "virtual",
            Self::Wall => "wall",
        }
    }
}

/// What executes the instructions of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accelerator {
    /// QEMU's own emulation, which works anywhere.
    Tcg,
    /// The processor, through the host's KVM.
    Kvm,
}

impl Accelerator {
    /// The word for it in a file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tcg => "tcg",
            Self::Kvm => "kvm",
        }
    }
}
