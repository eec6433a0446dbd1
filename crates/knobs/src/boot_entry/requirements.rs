//! What the settings of a boot require of it: a kernel, and words of its command line.

use knobstat_data::words::Setting;
use knobstat_sys::root::Root;
use serde::{Deserialize, Serialize};

use super::command_line::CommandLine;
use super::error::BootError;
use super::kernels::{Kernel, installed};
use crate::catalogue::{Fact, Mechanism};
use crate::knob::Knob;
use crate::special::kernel_fact::{ABSENT, BASE, NOTHING, PRESENT};

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
    let mut release = base.release.clone();
    let mut line = CommandLine::parse(&base.command_line);
    let mut keeps_panic = false;
    // The kernel first: a tick rate is looked for in the one that is asked for.
    let mut facts = Vec::new();
    for setting in settings {
        facts.push((fact_of(setting)?, setting));
    }
    for (fact, setting) in &facts {
        if *fact == Fact::Release && setting.level.to_string() != BASE {
            release = setting.level.to_string();
        }
    }
    for (fact, setting) in &facts {
        let level = setting.level.to_string();
        match fact {
            Fact::Release => {}
            Fact::Hz => release = of_tick_rate(root, &release, &level)?,
            Fact::StopsIdleTick => line.set("nohz", Some(&level))?,
            Fact::KeepsIdleTick => {
                let stops = if level == "on" { "off" } else { "on" };
                line.set("nohz", Some(stops))?;
            }
            Fact::CommandLine(name) => {
                keeps_panic |= name == "panic";
                match level.as_str() {
                    ABSENT => line.remove(name),
                    PRESENT => line.set(name, None)?,
                    value => line.set(name, Some(value))?,
                }
            }
            Fact::File {
                parameter: Some(name),
                ..
            } => match level.as_str() {
                NOTHING => line.remove(name),
                value => line.set(name, Some(value))?,
            },
            Fact::File {
                parameter: None, ..
            } => return Err(BootError::NoWord(setting.to_string())),
        }
    }
    let kernel = Kernel::of_release(root, &release).ok_or(BootError::NoKernel(release))?;
    Ok(Entry {
        kernel,
        line,
        keeps_panic,
    })
}

/// What of a kernel a setting is.
fn fact_of(setting: &Setting) -> Result<Fact, BootError> {
    let knob = Knob::find(&setting.factor, &[]);
    match knob
        .as_ref()
        .and_then(Knob::entry)
        .map(|entry| &entry.mechanism)
    {
        Some(Mechanism::KernelFact { fact }) => Ok(fact.clone()),
        _ => Err(BootError::NoWord(setting.to_string())),
    }
}

/// A kernel of a tick rate: the one that is wanted anyway where it has it.
fn of_tick_rate(root: &Root, release: &str, hz: &str) -> Result<String, BootError> {
    let wanted = Kernel::of_release(root, release);
    wanted
        .into_iter()
        .chain(installed(root))
        .find(|kernel| kernel.hz(root).as_deref() == Some(hz))
        .map(|kernel| kernel.release)
        .ok_or_else(|| BootError::NoTickRate(hz.to_owned()))
}
