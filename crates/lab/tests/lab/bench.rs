//! A store and a machine in memory on which the program is started.

use knobstat_data::Experiment;
use knobstat_data::observation::{Attempt, Outcome};
use knobstat_data::words::RunId;
use knobstat_lab::engine::{
    Assignment, Ended, EngineError, Finish, Means, Progress, Silent, prepare,
};
use knobstat_lab::store::Store;

use crate::fake::{Act, FakeTarget, FakeWorld};

/// A store, a machine, and how often the program was started on them.
pub struct Bench {
    directory: tempfile::TempDir,
    pub target: FakeTarget,
    starts: u64,
}

impl Bench {
    pub fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            target: FakeTarget::default(),
            starts: 0,
        }
    }

    pub fn store(&self) -> Store {
        Store::open(&self.directory.path().join("store.db"), None).unwrap()
    }

    pub fn script(&self, acts: impl IntoIterator<Item = Act>) {
        self.target.machine.borrow_mut().script = acts.into_iter().collect();
    }

    /// Starts the program on an experiment.
    pub fn start(&mut self, experiment: &Experiment) -> Result<Ended, EngineError> {
        self.start_told(experiment, &mut Silent)
    }

    pub fn start_told(
        &mut self,
        experiment: &Experiment,
        progress: &mut dyn Progress,
    ) -> Result<Ended, EngineError> {
        self.starts += 1;
        let mut world = FakeWorld::new(self.starts);
        let mut store = self.store();
        let signal = self.target.signal.clone();
        let prepared = prepare(
            assignment(experiment),
            &mut self.target,
            Some(&store),
            &mut world,
        )?;
        Ok(prepared.drive(Means {
            store: &mut store,
            progress,
            interrupt: &signal,
            world: &mut world,
            enough: &|_| false,
        }))
    }

    pub fn log(&self) -> Vec<String> {
        self.target.machine.borrow().log.clone()
    }
}

/// What is asked for when nothing special is.
pub fn assignment(experiment: &Experiment) -> Assignment {
    Assignment {
        experiment: experiment.clone(),
        source: "the file".to_owned(),
        anew: false,
        overwrite_others: false,
    }
}

/// A run that ends so.
pub fn end(outcome: Outcome) -> Act {
    Act::End(outcome)
}

/// The end of an experiment in which nothing failed.
pub fn complete() -> Finish {
    Finish::Complete {
        failed_runs: 0,
        failed_steps: 0,
    }
}

/// The measured runs that were finished, in the order of execution.
pub fn finished(attempts: &[Attempt]) -> Vec<RunId> {
    attempts
        .iter()
        .filter(|attempt| {
            attempt.warmup.is_none() && attempt.result.outcome != Outcome::Interrupted
        })
        .map(|attempt| attempt.run.clone())
        .collect()
}
