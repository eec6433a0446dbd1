//! The workload `command`: somebody else's program, timed from outside.

mod decode;
mod parameters;
mod schema;

use knobstat_data::messages::RunSpec;
use knobstat_data::vocabulary::WorkloadSchema;

use super::{Ended, Workload, Yield};
use crate::launch::Launch;
use crate::parameters::ParameterError;

/// See the module.
pub(super) struct CommandWorkload;

impl Workload for CommandWorkload {
    fn schema(&self) -> &'static WorkloadSchema {
        &schema::SCHEMA
    }

    fn launch(&self, spec: &RunSpec) -> Result<Launch, ParameterError> {
        parameters::launch(&spec.parameters)
    }

    fn decode(&self, spec: &RunSpec, ended: &Ended) -> Yield {
        decode::decode(spec, ended)
    }
}
