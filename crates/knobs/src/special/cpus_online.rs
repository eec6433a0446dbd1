//! The CPUs that are online: a list, each CPU with a switch of its own but those that have none.
//!
//! (The kernel's documentation: core-api/cpu_hotplug.rst.)

use std::collections::BTreeSet;

use knobstat_data::{CpuList, Level};

use crate::availability::Unavailable;
use crate::catalogue::Entry;
use crate::files::Files;
use crate::knob::{Plan, Write};
use crate::pattern::{expand, numbers};
use crate::special::written::missing;
use crate::value::Form;

const CPUS: &str = "/sys/devices/system/cpu";

/// One CPU that the machine has.
struct Cpu {
    number: u32,
    /// Its switch; the boot CPU of most machines has none.
    switch: Option<String>,
    online: bool,
}

/// The list of CPUs that are online.
///
/// # Errors
/// When no CPU has a switch.
pub fn read(files: &dyn Files, entry: &Entry) -> Result<Level, Unavailable> {
    let online: Vec<String> = cpus(files, entry)?
        .iter()
        .filter(|cpu| cpu.online)
        .map(|cpu| cpu.number.to_string())
        .collect();
    let list = online.join(",");
    Ok(Level::text(
        list.parse::<CpuList>()
            .map_or(list, |list| list.to_string()),
    ))
}

/// What has to be written for a list.
///
/// # Errors
/// When it is no list, names a CPU that is not there, or leaves one out that has no switch.
pub fn plan(
    files: &dyn Files,
    entry: &Entry,
    side_effects: &[String],
    level: &str,
) -> Result<Plan, Unavailable> {
    let cpus = cpus(files, entry)?;
    let Ok(list) = level.parse::<CpuList>() else {
        return Err(Unavailable::without_remedy(format!(
            "{level} is no list of CPUs: write one such as 0-3,6"
        )));
    };
    let wanted: BTreeSet<u32> = list.cpus().iter().copied().collect();
    if let Some(strange) = wanted
        .iter()
        .find(|number| cpus.iter().all(|cpu| cpu.number != **number))
    {
        return Err(Unavailable::without_remedy(format!(
            "this machine has no CPU {strange}"
        )));
    }
    if let Some(fixed) = cpus
        .iter()
        .find(|cpu| cpu.switch.is_none() && cpu.online != wanted.contains(&cpu.number))
    {
        return Err(Unavailable::without_remedy(format!(
            "CPU {} has no switch and stays {}",
            fixed.number,
            if fixed.online { "online" } else { "offline" }
        )));
    }
    let write = |online: bool| {
        let value = if online { "1" } else { "0" };
        cpus.iter()
            .filter(|cpu| wanted.contains(&cpu.number) == online)
            .filter_map(|cpu| cpu.switch.clone())
            .map(|switch| Write::file(switch, Form::Plain, value.to_owned()))
            .collect::<Vec<Write>>()
    };
    Ok(Plan {
        side_effects: side_effects
            .iter()
            .flat_map(|pattern| expand(files, pattern))
            .collect(),
        // First those that come, so that there is never none.
        writes: [write(true), write(false)].concat(),
    })
}

fn cpus(files: &dyn Files, entry: &Entry) -> Result<Vec<Cpu>, Unavailable> {
    let text = |path: &str| {
        let bytes = files.read(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    };
    let listed: BTreeSet<u32> = text(&format!("{CPUS}/online"))
        .and_then(|list| list.parse::<CpuList>().ok())
        .map(|list| list.cpus().iter().copied().collect())
        .unwrap_or_default();
    let cpus: Vec<Cpu> = numbers(files, CPUS, "cpu", "")
        .into_iter()
        .map(|number| {
            let switch = format!("{CPUS}/cpu{number}/online");
            match text(&switch) {
                Some(value) => Cpu {
                    number,
                    online: value == "1",
                    switch: Some(switch),
                },
                None => Cpu {
                    number,
                    // Without a list a CPU that cannot be turned off is on.
                    online: listed.is_empty() || listed.contains(&number),
                    switch: None,
                },
            }
        })
        .collect();
    if cpus.iter().any(|cpu| cpu.switch.is_some()) {
        Ok(cpus)
    } else {
        Err(missing(files, entry))
    }
}
