//! Reads /proc/stat.

use knobstat_data::Evidence;

use super::decode::decode;
use crate::evidence::capture::Counters;
use crate::evidence::{Moment, Sampler};

/// The CPUs' times.
pub(in crate::evidence) struct Processors(Counters);

impl Processors {
    /// Opens the file.
    pub(in crate::evidence) fn new() -> Self {
        Self(Counters::kept("/proc/stat"))
    }
}

impl Sampler for Processors {
    fn capture(&mut self, moment: Moment) {
        self.0.capture(moment);
    }

    fn decode(&self) -> Vec<Evidence> {
        decode(self.0.texts())
    }
}
