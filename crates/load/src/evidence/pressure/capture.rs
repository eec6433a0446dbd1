//! Reads /proc/pressure, the kernel's pressure stall information.

use knobstat_data::Evidence;

use super::decode::decode;
use crate::evidence::capture::Counters;
use crate::evidence::{Moment, Sampler};

/// The machine's pressure.
pub(in crate::evidence) struct Pressure([(&'static str, Counters); 3]);

impl Pressure {
    /// Opens the three files.
    pub(in crate::evidence) fn new() -> Self {
        Self(["cpu", "memory", "io"].map(|resource| {
            let path = format!("/proc/pressure/{resource}");
            (resource, Counters::kept(path))
        }))
    }
}

impl Sampler for Pressure {
    fn capture(&mut self, moment: Moment) {
        for (_, counters) in &mut self.0 {
            counters.capture(moment);
        }
    }

    fn decode(&self) -> Vec<Evidence> {
        self.0
            .iter()
            .flat_map(|(resource, counters)| decode(resource, counters.texts()))
            .collect()
    }
}
