//! Reads /proc/PID/status of the harness's other processes.

use knobstat_data::Evidence;

use super::decode::decode;
use crate::evidence::capture::Counters;
use crate::evidence::{Moment, Sampler};

/// Processes by what they are to the harness.
pub struct Companions(Vec<(&'static str, Counters)>);

impl Companions {
    /// The processes of these numbers, each with its scope. They must outlive the experiment.
    pub fn new(processes: impl IntoIterator<Item = (&'static str, u32)>) -> Self {
        let open = |(scope, pid)| (scope, Counters::kept(format!("/proc/{pid}/status")));
        Self(processes.into_iter().map(open).collect())
    }
}

impl Sampler for Companions {
    fn capture(&mut self, moment: Moment) {
        for (_, counters) in &mut self.0 {
            counters.capture(moment);
        }
    }

    fn decode(&self) -> Vec<Evidence> {
        self.0
            .iter()
            .flat_map(|(scope, counters)| decode(scope, counters.texts()))
            .collect()
    }
}
