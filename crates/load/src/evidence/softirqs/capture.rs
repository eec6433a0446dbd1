//! Reads /proc/softirqs.

use knobstat_data::Evidence;

use super::decode::decode;
use crate::evidence::capture::Counters;
use crate::evidence::{Moment, Sampler};

/// The CPUs' soft interrupts.
pub(in crate::evidence) struct SoftInterrupts(Counters);

impl SoftInterrupts {
    /// Opens the file.
    pub(in crate::evidence) fn new() -> Self {
        Self(Counters::kept("/proc/softirqs"))
    }
}

impl Sampler for SoftInterrupts {
    fn capture(&mut self, moment: Moment) {
        self.0.capture(moment);
    }

    fn decode(&self) -> Vec<Evidence> {
        decode(self.0.texts())
    }
}
