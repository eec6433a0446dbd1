//! The loop: takes the machine, does step after step, makes each attempt durable before the next
//! begins, and puts everything back however it ends.

mod boots;

use std::time::Duration;

use knobstat_data::messages::{Refusal, RefusalKind, Restoration};
use knobstat_data::observation::{Attempt, Failure, Outcome, RunResult};
use knobstat_data::words::{AttemptId, RunId, UnixTime};

use super::boot_trials::BootTrials;
use super::conversation::{Answer, Conversation};
use super::ended::{Ended, Finish};
use super::error::EngineError;
use super::estimate::Pace;
use super::next::{Cell, Schedule, SessionState, Step, next, remaining, remaining_boots};
use super::prepare::Prepared;
use super::progress::{Progress, RunBegins};
use super::sound::sound;
use super::specify;
use super::world::World;
use crate::store::Store;
use crate::target::{Interrupt, TargetError};

/// SIGTERM: what is reported when the other side ended a run and no signal reached this one.
const TERMINATED: i32 = 15;

/// What an experiment is carried out with.
pub struct Means<'m> {
    /// Where attempts go.
    pub store: &'m mut Store,
    /// Who is told.
    pub progress: &'m mut dyn Progress,
    /// Who asks for an end.
    pub interrupt: &'m dyn Interrupt,
    /// Time and chance.
    pub world: &'m mut dyn World,
    /// Judges, where the design has a stop rule, whether these attempts are enough.
    pub enough: &'m dyn Fn(&[Attempt]) -> bool,
}

impl Prepared<'_> {
    /// Carries the experiment out from where it stands. Whatever happens, everything is put
    /// back before this returns.
    pub fn drive(self, means: Means) -> Ended {
        let pace = Pace::of(self.course.attempts());
        let mut drive = Drive {
            prepared: self,
            store: means.store,
            progress: means.progress,
            interrupt: means.interrupt,
            world: means.world,
            session: None,
            state: SessionState::default(),
            changed: false,
            pace,
            boots: BootTrials::default(),
            notes: Vec::new(),
            failed_steps: 0,
            restoration: Restoration::default(),
        };
        let mut result = drive.go_on(means.enough);
        let mut restore_error = None;
        if let Err(error) = drive.end_session() {
            match result {
                Ok(_) => result = Err(error),
                Err(_) => restore_error = Some(error),
            }
        }
        if matches!(result, Ok(Finish::Complete { .. } | Finish::Stopped { .. }))
            && let Err(error) = drive.end_boots()
        {
            restore_error = Some(error);
        }
        let Drive {
            prepared,
            restoration,
            progress,
            ..
        } = drive;
        progress.restored(&restoration);
        let mut record = prepared.record;
        record.attempts = prepared.course.into_attempts();
        Ended {
            record,
            result,
            restoration,
            restore_error,
        }
    }
}

struct Drive<'m, 't> {
    prepared: Prepared<'t>,
    store: &'m mut Store,
    progress: &'m mut dyn Progress,
    interrupt: &'m dyn Interrupt,
    world: &'m mut dyn World,
    /// The session under way; it has begun.
    session: Option<Conversation>,
    state: SessionState,
    /// Whether a knob was changed since the last run.
    changed: bool,
    pace: Pace,
    boots: BootTrials,
    /// What is told with the next attempt.
    notes: Vec<String>,
    failed_steps: usize,
    restoration: Restoration,
}

/// Whether the loop goes on.
enum Then {
    GoOn,
    End(Finish),
}

impl Drive<'_, '_> {
    fn go_on(&mut self, enough: &dyn Fn(&[Attempt]) -> bool) -> Result<Finish, EngineError> {
        // The plan does not change any more; a copy of it lets everything else change.
        let plan = self.prepared.record.plan.clone();
        let experiment = self.prepared.record.experiment.clone();
        let schedule = Schedule::of(&experiment, &plan, self.prepared.target.reboots(), enough);
        loop {
            if let Some(signal) = self.interrupt.signal() {
                return Ok(Finish::Interrupted { signal });
            }
            let step = next(&schedule, &self.prepared.course, &self.state);
            let then = match self.take(&schedule, &step) {
                Err(EngineError::Target(TargetError::Boot(reason))) => self.lost(&step, &reason)?,
                Err(EngineError::Target(TargetError::Interrupted)) => {
                    self.session = None;
                    self.over()
                }
                // A signal came while something else than a run was answered: the other side was
                // asked to end, and its last word is still to be heard.
                Err(EngineError::Target(TargetError::Gone { .. }))
                    if self.interrupt.signal().is_some() =>
                {
                    self.over()
                }
                then => then?,
            };
            if let Then::End(finish) = then {
                return Ok(finish);
            }
        }
    }

