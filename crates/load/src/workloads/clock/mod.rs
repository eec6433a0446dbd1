//! The workload `clock`: what reading the time costs on this machine and what it is worth.
//!
//! For every clock id: the cost of a reading, through the vDSO and by system call, the step of the
//! clock, whether it ever goes back from one CPU to the next, and its drift against the reference
//! counter. The clock source is whichever is in force.

mod cost;
mod decode;
mod drift;
mod figures;
mod order;
mod schema;
mod step;
mod work;

use knobstat_data::Parameters;
use knobstat_data::vocabulary::WorkloadSchema;
use knobstat_sys::clock::Stopwatch;

use super::Yield;
use super::survey::{Survey, Wanted};
use crate::parameters::ParameterError;

pub use figures::{ClockFigures, Criterion, Drift, OneClock, Order, Path};

/// See the module.
pub(super) struct ClockWorkload;

impl Survey for ClockWorkload {
    type Wanted = Wanted;
    type Figures = ClockFigures;

    fn schema() -> &'static WorkloadSchema {
        &schema::SCHEMA
    }

    fn wanted(parameters: &Parameters) -> Result<Wanted, ParameterError> {
        Wanted::read(parameters)
    }

    fn make(wanted: &Wanted) -> Result<ClockFigures, String> {
        work::run(wanted, &Stopwatch::calibrated())
    }

    fn decode(figures: &ClockFigures) -> Yield {
        decode::decode(figures)
    }
}

/// Makes the survey in this process, against this stopwatch.
///
/// # Errors
/// A sentence on a parameter that cannot be granted, or on what this machine refuses.
pub fn survey(parameters: &Parameters, stopwatch: &Stopwatch) -> Result<ClockFigures, String> {
    let wanted = Wanted::read(parameters).map_err(|error| error.to_string())?;
    work::run(&wanted, stopwatch)
}
