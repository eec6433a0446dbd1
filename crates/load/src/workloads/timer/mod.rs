//! The workload `timer`: how late a thread wakes that sleeps until a moment, on each CPU.
//!
//! It sleeps as cyclictest does (an absolute clock_nanosleep(2) on CLOCK_MONOTONIC, a thread on
//! each CPU, the timer slack left as it is unless told otherwise), and is timed by the stopwatch.

mod decode;
mod figures;
mod options;
mod schema;
mod sleeper;
mod work;

use knobstat_data::Parameters;
use knobstat_data::messages::RunSpec;
use knobstat_data::vocabulary::WorkloadSchema;

use super::{Ended, Work, Workload, Yield, built_in, survey};
use crate::launch::Launch;
use crate::parameters::ParameterError;

pub use figures::{CpuFigures, TimerFigures};

/// See the module.
pub(super) struct TimerWorkload;

impl Workload for TimerWorkload {
    fn schema(&self) -> &'static WorkloadSchema {
        &schema::SCHEMA
    }

    fn launch(&self, spec: &RunSpec) -> Result<Launch, ParameterError> {
        options::Options::read(&spec.parameters)?;
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
pub fn survey(parameters: &Parameters) -> Result<TimerFigures, String> {
    let options = options::Options::read(parameters).map_err(|error| error.to_string())?;
    work::run(&options)
}
