//! What is said of boots: that the machine may be rebooted, into which boot, and how the
//! experiment goes on when it is up again.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::words::{ExperimentId, Setting};

/// What boots a machine once in another way than it boots by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BootLoader {
    /// GRUB, by `next_entry` of its environment.
    Grub,
    /// systemd-boot, by the variable LoaderEntryOneShot of the firmware.
    SystemdBoot,
    /// The running kernel, which starts another (kexec).
    Kexec,
}

impl BootLoader {
    /// Every one, the one to try first at the beginning. systemd-boot tells that it booted the
    /// machine, where GRUB's files may be left over; a boot through the firmware leaves less of the
    /// boot before behind than one by kexec.
    pub const ALL: [Self; 3] = [Self::SystemdBoot, Self::Grub, Self::Kexec];
}

impl fmt::Display for BootLoader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Grub => "grub",
            Self::SystemdBoot => "systemd-boot",
            Self::Kexec => "kexec",
        })
    }
}

/// The consent to reboot the machine for settings that need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MayReboot {
    /// By what; absent: by the first that can.
    pub by: Option<BootLoader>,
}

/// The place of a boot in the plan of its experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootName {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The index of the block.
    pub block: usize,
    /// The index of the boot within the block.
    pub boot: usize,
}

/// A boot that the machine is to be in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boot {
    /// Which it is.
    pub name: BootName,
    /// The settings that it is to have.
    pub settings: Vec<Setting>,
    /// By what the machine may be rebooted.
    pub may: MayReboot,
    /// How the experiment goes on then.
    pub resume: Resume,
}

/// How the program is started again when the machine is up: as it was started first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// The words after the program's name.
    pub arguments: Vec<String>,
    /// The working directory.
    pub directory: String,
    /// The environment; what is no text is left out.
    pub environment: Vec<(String, String)>,
}
