//! A machine that runs one experiment after the other: its file, and how many runs it has done.

use crate::disturbance::Course;
use crate::machine::{Disturbance, MachineFile};
use crate::random::Random;

/// A simulated machine over all its boots.
///
/// Every run has random numbers of its own, by the machine's seed and the run's place in the order
/// of execution: the same runs in the same order are the same runs.
#[derive(Clone, Debug)]
pub struct Simulator {
    machine: MachineFile,
    /// The text of the machine file: what the machine is told apart by.
    source: String,
    course: Course,
}

impl Simulator {
    /// A machine that has done nothing yet. `source` is the text that the machine was read from.
    pub fn new(machine: MachineFile, source: impl Into<String>) -> Self {
        Self {
            machine,
            source: source.into(),
            course: Course::default(),
        }
    }

    /// The same machine with nothing that goes wrong from run to run: what is true of it.
    pub fn undisturbed(&self) -> Self {
        Self {
            machine: MachineFile {
                disturbance: Disturbance::default(),
                ..self.machine.clone()
            },
            source: self.source.clone(),
            course: Course::default(),
        }
    }

    /// The machine.
    pub fn machine(&self) -> &MachineFile {
        &self.machine
    }

    /// The text that it was read from.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Goes on as if so many runs had been done already: those of an experiment that is continued.
    pub fn skip(&mut self, runs: u64) {
        for _ in 0..runs {
            self.next_run();
        }
    }

    /// The next run: how much longer it is than an undisturbed one, and its random numbers.
    pub(crate) fn next_run(&mut self) -> (f64, Random) {
        let mut random = Random::of_run(self.machine.seed, self.course.place());
        let factor = self.course.next(&self.machine.disturbance, &mut random);
        (factor, random)
    }
}
