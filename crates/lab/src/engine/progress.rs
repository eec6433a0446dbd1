//! What an onlooker is told, always between runs and never during one.

use std::time::Duration;

use knobstat_data::Record;
use knobstat_data::messages::Restoration;
use knobstat_data::observation::Attempt;
use knobstat_data::words::{Setting, Treatment};

use super::next::Why;

/// Somebody who is told how an experiment goes. While a run is under way nothing is told, and
/// nothing that was told may still be moving: an animation would wake the core that the run
/// needs idle.
pub trait Progress {
    /// The machine is taken; what was found left behind was put back.
    fn begun(&mut self, record: &Record, put_back: &[String]) {
        let _ = (record, put_back);
    }

    /// A session is about to be opened, on a boot with these settings: that may take a while.
    fn opens(&mut self, settings: &[Setting]) {
        let _ = settings;
    }

    /// A run is about to begin.
    fn run_begins(&mut self, run: &RunBegins) {
        let _ = run;
    }

    /// A run ended and is in the store.
    fn run_ended(&mut self, treatment: &Treatment, attempt: &Attempt) {
        let _ = (treatment, attempt);
    }

    /// Something that the user should know of, in one sentence.
    fn warning(&mut self, sentence: &str) {
        let _ = sentence;
    }

    /// The settings were put back.
    fn restored(&mut self, restoration: &Restoration) {
        let _ = restoration;
    }
}

/// A run that is about to begin.
#[derive(Clone, Debug, PartialEq)]
pub struct RunBegins<'a> {
    /// Its number, from 1, warm-up runs included.
    pub number: u64,
    /// How many there will be, as far as it is known.
    pub of: u64,
    /// Whether a stop rule may be content earlier, so that there will be at most so many.
    pub at_most: bool,
    /// Its treatment.
    pub treatment: &'a Treatment,
    /// The index of its block.
    pub block: usize,
    /// The index of a warm-up run.
    pub warmup: Option<u32>,
    /// Which attempt at it this is, from 1.
    pub attempt: u32,
    /// Why it is executed.
    pub why: Why,
    /// How long this run and those after it will take, from those seen so far.
    pub left: Option<Duration>,
}

/// Tells nobody.
pub struct Silent;

impl Progress for Silent {}
