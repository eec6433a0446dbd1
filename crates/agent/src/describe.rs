//! What machine this is, and what of a workload it can take.
//!
//! Reads only, and says what it could not read by leaving it out.

use knobstat_data::Machine;
use knobstat_data::messages::{LackingCell, WantedWorkload};
use knobstat_data::words::sha256;
use knobstat_sys::root::Root;
use knobstat_sys::{machine, user};

/// The fingerprint of the machine beneath a root.
pub fn machine(root: &Root, stopwatch: String, workload_user: Option<String>) -> Machine {
    let read = |path: &str| root.read(path).ok().filter(|text| !text.is_empty());
    let kernel = machine::kernel();
    let processor = machine::processor(root);
    let clock_sources = "/sys/devices/system/clocksource/clocksource0";
    let id = machine::machine_id(root).unwrap_or_else(|| kernel.host.clone());
    Machine {
        // The machine's own id is not handed out: reports travel.
        id: sha256(&format!("knobstat machine {id} {}", root.path().display())),
        host: Some(kernel.host),
        cpu: processor.model,
        vendor: processor.vendor,
        cpus_online: read("/sys/devices/system/cpu/online"),
        kernel: read("/proc/sys/kernel/osrelease").or(Some(kernel.release)),
        architecture: Some(kernel.architecture),
        command_line: machine::command_line(root),
        hz: machine::configured_hz(root),
        clock_source: read(&format!("{clock_sources}/current_clocksource")),
        clock_sources: read(&format!("{clock_sources}/available_clocksource"))
            .unwrap_or_default()
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
        governor: read("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor"),
        virtualization: machine::virtualization(root),
        guest: None,
        memory: machine::memory(root),
        boot_id: machine::boot_id(root),
        stopwatch: Some(stopwatch),
        root: user::is_root(),
        laid_out: !root.is_real(),
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        workload_user,
        other_owners: knobstat_knobs::running_owners(root)
            .iter()
            .map(|owner| owner.name.to_owned())
            .collect(),
        real_time_percent: machine::real_time_limit(root)
            .filter(|(runtime, period)| runtime < period)
            .and_then(|(runtime, period)| u8::try_from(runtime * 100 / period).ok()),
    }
}

/// Those of a workload's sets of parameters that it cannot run with here.
pub fn lacking_cells(wanted: &WantedWorkload) -> Vec<LackingCell> {
    let Some(workload) = knobstat_load::workloads::find(&wanted.kind) else {
        return Vec::new();
    };
    wanted
        .cells
        .iter()
        .enumerate()
        .filter_map(|(index, parameters)| {
            let lack = workload.lacks(parameters)?;
            Some(LackingCell {
                index,
                parameter: lack.parameter,
                reason: lack.reason,
                remedy: lack.remedy,
            })
        })
        .collect()
}
