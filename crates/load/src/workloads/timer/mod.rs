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
use knobstat_data::vocabulary::WorkloadSchema;

use self::options::Options;
use super::Yield;
use super::survey::{self, Survey};
use crate::parameters::ParameterError;

pub use figures::{CpuFigures, TimerFigures};

/// See the module.
pub(super) struct TimerWorkload;

impl Survey for TimerWorkload {
    type Wanted = Options;
    type Figures = TimerFigures;

    fn schema() -> &'static WorkloadSchema {
        &schema::SCHEMA
    }

    fn wanted(parameters: &Parameters) -> Result<Options, ParameterError> {
        Options::read(parameters)
    }

    fn make(options: &Options) -> Result<TimerFigures, String> {
        work::run(options)
    }

    fn decode(figures: &TimerFigures) -> Yield {
        decode::decode(figures)
    }
}

/// Makes the survey in this process.
///
/// # Errors
/// A sentence on a parameter that cannot be granted, or on what this machine refuses.
pub fn survey(parameters: &Parameters) -> Result<TimerFigures, String> {
    survey::make::<TimerWorkload>(parameters)
}
