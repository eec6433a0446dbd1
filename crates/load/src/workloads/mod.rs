//! The workloads: what can be run, one folder each and one line in the registry.
//!
//! Every workload is a process. A command is somebody else's program; a built-in workload is
//! this program started again under the hidden name `workload KIND PARAMETERS`, so that both are
//! timed, watched, limited and ended by the same code, and neither runs inside the harness.

pub mod built_in;
pub mod clock;
pub mod command;
pub mod noise;
pub mod survey;
pub mod timer;
pub mod udp;

use knobstat_data::messages::RunSpec;
use knobstat_data::observation::{Failure, MetricValue, Times};
use knobstat_data::vocabulary::WorkloadSchema;
use knobstat_data::{Evidence, Parameters};

use crate::launch::Launch;
use crate::parameters::ParameterError;

/// Every workload: a new one is one folder and one line here.
static REGISTRY: &[&dyn Workload] = &[
    &command::CommandWorkload,
    &udp::UdpWorkload,
    &clock::ClockWorkload,
    &timer::TimerWorkload,
    &noise::NoiseWorkload,
];

/// One kind of workload.
pub trait Workload: Sync {
    /// Its name, parameters and metrics.
    fn schema(&self) -> &'static WorkloadSchema;

    /// What is to be started for this cell.
    ///
    /// # Errors
    /// A parameter that no process can be made of.
    fn launch(&self, spec: &RunSpec) -> Result<Launch, ParameterError>;

    /// What a process that ended as it should have yielded. Pure.
    fn decode(&self, spec: &RunSpec, ended: &Ended) -> Yield;

    /// What of its parameters cannot be had on this machine, found out without doing any work and
    /// without changing anything; nothing where all can.
    fn lacks(&self, _parameters: &Parameters) -> Option<Lacking> {
        None
    }

    /// The work itself, where this program does it: called in a process of its own. What it
    /// returns reaches [`Workload::decode`] through [`built_in::result`].
    fn work(&self) -> Option<Work> {
        None
    }
}

/// A parameter whose value cannot be had on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    /// The parameter.
    pub parameter: String,
    /// Why, in one sentence.
    pub reason: String,
    /// What would make it available, in one sentence.
    pub remedy: Option<String>,
}

/// The body of a built-in workload: parameters in, a result as JSON out, or a sentence on why it
/// could not be done.
pub type Work = fn(&Parameters) -> Result<serde_json::Value, String>;

/// A process that ended as it should have, and what it left.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The stopwatch's readings.
    pub times: Times,
    /// The smallest difference that the stopwatch can show, in seconds.
    pub granularity: f64,
    /// What it wrote to standard output, or why that cannot be read.
    pub stdout: Result<Vec<u8>, String>,
    /// What it wrote to standard error, or why that cannot be read.
    pub stderr: Result<Vec<u8>, String>,
}

/// What a run yielded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Yield {
    /// Its metrics, as far as there are any.
    pub metrics: Vec<MetricValue>,
    /// What the workload itself saw meanwhile.
    pub evidence: Vec<Evidence>,
    /// Plain sentences.
    pub notes: Vec<String>,
    /// What is missing although the process ended well.
    pub failure: Option<Failure>,
}

impl Yield {
    /// Nothing but a failure.
    pub fn failed(failure: Failure) -> Self {
        Self {
            failure: Some(failure),
            ..Self::default()
        }
    }
}

/// The schemas of all workloads, for the parser's vocabulary and for the documentation.
pub fn schemas() -> Vec<WorkloadSchema> {
    REGISTRY
        .iter()
        .map(|workload| workload.schema().clone())
        .collect()
}

/// The workload of this kind.
pub fn find(kind: &str) -> Option<&'static dyn Workload> {
    REGISTRY
        .iter()
        .copied()
        .find(|workload| workload.schema().kind == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_unique_and_each_has_a_metric() {
        let schemas = schemas();
        for schema in &schemas {
            let same = schemas.iter().filter(|other| other.kind == schema.kind);
            assert_eq!(same.count(), 1, "{}", schema.kind);
            assert!(!(schema.metrics)().is_empty(), "{}", schema.kind);
            assert!(find(schema.kind).is_some());
        }
    }

    #[test]
    fn parameters_are_documented_and_named_once() {
        for schema in schemas() {
            for parameter in schema.parameters {
                assert!(!parameter.documentation.is_empty(), "{}", parameter.name);
                let same = schema
                    .parameters
                    .iter()
                    .filter(|other| other.name == parameter.name);
                assert_eq!(same.count(), 1, "{}", parameter.name);
            }
        }
    }
}
