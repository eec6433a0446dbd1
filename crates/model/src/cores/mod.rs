//! A job on one CPU of a processor whose other CPUs are idle: ticks, idle states, turbo and
//! threads that share a core, event by event.
//!
//! Simulated time is in nanoseconds from the beginning of the job, frequencies in gigahertz.
//! What is asked and what came of it is here; what goes on is in `simulation.rs`.

mod idle;
mod package;
mod simulation;

use thiserror::Error;

use crate::machine::{Job, MachineFile};
use crate::random::Random;
use crate::settings::Settings;

use simulation::Simulation;

/// The job as it is run: how long its two parts take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// The logical CPU that it runs on.
    pub cpu: u32,
    /// Cycles that frequency speeds up.
    pub cycles: f64,
    /// Nanoseconds of waiting for memory.
    pub memory: f64,
}

impl Load {
    /// The job of a machine file, made longer by a factor.
    pub fn of(machine: &MachineFile, job: &Job, cpu: u32, factor: f64) -> Self {
        let work = job.work.value.0 * factor;
        let memory = job.memory_share.value.0;
        Self {
            cpu,
            cycles: work * (1.0 - memory),
            memory: work * memory / machine.cores.base_frequency.value.0,
        }
    }
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRun {
    /// How long it took, in nanoseconds.
    pub wall: f64,
    /// The mean frequency that the package granted, in gigahertz.
    pub mean_frequency: f64,
    /// The share of time that cores without the job were awake, 0 to 1; 0 where there are none.
    pub idle_cores_awake: f64,
    /// What was counted of every CPU that is online.
    pub cpus: Vec<CpuRun>,
    /// How many events were simulated.
    pub events: u64,
}

/// What was counted of one CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuRun {
    /// Its number.
    pub cpu: u32,
    /// Timer interrupts.
    pub ticks: u64,
    /// Other wake-ups.
    pub other_wakes: u64,
    /// How often each idle state was entered.
    pub entries: Vec<u64>,
    /// How long it was in each, in nanoseconds.
    pub times: Vec<f64>,
}

/// Why a job cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CoresError {
    /// The CPU that is asked for is not there.
    #[error("CPU {cpu} is not online on this machine, which has CPUs {online}; give another one")]
    NoCpu {
        /// The CPU.
        cpu: u32,
        /// Those that are online.
        online: String,
    },
    /// It would take too long.
    #[error(
        "the job has more than {MOST_EVENTS} events to simulate; make it shorter in the machine file"
    )]
    TooLong,
}

/// More events than this are not simulated: they would take minutes.
const MOST_EVENTS: u64 = 500_000_000;

/// Runs a job to its end.
///
/// # Errors
/// When its CPU is not online, or it would take too long to simulate.
pub fn run(
    machine: &MachineFile,
    settings: &Settings,
    load: Load,
    random: &mut Random,
) -> Result<JobRun, CoresError> {
    let threads = machine.cores.threads_per_core.value;
    let online: Vec<u32> = (0..machine.cpus())
        .filter(|cpu| settings.smt || cpu % threads == 0)
        .collect();
    let place = online
        .iter()
        .position(|cpu| *cpu == load.cpu)
        .ok_or_else(|| CoresError::NoCpu {
            cpu: load.cpu,
            online: online
                .iter()
                .map(u32::to_string)
                .collect::<Vec<_>>()
                .join(", "),
        })?;
    let mut simulation = Simulation::new(machine, settings, load, &online, place, random);
    let wall = simulation.run()?;
    Ok(simulation.conclude(wall))
}

#[cfg(test)]
mod tests;
