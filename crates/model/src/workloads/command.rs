//! A command, represented by the job of the machine file.

use knobstat_data::messages::RunSpec;
use knobstat_data::observation::Failure;
use knobstat_data::{Parameters, Unit, Value};

use super::{Lack, Yield, cannot, seconds, times};
use crate::cores::{self, JobRun, Load};
use crate::evidence::Found;
use crate::machine::MachineFile;
use crate::random::Random;
use crate::settings::Settings;

pub(super) fn run(
    machine: &MachineFile,
    settings: &Settings,
    spec: &RunSpec,
    factor: f64,
    random: &mut Random,
) -> Result<Yield, Failure> {
    let job = machine.job.as_ref().ok_or_else(|| {
        cannot("the machine file has no [job] to represent the command; add one, or use another machine file")
    })?;
    let cpu = match spec.parameters.get("cpus") {
        Some(Value::Cpus(cpus)) => cpus.first(),
        _ => job.cpu.value,
    };
    let load = Load::of(machine, job, cpu, factor);
    let ran = cores::run(machine, settings, load, random).map_err(cannot)?;
    if let Some(Value::Duration(timeout)) = spec.parameters.get("timeout")
        && ran.wall > timeout.as_nanos() as f64
    {
        return Err(Failure::TimedOut { after: *timeout });
    }
    Ok(Yield {
        metrics: vec![seconds("wall", ran.wall), seconds("cpu", ran.wall)],
        evidence: evidence(machine, settings, cpu, &ran),
        times: times(ran.wall, ran.wall),
        notes: Vec::new(),
    })
}

pub(super) fn lacks(machine: &MachineFile, parameters: &Parameters) -> Option<Lack> {
    let Some(_) = machine.job else {
        return Some(Lack {
            parameter: "command",
            reason: "the machine file has no [job] to represent the command".to_owned(),
            remedy: Some("add one, or use another machine file".to_owned()),
        });
    };
    match parameters.get("cpus") {
        Some(Value::Cpus(cpus)) if cpus.first() >= machine.cpus() => Some(Lack {
            parameter: "cpus",
            reason: format!("this machine has the CPUs 0 to {}", machine.cpus() - 1),
            remedy: None,
        }),
        _ => None,
    }
}

/// Of the CPU with the job, and of all others together.
fn evidence(
    machine: &MachineFile,
    settings: &Settings,
    cpu: u32,
    ran: &JobRun,
) -> Vec<knobstat_data::Evidence> {
    let mut found = Found::default();
    let of_job = format!("cpu{cpu}");
    let others = || ran.cpus.iter().filter(|seen| seen.cpu != cpu);
    found.add(
        "frequency.effective",
        &of_job,
        Unit::new("MHz"),
        1000.0 * ran.mean_frequency,
    );
    found.add(
        "idle.awake",
        "idle cores",
        Unit::SHARE,
        100.0 * ran.idle_cores_awake,
    );
    let ticks = |of_job: bool| -> u64 {
        let cpus = ran.cpus.iter().filter(|seen| (seen.cpu == cpu) == of_job);
        cpus.map(|seen| seen.ticks).sum()
    };
    let count = |count: u64| count as f64;
    found.add("interrupts.timer", &of_job, Unit::COUNT, count(ticks(true)));
    found.add(
        "interrupts.timer",
        IDLE_CPUS,
        Unit::COUNT,
        count(ticks(false)),
    );
    let states = machine.idle_states.iter().take(settings.deepest + 1);
    for (index, state) in states.enumerate() {
        let entries: u64 = others().map(|seen| seen.entries[index]).sum();
        let time: f64 = others().map(|seen| seen.times[index]).sum();
        found.add(
            format!("idle.{}.entries", state.name),
            IDLE_CPUS,
            Unit::COUNT,
            count(entries),
        );
        found.add(
            format!("idle.{}.time", state.name),
            IDLE_CPUS,
            Unit::SECONDS,
            time / 1e9,
        );
    }
    found.0
}

/// The scope of what all CPUs but that of the job have together.
const IDLE_CPUS: &str = "idle CPUs";
