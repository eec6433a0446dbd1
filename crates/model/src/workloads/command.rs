//! A command, represented by the job of the machine file.

use knobstat_data::messages::RunSpec;
use knobstat_data::observation::Failure;
use knobstat_data::{Unit, Value};

use super::{Yield, cannot, seconds, times};
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
        evidence: evidence(machine, settings, &ran),
        times: times(ran.wall, ran.wall),
        notes: Vec::new(),
    })
}

fn evidence(
    machine: &MachineFile,
    settings: &Settings,
    ran: &JobRun,
) -> Vec<knobstat_data::Evidence> {
    let mut found = Found::default();
    found.add(
        "turbo.mean_frequency",
        "package",
        Unit::new("GHz"),
        ran.mean_frequency,
    );
    found.add(
        "idle.awake",
        "idle cores",
        Unit::SHARE,
        100.0 * ran.idle_cores_awake,
    );
    for seen in &ran.cpus {
        let scope = format!("cpu{}", seen.cpu);
        found.add("interrupts.timer", &scope, Unit::COUNT, seen.ticks as f64);
        let states = machine.idle_states.iter().take(settings.deepest + 1);
        for (index, state) in states.enumerate() {
            found.add(
                format!("idle.{}.entries", state.name),
                &scope,
                Unit::COUNT,
                seen.entries[index] as f64,
            );
            found.add(
                format!("idle.{}.time", state.name),
                &scope,
                Unit::SECONDS,
                seen.times[index] / 1e9,
            );
        }
    }
    found.0
}
