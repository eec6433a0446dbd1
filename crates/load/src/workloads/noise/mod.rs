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
use knobstat_data::vocabulary::WorkloadSchema;

use super::Yield;
use super::survey::{self, Survey, Wanted};
use crate::parameters::ParameterError;

pub use figures::{Causes, CpuFigures, Lost, NoiseFigures};

/// See the module.
pub(super) struct NoiseWorkload;

impl Survey for NoiseWorkload {
    type Wanted = Wanted;
    type Figures = NoiseFigures;

    fn schema() -> &'static WorkloadSchema {
        &schema::SCHEMA
    }

    fn wanted(parameters: &Parameters) -> Result<Wanted, ParameterError> {
        Wanted::read(parameters)
    }

    fn make(wanted: &Wanted) -> Result<NoiseFigures, String> {
        work::run(wanted)
    }

    fn decode(figures: &NoiseFigures) -> Yield {
        decode::decode(figures)
    }
}

/// Makes the survey in this process.
///
/// # Errors
/// A sentence on a parameter that cannot be granted, or on what this machine refuses.
pub fn survey(parameters: &Parameters) -> Result<NoiseFigures, String> {
    survey::make::<NoiseWorkload>(parameters)
}
