//! Reads /proc/interrupts.

use knobstat_data::Evidence;

use super::decode::decode;
use crate::evidence::capture::Counters;
use crate::evidence::{Moment, Sampler};

/// The CPUs' interrupts.
pub(in crate::evidence) struct Interrupts(Counters);

impl Interrupts {
    /// Opens the file.
    pub(in crate::evidence) fn new() -> Self {
        Self(Counters::kept("/proc/interrupts"))
    }
}

impl Sampler for Interrupts {
    fn capture(&mut self, moment: Moment) {
        self.0.capture(moment);
    }

    fn decode(&self) -> Vec<Evidence> {
        decode(self.0.texts())
    }
}
