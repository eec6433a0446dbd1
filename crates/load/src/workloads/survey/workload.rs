//! A survey as a workload: the parameters are read before anything is started, the survey is made in
//! a process of its own, and its figures come back as they were printed.

use knobstat_data::Parameters;
use knobstat_data::messages::RunSpec;
use knobstat_data::vocabulary::WorkloadSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::{Ended, Work, Workload, Yield, built_in};
use super::figures::figures_of;
use crate::launch::Launch;
use crate::parameters::ParameterError;

/// One kind of survey.
pub trait Survey: Sync {
    /// What its parameters ask for.
    type Wanted;
    /// What it finds.
    type Figures: Serialize + DeserializeOwned;

    /// Its name, parameters and metrics.
    fn schema() -> &'static WorkloadSchema;

    /// What the parameters ask for.
    ///
    /// # Errors
    /// A parameter that cannot be granted.
    fn wanted(parameters: &Parameters) -> Result<Self::Wanted, ParameterError>;

    /// Makes the survey in this process.
    ///
    /// # Errors
    /// A sentence on what this machine refuses.
    fn make(wanted: &Self::Wanted) -> Result<Self::Figures, String>;

    /// The metrics and the evidence in its figures. Pure.
    fn decode(figures: &Self::Figures) -> Yield;
}

/// Reads the parameters of a survey and makes it in this process.
///
/// # Errors
/// A sentence on a parameter that cannot be granted, or on what this machine refuses.
pub fn make<S: Survey>(parameters: &Parameters) -> Result<S::Figures, String> {
    let wanted = S::wanted(parameters).map_err(|error| error.to_string())?;
    S::make(&wanted)
}

impl<S: Survey> Workload for S {
    fn schema(&self) -> &'static WorkloadSchema {
        S::schema()
    }

    fn launch(&self, spec: &RunSpec) -> Result<Launch, ParameterError> {
        S::wanted(&spec.parameters)?;
        built_in::launch(spec)
    }

    fn decode(&self, _spec: &RunSpec, ended: &Ended) -> Yield {
        match figures_of(ended) {
            Ok(figures) => S::decode(&figures),
            Err(failure) => Yield::failed(failure),
        }
    }

    fn work(&self) -> Option<Work> {
        Some(|parameters| {
            let figures = make::<S>(parameters)?;
            serde_json::to_value(figures).map_err(|error| error.to_string())
        })
    }
}
