//! The workload `noise`: what interrupts a busy loop, on each CPU.
//!
//! A thread on each CPU reads the stopwatch over and over; where two readings lie further apart
//! than the loop takes, something else had the CPU. What it was is told by the kernel's counters
//! as far as they go; no tracing is needed, and no right.

mod counters;
mod decode;
mod figures;
mod looking;
mod per_cpu_table;
mod schema;
mod windows;
mod work;

use knobstat_data::Parameters;
use knobstat_data::messages::RunSpec;
use knobstat_data::vocabulary::WorkloadSchema;

use super::survey::Wanted;
use super::{Ended, Work, Workload, Yield, built_in, survey};
use crate::launch::Launch;
use crate::parameters::ParameterError;

pub use figures::{Causes, CpuFigures, Lost, NoiseFigures};

/// See the module.
pub(super) struct NoiseWorkload;

impl Workload for NoiseWorkload {
    fn schema(&self) -> &'static WorkloadSchema {
        &schema::SCHEMA
    }

    fn launch(&self, spec: &RunSpec) -> Result<Launch, ParameterError> {
        Wanted::read(&spec.parameters)?;
        built_in::launch(spec)
    }

    fn decode(&self, _spec: &RunSpec, ended: &Ended) -> Yield {
        match survey::figures_of(ended) {
            Ok(figures) => decode::decode(&figures),
            Err(failure) => Yield::failed(failure),
        }
    }

    fn work(&self) -> Option<Work> {
        Some(|parameters| {
            let figures = survey(parameters)?;
            serde_json::to_value(figures).map_err(|error| error.to_string())
        })
    }
}

/// Makes the survey in this process.
///
/// # Errors
/// A sentence on a parameter that cannot be granted, or on what this machine refuses.
pub fn survey(parameters: &Parameters) -> Result<NoiseFigures, String> {
    let wanted = Wanted::read(parameters).map_err(|error| error.to_string())?;
    work::run(&wanted)
}