    fn take(&mut self, schedule: &Schedule, step: &Step) -> Result<Then, EngineError> {
        Ok(match step {
            Step::Open { key, settings } => self.open(schedule, *key, settings)?,
            Step::SetUp(cell) => self.set_up(cell)?,
            Step::Run(cell) => self.run(schedule, cell)?,
            Step::TearDown { treatment } => self.tear_down(*treatment)?,
            Step::Done => {
                self.finish()?;
                Then::End(Finish::Complete {
                    failed_runs: self.prepared.course.failed(),
                    failed_steps: self.failed_steps,
                })
            }
            Step::Stopped { failed } => {
                self.finish()?;
                Then::End(Finish::Stopped {
                    failed: failed.clone(),
                })
            }
        })
    }

    /// Does the step before the first run of a treatment. Where it fails the run has failed.
    fn set_up(&mut self, cell: &Cell) -> Result<Then, EngineError> {
        let begun = self.world.now();
        if let Some(then) = self.apply(cell, begun)? {
            return Ok(then);
        }
        let spec = self.spec(&cell.run.id, cell.run.treatment)?;
        match self.conversation()?.set_up(spec)? {
            Answer::Done(()) => {
                self.state.set_up.push(cell.run.treatment);
                Ok(Then::GoOn)
            }
            Answer::Refused(refusal) => self.failed_before(cell, begun, "setup", refusal),
            Answer::Over => Ok(self.over()),
        }
    }

    fn run(&mut self, schedule: &Schedule, cell: &Cell) -> Result<Then, EngineError> {
        self.tell_of(schedule, cell);
        let (begun, clock) = (self.world.now(), self.world.elapsed());
        if let Some(then) = self.apply(cell, begun)? {
            return Ok(then);
        }
        let spec = self.spec(&cell.run.id, cell.run.treatment)?;
        let result = match self.conversation()?.run(spec)? {
            Answer::Done(result) => sound(result),
            Answer::Refused(refusal) => return self.failed_before(cell, begun, "run", refusal),
            Answer::Over => return Ok(self.over()),
        };
        self.changed = false;
        let is_interrupted = result.outcome == Outcome::Interrupted;
        self.commit(cell, begun, result)?;
        if is_interrupted {
            return Ok(self.over());
        }
        let took = self.world.elapsed().saturating_sub(clock);
        self.pace.saw(cell.run.treatment, took);
        Ok(Then::GoOn)
    }

    /// Turns the knobs for a run. A knob that cannot be turned makes the run a failed one, and
    /// the loop goes on with the next step.
    fn apply(&mut self, cell: &Cell, begun: UnixTime) -> Result<Option<Then>, EngineError> {
        let planned = &self.prepared.record.plan.treatments[cell.run.treatment];
        let settings = specify::turnable(&self.prepared.record.experiment, &planned.treatment);
        if settings.is_empty() {
            return Ok(None);
        }
        match self.conversation()?.apply(settings)? {
            Answer::Done(changed) => {
                self.changed |= changed;
                Ok(None)
            }
            Answer::Refused(refusal) => self.failed_before(cell, begun, "apply", refusal).map(Some),
            Answer::Over => Ok(Some(self.over())),
        }
    }

    fn tear_down(&mut self, treatment: usize) -> Result<Then, EngineError> {
        self.state.set_up.retain(|&other| other != treatment);
        let plan = &self.prepared.record.plan;
        let run = RunId::of(&plan.experiment, 0, 0, treatment, None);
        let spec = self.spec(&run, treatment)?;
        match self.conversation()?.tear_down(spec)? {
            Answer::Done(()) => Ok(Then::GoOn),
            Answer::Refused(refusal) if is_of_the_run(refusal.kind) => {
                self.failed_steps += 1;
                let treatment = &self.prepared.record.plan.treatments[treatment].treatment;
                self.progress.warning(&format!(
                    "the teardown of {treatment} failed: {}; {}",
                    refusal.cause, refusal.remedy
                ));
                Ok(Then::GoOn)
            }
            Answer::Refused(refusal) => Err(EngineError::Refused(refusal)),
            Answer::Over => Ok(self.over()),
        }
    }

