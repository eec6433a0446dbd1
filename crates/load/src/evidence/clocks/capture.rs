//! Reads the clocks at one moment by the stopwatch, and finds the step of each once for every
//! clock source that comes to be in force.

use std::collections::BTreeMap;
use std::time::Duration;

use knobstat_sys::clock::{self, Clock, ClockReadings, Reading, Stopwatch};
use knobstat_sys::root::Root;

/// The kernel's clocks, and the stopwatch just before and just after.
#[derive(Clone, Copy, Debug)]
pub struct Sighting {
    /// The stopwatch before.
    pub before: Reading,
    /// The clocks.
    pub clocks: ClockReadings,
    /// The stopwatch after.
    pub after: Reading,
}

impl Sighting {
    /// The clocks now.
    #[inline]
    pub fn now(stopwatch: &Stopwatch) -> Self {
        let before = stopwatch.read();
        let clocks = ClockReadings::now();
        Self {
            before,
            clocks,
            after: stopwatch.read(),
        }
    }
}

const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// So many readings without a step and the clock is taken to stand still: 100 ms and more.
const READINGS: u32 = 5_000_000;

/// The steps of the kernel's clock by the clock source in force.
pub struct Steps {
    root: Root,
    known: BTreeMap<String, Option<Duration>>,
}

impl Steps {
    /// None is known yet.
    pub fn new() -> Self {
        Self {
            root: Root::real(),
            known: BTreeMap::new(),
        }
    }

    /// The step of CLOCK_MONOTONIC_RAW under the clock source in force; none where it stands
    /// still. The first time that a source is met, the clock is read over and over, which takes
    /// 100 ms where it steps by the tick: never to be called in the timed window.
    pub fn present(&mut self) -> Option<Duration> {
        let source = self.root.read(CURRENT).unwrap_or_default();
        *self
            .known
            .entry(source)
            .or_insert_with(|| clock::observed_step(Clock::MonotonicRaw, READINGS))
    }
}

impl Default for Steps {
    fn default() -> Self {
        Self::new()
    }
}
