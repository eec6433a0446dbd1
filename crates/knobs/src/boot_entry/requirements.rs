//! What the settings of a boot require of it: a kernel, and words of its command line.

use knobstat_data::words::Setting;
use knobstat_sys::root::Root;
use serde::{Deserialize, Serialize};

use super::command_line::CommandLine;
use super::error::BootError;
use super::kernels::{Kernel, installed};
use crate::boot_change::{BootChange, boot_change};

/// How a machine boots by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The release of its kernel.
    pub release: String,
    /// Its command line, without what its loader adds.
    pub command_line: String,
}

/// What is to be booted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The kernel.
    pub kernel: Kernel,
    /// Its command line.
    pub line: CommandLine,
    /// Whether the settings say themselves what a panic does.
    pub keeps_panic: bool,
}

/// What is to be booted for settings, beside what the machine boots by itself.
///
/// # Errors
/// The first setting that no boot of an installed kernel brings about.
pub fn entry(root: &Root, base: &Base, settings: &[Setting]) -> Result<Entry, BootError> {
    let changes: Vec<BootChange> = settings
        .iter()
        .map(|setting| boot_change(setting).map_err(BootError::NotOfABoot))
        .collect::<Result<_, _>>()?;
    // The kernel first: a tick rate is looked for in the one that is asked for.
    let named = changes.iter().find_map(|change| match change {
        BootChange::Kernel(release) => Some(release.clone()),
        _ => None,
    });
    let mut release = named.unwrap_or_else(|| base.release.clone());
    let mut line = CommandLine::parse(&base.command_line);
    let mut keeps_panic = false;
    for change in &changes {
        match change {
            BootChange::Kernel(_) | BootChange::BaseKernel => {}
            BootChange::TickRate(hz) => release = of_tick_rate(root, &release, *hz)?,
            BootChange::Word { name, value } => {
                keeps_panic |= name == "panic";
                line.set(name, value.as_deref())?;
            }
            BootChange::NoWord { name } => {
                keeps_panic |= name == "panic";
                line.remove(name);
            }
        }
    }
    let kernel = Kernel::of_release(root, &release).ok_or(BootError::NoKernel(release))?;
    Ok(Entry {
        kernel,
        line,
        keeps_panic,
    })
}

/// A kernel of a tick rate: the one that is wanted anyway where it has it.
fn of_tick_rate(root: &Root, release: &str, hz: u32) -> Result<String, BootError> {
    let wanted = Kernel::of_release(root, release);
    wanted
        .into_iter()
        .chain(installed(root))
        .find(|kernel| kernel.hz(root) == Some(hz))
        .map(|kernel| kernel.release)
        .ok_or(BootError::NoTickRate(hz))
}
