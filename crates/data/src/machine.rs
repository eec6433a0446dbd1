//! A machine, as far as it could be told apart from others and judged fit for measuring.

use serde::{Deserialize, Serialize};

use crate::experiment::{Accelerator, GuestTime};

/// A machine's fingerprint: what a reader of a report needs to know of it. Every field is
/// optional because kernels, vendors and containers differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// A stable identity: a hash of the machine's own id, or of its host name.
    pub id: String,
    /// The host name.
    pub host: Option<String>,
    /// The processor's name.
    pub cpu: Option<String>,
    /// The processor's vendor.
    pub vendor: Option<String>,
    /// Logical CPUs online, as a list.
    pub cpus_online: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The hardware architecture.
    pub architecture: Option<String>,
    /// The kernel's command line.
    pub command_line: Option<String>,
    /// CONFIG_HZ, where the kernel tells.
    pub hz: Option<u32>,
    /// The clock source in force.
    pub clock_source: Option<String>,
    /// The clock sources that can be chosen.
    pub clock_sources: Vec<String>,
    /// The frequency governor of the first policy.
    pub governor: Option<String>,
    /// The hypervisor or container, where there is one.
    pub virtualization: Option<String>,
    /// What kind of guest it is, where it was booted for the experiment.
    pub guest: Option<GuestMachine>,
    /// Memory in bytes.
    pub memory: Option<u64>,
    /// The boot's own id.
    pub boot_id: Option<String>,
    /// The stopwatch that timed the runs, in words.
    pub stopwatch: Option<String>,
    /// Whether the agent had root.
    pub root: bool,
    /// Whether the settings were those of a laid-out tree and not of the machine itself.
    pub laid_out: bool,
    /// The version of the program that did the measuring.
    pub program_version: String,
    /// The user whom the workload ran as.
    pub workload_user: Option<String>,
    /// Who else turned knobs on it when the experiment began: running daemons by name.
    pub other_owners: Vec<String>,
    /// How much of the time tasks of a real-time priority may take, in percent, where the kernel
    /// stops them for the rest (kernel.sched_rt_runtime_us).
    pub real_time_percent: Option<u8>,
}

/// A guest that was booted for an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestMachine {
    /// What its time followed.
    pub time: GuestTime,
    /// What executed its instructions.
    pub accelerator: Accelerator,
}

/// What [`Machine::virtualization`] of a simulated machine begins with.
const SIMULATED: &str = "simulated: ";

impl Machine {
    /// What [`Machine::virtualization`] says of a simulated machine, so that every report and
    /// every export shows that it was one.
    pub fn simulated_as(model: &str) -> String {
        format!("{SIMULATED}{model}")
    }

    /// What it is a model of, where it is a simulated machine.
    pub fn simulated(&self) -> Option<&str> {
        self.virtualization.as_deref()?.strip_prefix(SIMULATED)
    }
}