    /// A run that was refused before it was executed has failed, where the reason lies with it.
    fn failed_before(
        &mut self,
        cell: &Cell,
        begun: UnixTime,
        step: &str,
        refusal: Refusal,
    ) -> Result<Then, EngineError> {
        if !is_of_the_run(refusal.kind) {
            return Err(EngineError::Refused(refusal));
        }
        let reason = format!("{}; {}", refusal.cause, refusal.remedy);
        let failure = match refusal.kind {
            RefusalKind::Setting => Failure::Knob {
                knob: self.knobs_of(cell),
                reason,
            },
            RefusalKind::Missing | RefusalKind::NotExecutable => Failure::Start { reason },
            _ => Failure::Step {
                step: step.to_owned(),
                reason,
            },
        };
        self.commit(cell, begun, RunResult::bare(Outcome::Failed(failure)))?;
        Ok(Then::GoOn)
    }

    /// The settings that a run wants, for naming them.
    fn knobs_of(&self, cell: &Cell) -> String {
        let planned = &self.prepared.record.plan.treatments[cell.run.treatment];
        specify::turnable(&self.prepared.record.experiment, &planned.treatment)
            .iter()
            .map(|setting| setting.factor.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Makes an attempt durable, and only then part of the course.
    fn commit(
        &mut self,
        cell: &Cell,
        begun: UnixTime,
        mut result: RunResult,
    ) -> Result<(), EngineError> {
        result.notes.append(&mut self.prepared.changes);
        result.notes.append(&mut self.notes);
        let bits = self.world.random().map_err(EngineError::Random)?;
        let last = self.prepared.course.attempts().last();
        let attempt = Attempt {
            id: AttemptId::from_random(bits),
            run: cell.run.id.clone(),
            block: cell.run.block,
            boot: cell.run.boot,
            treatment: cell.run.treatment,
            warmup: cell.run.warmup,
            sequence: last.map_or(0, |last| last.sequence.saturating_add(1)),
            started: begun,
            finished: self.world.now(),
            result,
        };
        self.store
            .commit_attempt(&self.prepared.record.id, &attempt)?;
        let treatment = &self.prepared.record.plan.treatments[attempt.treatment].treatment;
        self.progress.run_ended(treatment, &attempt);
        self.prepared.course.record(attempt);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), EngineError> {
        let now = self.world.now();
        self.store.finish(&self.prepared.record.id, now)?;
        self.prepared.record.finished = Some(now);
        Ok(())
    }

    /// Puts everything back, where a session has begun.
    fn end_session(&mut self) -> Result<(), EngineError> {
        let Some(session) = self.session.take() else {
            return Ok(());
        };
        let restoration = session.restore()?;
        self.restoration.put_back.extend(restoration.put_back);
        self.restoration.left_alone.extend(restoration.left_alone);
        self.restoration.failed.extend(restoration.failed);
        Ok(())
    }

    /// The other side has ended the session.
    fn over(&self) -> Then {
        Then::End(Finish::Interrupted {
            signal: self.interrupt.signal().unwrap_or(TERMINATED),
        })
    }

    fn spec(
        &self,
        run: &RunId,
        treatment: usize,
    ) -> Result<knobstat_data::messages::RunSpec, EngineError> {
        let record = &self.prepared.record;
        let treatment = &record.plan.treatments[treatment].treatment;
        specify::run_spec(&record.experiment, run, treatment, self.changed)
    }

    fn conversation(&mut self) -> Result<&mut Conversation, EngineError> {
        self.session.as_mut().ok_or(EngineError::Unexpected {
            asked: "go on",
            answered: "no session".to_owned(),
        })
    }

    fn tell_of(&mut self, schedule: &Schedule, cell: &Cell) {
        let remaining = remaining(schedule, &self.prepared.course);
        let finished = self.prepared.course.finished();
        let planned = &self.prepared.record.plan.treatments[cell.run.treatment];
        let boots = remaining_boots(schedule, &self.prepared.course, &self.state);
        let left: Option<Duration> = self.pace.left(&remaining, boots);
        self.progress.run_begins(&RunBegins {
            number: finished + 1,
            of: finished + remaining.values().sum::<u64>(),
            at_most: schedule.stop.is_some(),
            treatment: &planned.treatment,
            block: cell.run.block,
            warmup: cell.run.warmup,
            attempt: cell.attempt,
            why: cell.why,
            left,
        });
    }
}

/// Whether a refusal concerns the run alone, so that the experiment goes on.
fn is_of_the_run(kind: RefusalKind) -> bool {
    match kind {
        RefusalKind::Setting
        | RefusalKind::Step
        | RefusalKind::Missing
        | RefusalKind::NotExecutable => true,
        RefusalKind::Request
        | RefusalKind::Restore
        | RefusalKind::Busy
        | RefusalKind::Disk
        | RefusalKind::Protocol
        | RefusalKind::Unguarded => false,
    }
}
