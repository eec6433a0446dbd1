//! Reads /sys/devices/system/cpu/cpu*/thermal_throttle.

use std::path::Path;

use knobstat_data::Evidence;

use super::decode::{KINDS, decode, none};
use crate::evidence::capture::Counters;
use crate::evidence::numbered::{CPUS, numbered};
use crate::evidence::{Moment, Sampler};

/// So many files are kept open; on machines with more each is opened anew.
const MOST_KEPT: usize = 128;

/// The throttle counters of all CPUs.
pub(in crate::evidence) struct Throttling(Vec<Throttle>);

struct Throttle {
    /// The index of what it counts.
    kind: usize,
    /// `cpu0`.
    cpu: String,
    counters: Counters,
}

impl Throttling {
    /// Finds every counter.
    pub(in crate::evidence) fn new() -> Self {
        let mut found = Vec::new();
        for (cpu, path) in numbered(Path::new(CPUS), "cpu") {
            for (kind, (_, file, _, _)) in KINDS.iter().enumerate() {
                let path = path.join("thermal_throttle").join(file);
                if path.exists() {
                    found.push((kind, cpu.clone(), path));
                }
            }
        }
        let open = if found.len() <= MOST_KEPT {
            Counters::kept
        } else {
            Counters::reopened
        };
        let throttle = |(kind, cpu, path)| Throttle {
            kind,
            cpu,
            counters: open(path),
        };
        Self(found.into_iter().map(throttle).collect())
    }
}

impl Sampler for Throttling {
    fn capture(&mut self, moment: Moment) {
        for throttle in &mut self.0 {
            throttle.counters.capture(moment);
        }
    }

    fn decode(&self) -> Vec<Evidence> {
        if self.0.is_empty() {
            return none();
        }
        self.0
            .iter()
            .map(|throttle| decode(throttle.kind, &throttle.cpu, throttle.counters.texts()))
            .collect()
    }
}
