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
use knobstat_data::messages::RunSpec;
use knobstat_data::vocabulary::WorkloadSchema;
use knobstat_sys::clock::Stopwatch;

use super::survey::Wanted;
use super::{Ended, Work, Workload, Yield, built_in, survey};
use crate::launch::Launch;
use crate::parameters::ParameterError;

pub use figures::{ClockFigures, Criterion, Drift, OneClock, Order, Path};

/// See the module.
pub(super) struct ClockWorkload;

impl Workload for ClockWorkload {
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
            let figures = survey(parameters, &Stopwatch::calibrated())?;
            serde_json::to_value(figures).map_err(|error| error.to_string())
        })
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
