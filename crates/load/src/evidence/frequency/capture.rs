//! Counts with the kernel's `msr` device, which needs no access to the registers themselves.

use std::io;

use knobstat_data::Evidence;
use knobstat_sys::perf::{Count, Counter, Event, Whose};
use knobstat_sys::root::Root;
use knobstat_sys::topology;

use super::decode::{Seen, decode, none};
use crate::evidence::{Moment, Sampler};

const DEVICE: &str = "msr";

/// The names of the events, in the order of [`Seen`]'s fields.
const EVENTS: [&str; 3] = ["aperf", "mperf", "tsc"];

/// The counters of all CPUs, open all the time.
pub(in crate::evidence) struct Frequency(Result<Vec<Cpu>, String>);

struct Cpu {
    number: u32,
    counters: [Counter; EVENTS.len()],
    before: io::Result<[Count; EVENTS.len()]>,
    after: io::Result<[Count; EVENTS.len()]>,
}

impl Frequency {
    /// Opens the counters of every CPU that is online.
    pub(in crate::evidence) fn new() -> Self {
        Self(open())
    }
}

fn open() -> Result<Vec<Cpu>, String> {
    let lacking = |name: &str, error: io::Error| {
        format!("{name} cannot be counted here: {}", in_words(&error))
    };
    let mut events = Vec::with_capacity(EVENTS.len());
    for name in EVENTS {
        events.push(Event::of_device(DEVICE, name).map_err(|error| lacking(name, error))?);
    }
    let online = topology::online(&Root::real()).map_err(|error| error.to_string())?;
    let mut cpus = Vec::with_capacity(online.len());
    for number in online {
        let open = |index: usize| {
            Counter::open(events[index], Whose::Cpu(number))
                .map_err(|error| lacking(EVENTS[index], error))
        };
        cpus.push(Cpu {
            number,
            counters: [open(0)?, open(1)?, open(2)?],
            before: Ok(<[Count; EVENTS.len()]>::default()),
            after: Ok(<[Count; EVENTS.len()]>::default()),
        });
    }
    Ok(cpus)
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "the processor, or the hypervisor beneath, does not show it".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "counting a whole CPU needs root, CAP_PERFMON or kernel.perf_event_paranoid at most 0"
                .to_owned()
        }
        _ => error.to_string(),
    }
}

impl Cpu {
    fn read(&self) -> io::Result<[Count; EVENTS.len()]> {
        let [aperf, mperf, tsc] = &self.counters;
        Ok([aperf.read()?, mperf.read()?, tsc.read()?])
    }

    fn seen(&self) -> Result<Seen, String> {
        let (before, after) = match (&self.before, &self.after) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(error), _) | (_, Err(error)) => return Err(error.to_string()),
        };
        let grown = |index: usize| after[index].value.wrapping_sub(before[index].value);
        Ok(Seen {
            aperf: grown(0),
            mperf: grown(1),
            tsc: grown(2),
            time: after[2].enabled.saturating_sub(before[2].enabled),
        })
    }
}

impl Sampler for Frequency {
    fn capture(&mut self, moment: Moment) {
        let Ok(cpus) = &mut self.0 else {
            return;
        };
        for cpu in cpus {
            let read = cpu.read();
            match moment {
                Moment::Before => cpu.before = read,
                Moment::After => cpu.after = read,
            }
        }
    }

    fn decode(&self) -> Vec<Evidence> {
        match &self.0 {
            Err(reason) => none(reason),
            Ok(cpus) => cpus
                .iter()
                .flat_map(|cpu| decode(cpu.number, cpu.seen()))
                .collect(),
        }
    }
}
