//! Reads the idle states of every CPU in /sys/devices/system/cpu.

use std::fs;
use std::path::{Path, PathBuf};

use knobstat_data::Evidence;

use super::decode::{decode, none};
use crate::evidence::capture::Counters;
use crate::evidence::numbered::{CPUS, numbered};
use crate::evidence::{Moment, Sampler};

/// So many files are kept open; on machines with more states than that each is opened anew.
const MOST_KEPT: usize = 256;

/// The idle states of all CPUs.
pub(in crate::evidence) struct Idle(Vec<State>);

struct State {
    /// `cpu0`.
    cpu: String,
    /// The state's own name; its number is not the C-number.
    name: String,
    entries: Counters,
    time: Counters,
}

impl Idle {
    /// Finds every state.
    pub(in crate::evidence) fn new() -> Self {
        let mut states = Vec::new();
        for (cpu, path) in numbered(Path::new(CPUS), "cpu") {
            for (_, path) in numbered(&path.join("cpuidle"), "state") {
                if let Ok(name) = fs::read_to_string(path.join("name")) {
                    states.push((cpu.clone(), name, path));
                }
            }
        }
        let open = if states.len() * 2 <= MOST_KEPT {
            Counters::kept
        } else {
            Counters::reopened
        };
        let state = |(cpu, name, path): (String, String, PathBuf)| State {
            cpu,
            name: name.trim().replace(' ', "_"),
            entries: open(path.join("usage")),
            time: open(path.join("time")),
        };
        Self(states.into_iter().map(state).collect())
    }
}

impl Sampler for Idle {
    fn capture(&mut self, moment: Moment) {
        for state in &mut self.0 {
            state.entries.capture(moment);
            state.time.capture(moment);
        }
    }

    fn decode(&self) -> Vec<Evidence> {
        if self.0.is_empty() {
            return none();
        }
        self.0
            .iter()
            .flat_map(|state| {
                let (entries, time) = (state.entries.texts(), state.time.texts());
                decode(&state.cpu, &state.name, entries, time)
            })
            .collect()
    }
}
