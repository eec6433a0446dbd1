//! The course of an experiment so far: its attempts, and what they say of runs and blocks.
//!
//! A fold over the attempts in the order of execution, kept up to date one attempt at a time so
//! that long experiments do not slow down. Knows no plan.

use std::collections::HashMap;

use knobstat_data::observation::{Attempt, Outcome};
use knobstat_data::words::{AttemptId, RunId};

/// Every attempt so far, in the order of execution, and where sessions began among them.
#[derive(Clone, Debug, Default)]
pub struct Course {
    attempts: Vec<Attempt>,
    runs: HashMap<RunId, RunSoFar>,
    blocks: HashMap<usize, BlockSoFar>,
    first_failed: Option<AttemptId>,
    failed: usize,
    finished: u64,
    end_of_blocks: usize,
    sessions: usize,
}

/// What is known of one run.
#[derive(Clone, Debug, Default)]
struct RunSoFar {
    attempts: u32,
    finished: bool,
    /// The session of the last attempt that was not interrupted.
    finished_in: Option<usize>,
}

/// What is known of one block.
#[derive(Clone, Copy, Debug, Default)]
struct BlockSoFar {
    finished_measured_runs: usize,
    tainted: bool,
}

impl Course {
    /// The course of attempts that were all made in earlier sessions.
    pub fn of(attempts: impl IntoIterator<Item = Attempt>) -> Self {
        let mut course = Self::default();
        for attempt in attempts {
            course.record(attempt);
        }
        course.begin_session();
        course
    }

    /// From here on attempts belong to a new session.
    pub fn begin_session(&mut self) {
        self.sessions += 1;
    }

    /// Adds an attempt that was made in the session under way.
    pub fn record(&mut self, attempt: Attempt) {
        let run = self.runs.entry(attempt.run.clone()).or_default();
        run.attempts += 1;
        self.end_of_blocks = self.end_of_blocks.max(attempt.block.saturating_add(1));
        let block = self.blocks.entry(attempt.block).or_default();
        if attempt.result.outcome != Outcome::Interrupted {
            self.finished += 1;
            run.finished_in = Some(self.sessions);
            let first = !run.finished;
            run.finished = true;
            if first && attempt.warmup.is_none() {
                block.finished_measured_runs += 1;
                block.tainted |= matches!(attempt.result.outcome, Outcome::Tainted(_));
            }
        }
        if matches!(attempt.result.outcome, Outcome::Failed(_)) {
            self.failed += usize::from(attempt.warmup.is_none());
            self.first_failed.get_or_insert_with(|| attempt.id.clone());
        }
        self.attempts.push(attempt);
    }

    /// The attempts, in the order of execution.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// The attempts, given away.
    pub fn into_attempts(self) -> Vec<Attempt> {
        self.attempts
    }

    /// How many attempts were not interrupted.
    pub fn finished(&self) -> u64 {
        self.finished
    }

    /// The first attempt that failed.
    pub fn first_failed(&self) -> Option<&AttemptId> {
        self.first_failed.as_ref()
    }

    /// How many attempts failed, those that only warm up left out: the report counts the same.
    pub fn failed(&self) -> usize {
        self.failed
    }

    /// How many attempts at a run were made.
    pub(super) fn attempts_at(&self, run: &RunId) -> u32 {
        self.runs.get(run).map_or(0, |run| run.attempts)
    }

    /// Whether an attempt at a run was not interrupted.
    pub(super) fn is_finished(&self, run: &RunId) -> bool {
        self.runs.get(run).is_some_and(|run| run.finished)
    }

    /// Whether an attempt at a run, made in the session under way, was not interrupted.
    pub(super) fn is_finished_in_session(&self, run: &RunId) -> bool {
        self.runs
            .get(run)
            .is_some_and(|run| run.finished_in == Some(self.sessions))
    }

    /// Whether anything of a block was attempted.
    pub(super) fn has_begun(&self, block: usize) -> bool {
        self.blocks.contains_key(&block)
    }

    /// The index after that of the last block of which anything was attempted.
    pub(super) fn end_of_blocks(&self) -> usize {
        self.end_of_blocks
    }

    /// How many measured runs of a block are finished.
    pub(super) fn finished_measured_runs(&self, block: usize) -> usize {
        self.blocks
            .get(&block)
            .map_or(0, |block| block.finished_measured_runs)
    }

    /// Whether a measured run of a block was tainted.
    pub(super) fn is_tainted(&self, block: usize) -> bool {
        self.blocks.get(&block).is_some_and(|block| block.tainted)
    }
}
