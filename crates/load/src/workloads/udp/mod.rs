//! The workload `udp`: a sender and a receiver of datagrams on one machine, each on a CPU of its
//! own, in a process of their own.
//!
//! The headline is what was received. The stopwatch is never the clock that the sender paces
//! itself by, and who was the limit is part of every result.

mod availability;
mod decode;
#[cfg(test)]
mod decode_tests;
mod delay;
pub mod ends;
mod energy;
mod failure;
mod figures;
mod intake;
mod link;
mod nap_policy;
mod options;
mod order;
mod outlet;
mod pacer;
mod placement;
mod receiver;
mod route;
#[cfg(test)]
mod run_tests;
mod schema;
mod seen;
mod sender;
#[cfg(test)]
mod sender_tests;
mod threads;
mod verdict;
mod wire;
mod work;

use knobstat_data::Parameters;
use knobstat_data::messages::RunSpec;
use knobstat_data::vocabulary::WorkloadSchema;

use super::{Ended, Lacking, Work, Workload, Yield, built_in};
use crate::launch::Launch;
use crate::parameters::ParameterError;

/// See the module.
pub(super) struct UdpWorkload;

impl Workload for UdpWorkload {
    fn schema(&self) -> &'static WorkloadSchema {
        &schema::SCHEMA
    }

    fn launch(&self, spec: &RunSpec) -> Result<Launch, ParameterError> {
        // Wishes that cannot be granted are refused here, before anything is started.
        options::Options::read(&spec.parameters)?;
        built_in::launch(spec)
    }

    fn decode(&self, _spec: &RunSpec, ended: &Ended) -> Yield {
        decode::decode(ended)
    }

    fn lacks(&self, parameters: &Parameters) -> Option<Lacking> {
        availability::lacks(parameters)
    }

    fn work(&self) -> Option<Work> {
        Some(work)
    }
}

/// A run, from parameters to figures as JSON.
fn work(parameters: &Parameters) -> Result<serde_json::Value, String> {
    let options = options::Options::read(parameters).map_err(|error| error.to_string())?;
    let figures = match &options.endpoints {
        options::Endpoints::Receiver(receiver) => {
            ends::figures(&options, parameters, receiver).map_err(|error| error.to_string())
        }
        options::Endpoints::Loopback | options::Endpoints::Veth => {
            work::run(&options).map_err(|error| error.to_string())
        }
    }?;
    serde_json::to_value(figures).map_err(|error| error.to_string())
}
