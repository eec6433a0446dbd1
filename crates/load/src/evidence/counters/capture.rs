//! Opens a perf event a counter just before the run, reads it just after, and closes it.

use std::io;

use knobstat_data::Evidence;
use knobstat_sys::perf::{Count, Counter, Event, Whose};

use super::decode::{CYCLES, Counted, FIRST_OF_KERNEL, KINDS, decode};
use crate::evidence::{Moment, Sampler};

/// What is counted, in the order of [`KINDS`].
const EVENTS: [Event; KINDS.len()] = [
    Event::CYCLES,
    Event::INSTRUCTIONS,
    Event::BRANCH_MISSES,
    Event::CACHE_MISSES,
    Event::MIGRATIONS,
    Event::TASK_CLOCK,
];

/// Why what the kernel counts itself is left out where the processor counts nothing: every counter
/// that a process inherits makes its start some microseconds longer, and both are known without.
const ONLY_BESIDE_CYCLES: &str = "it is counted beside cycles alone, which are not counted here";

/// The counters of one run.
pub(in crate::evidence) struct PerformanceCounters([Slot; KINDS.len()]);

struct Slot {
    event: Event,
    /// Whose events this user may count; none once it is known that there is no such counter.
    whose: Option<Whose>,
    open: Option<Counter>,
    /// What the rehearsal counted.
    rehearsal: Count,
    outcome: io::Result<Count>,
}

impl PerformanceCounters {
    /// Nothing is opened yet.
    pub(in crate::evidence) fn new() -> Self {
        Self(EVENTS.map(|event| Slot {
            event,
            whose: Some(Whose::Started),
            open: None,
            rehearsal: Count::default(),
            outcome: Err(io::Error::other(ONLY_BESIDE_CYCLES)),
        }))
    }
}

impl Slot {
    /// Whatever is refused to this user is tried without the kernel's part, and what is lacking
    /// is not tried again.
    fn open(&mut self) {
        while let Some(whose) = self.whose {
            match Counter::open(self.event, whose) {
                Ok(counter) => {
                    self.open = Some(counter);
                    return;
                }
                Err(error)
                    if whose == Whose::Started
                        && error.kind() == io::ErrorKind::PermissionDenied =>
                {
                    self.whose = Some(Whose::StartedInUserMode);
                }
                Err(error) => {
                    self.whose = None;
                    self.outcome = Err(error);
                }
            }
        }
    }

    fn note_rehearsal(&mut self) {
        if let Some(counter) = &self.open {
            self.rehearsal = counter.read().unwrap_or_default();
        }
    }

    fn close(&mut self) {
        if let Some(counter) = self.open.take() {
            self.outcome = counter.read().map(|count| count.since(self.rehearsal));
        }
    }
}

impl Sampler for PerformanceCounters {
    fn capture(&mut self, moment: Moment) {
        for index in 0..self.0.len() {
            let is_of_use = index < FIRST_OF_KERNEL || self.0[CYCLES].open.is_some();
            match moment {
                Moment::Before if is_of_use => self.0[index].open(),
                Moment::Before => {}
                Moment::After => self.0[index].close(),
            }
        }
    }

    fn rehearsed(&mut self) {
        for slot in &mut self.0 {
            slot.note_rehearsal();
        }
    }

    fn decode(&self) -> Vec<Evidence> {
        decode(self.0.each_ref().map(|slot| Counted {
            user_mode_only: slot.whose == Some(Whose::StartedInUserMode),
            count: slot.outcome.as_ref().map_err(reason).copied(),
        }))
    }
}

fn reason(error: &io::Error) -> String {
    match error.raw_os_error() {
        // ENOENT, EOPNOTSUPP, ENODEV.
        Some(2 | 95 | 19) => {
            "the processor, or the hypervisor beneath, has no such counter".to_owned()
        }
        // EPERM, EACCES, ENOSYS.
        Some(1 | 13 | 38) => "counting is forbidden here (kernel.perf_event_paranoid above 2, or \
                              a container's filter)"
            .to_owned(),
        _ => format!("it could not be counted: {error}"),
    }
}
