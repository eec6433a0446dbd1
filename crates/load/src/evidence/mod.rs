//! What else was seen around a run.
//!
//! A sampler captures raw bytes into buffers made beforehand, just before and just after the
//! timed window, never within; and decodes them afterwards, which is pure. What a machine lacks
//! is a reason, not a gap.

mod capture;
pub mod clocks;
pub mod companions;
pub mod control_group;
mod counters;
mod energy;
mod frequency;
pub mod harness;
mod idle;
mod interrupts;
pub mod leader;
mod numbered;
mod pressure;
mod processors;
mod softirqs;
mod thermometer;
mod throttling;
pub mod usage;

use knobstat_data::{Evidence, Unit};

pub(crate) use energy::Energy;
pub use thermometer::Thermometer;

/// Which side of the timed window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Just before the process is started.
    Before,
    /// Just after it was reaped.
    After,
}

/// Something that is read on both sides of the timed window.
pub trait Sampler {
    /// Reads into buffers made beforehand.
    fn capture(&mut self, moment: Moment);

    /// The start was rehearsed since [`Moment::Before`]: what that left in counts that started
    /// processes inherit is not the run's.
    fn rehearsed(&mut self) {}

    /// What lies between the two captures.
    fn decode(&self) -> Vec<Evidence>;
}

/// Every sampler of the machine as a whole. Its counters are always the real machine's.
pub struct Samplers(Vec<Box<dyn Sampler>>);

impl Samplers {
    /// Opens whatever this machine has.
    pub fn new() -> Self {
        Self(vec![
            Box::new(processors::Processors::new()),
            Box::new(interrupts::Interrupts::new()),
            Box::new(softirqs::SoftInterrupts::new()),
            Box::new(idle::Idle::new()),
            Box::new(pressure::Pressure::new()),
            Box::new(throttling::Throttling::new()),
            Box::new(energy::Energy::new()),
            Box::new(frequency::Frequency::new()),
            // Last, so that what is opened for a run is opened just before it.
            Box::new(counters::PerformanceCounters::new()),
        ])
    }

    /// One more, captured before the others.
    pub fn add(&mut self, sampler: impl Sampler + 'static) {
        self.0.insert(0, Box::new(sampler));
    }

    /// Captures all of them.
    pub fn capture(&mut self, moment: Moment) {
        for sampler in &mut self.0 {
            sampler.capture(moment);
        }
    }

    /// Tells all of them that the start was rehearsed.
    pub fn rehearsed(&mut self) {
        for sampler in &mut self.0 {
            sampler.rehearsed();
        }
    }

    /// Decodes all of them.
    pub fn decode(&self) -> Vec<Evidence> {
        self.0.iter().flat_map(|sampler| sampler.decode()).collect()
    }
}

impl Default for Samplers {
    fn default() -> Self {
        Self::new()
    }
}

/// One piece of evidence.
pub(crate) fn evidence(
    key: impl Into<String>,
    scope: impl Into<String>,
    unit: Unit,
    value: Result<f64, String>,
) -> Evidence {
    Evidence {
        key: key.into(),
        scope: scope.into(),
        unit,
        value,
    }
}

/// Two texts that are a count each.
fn counts(texts: Result<(&str, &str), String>) -> Result<(u64, u64), String> {
    let (before, after) = texts?;
    let number = |text: &str| {
        let text = text.trim();
        text.parse().map_err(|_| format!("\"{text}\" is no count"))
    };
    Ok((number(before)?, number(after)?))
}

/// The growth of a counter; a counter that went back was reset, and says nothing.
fn growth(before: u64, after: u64) -> Result<f64, String> {
    after
        .checked_sub(before)
        .map(|growth| growth as f64)
        .ok_or_else(|| "the counter went back: it was reset meanwhile".to_owned())
}

/// The same in seconds, for a counter of so many to the second.
fn seconds(before: u64, after: u64, per_second: f64) -> Result<f64, String> {
    growth(before, after).map(|ticks| ticks / per_second)
}
