//! The loop: takes the machine, does step after step, makes each attempt durable before the next
//! begins, and puts everything back however it ends.

use std::time::Duration;

use knobstat_data::Record;
use knobstat_data::messages::{Begin, BootName, Refusal, RefusalKind, Restoration};
use knobstat_data::observation::{Attempt, BOOT_NOTE, Failure, Outcome, RunResult};
use knobstat_data::words::{AttemptId, RunId, Setting, UnixTime};

use super::boot_trials::{BootTrials, MOST_TRIES};
use super::cells::Cells;
use super::conversation::{Answer, Conversation};
use super::error::EngineError;
use super::estimate::Pace;
use super::next::{
    BootKey, Cell, Schedule, SessionState, Step, next, remaining, remaining_boots, runs_of,
};
use super::prepare::{Prepared, describe};
use super::progress::{Progress, RunBegins};
use super::sound::sound;
use super::specify;
use super::world::World;
use crate::store::Store;
use crate::target::{Interrupt, Opened, TargetError};

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

/// How an experiment ended, this time.
#[derive(Debug)]
pub struct Ended {
    /// The record as it stands.
    pub record: Record,
    /// How it ended, or what it was broken off by.
    pub result: Result<Finish, EngineError>,
    /// What became of the settings, over all sessions.
    pub restoration: Restoration,
    /// Why putting back could not be followed to its end, where the experiment had ended by
    /// another error already.
    pub restore_error: Option<EngineError>,
}

/// How an experiment ended where nothing went wrong with the carrying out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Everything was done.
    Complete {
        /// How many attempts failed.
        failed_runs: usize,
        /// How many steps after the last run of a treatment failed.
        failed_steps: usize,
    },
    /// A run failed, and the experiment asked to stop then.
    Stopped {
        /// The attempt that failed.
        failed: AttemptId,
    },
    /// A signal asked for an end; the same request continues.
    Interrupted {
        /// The signal's number.
        signal: i32,
    },
    /// The machine is rebooting; the same request continues.
    Suspended,
}

impl Ended {
    /// The exit code of the program.
    pub fn exit_code(&self) -> u8 {
        if !self.restoration.failed.is_empty() || self.restore_error.is_some() {
            return 3;
        }
        match &self.result {
            Ok(finish) => finish.exit_code(),
            Err(error) => error.exit_code(),
        }
    }
}

impl Finish {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Complete {
                failed_runs: 0,
                failed_steps: 0,
            }
            | Self::Suspended => 0,
            Self::Complete { .. } | Self::Stopped { .. } => 1,
            Self::Interrupted { signal } => {
                u8::try_from(*signal).map_or(u8::MAX, |signal| signal.saturating_add(128))
            }
        }
    }
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

    /// Opens a session and takes the machine. A boot that does not come up is tried again, and
    /// then its runs have failed and the others go on.
    fn open(
        &mut self,
        schedule: &Schedule,
        key: BootKey,
        settings: &[Setting],
    ) -> Result<Then, EngineError> {
        self.end_session()?;
        self.state = SessionState::default();
        let tries = self.boots.tries(settings);
        for attempt in 1..=tries {
            if self.interrupt.signal().is_some() {
                return Ok(self.over());
            }
            match self.begin(key, settings) {
                Ok(Some(then)) => return Ok(then),
                Ok(None) => break,
                Err(EngineError::Target(TargetError::Boot(reason))) => {
                    self.session = None;
                    let what = boot_in_words(settings);
                    self.note(format!(
                        "attempt {attempt} of {tries} with {what} failed: {reason}"
                    ));
                    if attempt == tries {
                        return self.boot_failed(schedule, key, settings, reason);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        self.prepared.course.begin_session();
        self.state.boot = Some(key);
        self.changed = false;
        Ok(Then::GoOn)
    }

    /// Opens a session and takes the machine, once. The end, where that is one.
    fn begin(&mut self, key: BootKey, settings: &[Setting]) -> Result<Option<Then>, EngineError> {
        // The session that described the machine will do where the machine is wanted as it is.
        let describing = self.prepared.session.take();
        let mut session = match (describing, key) {
            (Some(session), BootKey::AsItIs) => session,
            (describing, _) => {
                drop(describing);
                self.progress.opens(settings);
                match self.open_target(key, settings)? {
                    Opened::Suspended => return Ok(Some(Then::End(Finish::Suspended))),
                    Opened::Session(session) => {
                        let mut session = Conversation::new(session);
                        session.describe(describe(
                            &self.prepared.record.experiment,
                            &Cells::default(),
                        )?)?;
                        session
                    }
                }
            }
        };
        let put_back = session.begin(Begin {
            experiment: self.prepared.record.id.clone(),
            overwrite_others: self.prepared.assignment.overwrite_others,
        })?;
        self.session = Some(session);
        self.make_known()?;
        if let Some(took) = self.prepared.target.boot_takes() {
            self.pace.saw_boot(took);
        }
        self.progress.begun(&self.prepared.record, &put_back);
        for change in &self.prepared.changes {
            self.progress.warning(change);
        }
        Ok(None)
    }

    /// A boot came up in none of its tries: each of its runs that was to be done has failed.
    fn boot_failed(
        &mut self,
        schedule: &Schedule,
        key: BootKey,
        settings: &[Setting],
        reason: String,
    ) -> Result<Then, EngineError> {
        let cells = runs_of(schedule, &self.prepared.course, key);
        if cells.is_empty() {
            return Err(EngineError::Target(TargetError::Boot(reason)));
        }
        self.make_known()?;
        self.boots.never_came_up(settings);
        for cell in cells {
            let begun = self.world.now();
            let failure = Failure::Boot {
                reason: reason.clone(),
            };
            self.commit(&cell, begun, RunResult::bare(Outcome::Failed(failure)))?;
        }
        Ok(Then::GoOn)
    }

    /// Asks the target for a boot. An experiment that the machine reboots for is in the store by
    /// then: what goes on after the reboot is found there.
    fn open_target(&mut self, key: BootKey, settings: &[Setting]) -> Result<Opened, EngineError> {
        let BootKey::Own { block, boot } = key else {
            return Ok(self.prepared.target.open(settings)?);
        };
        self.make_known()?;
        let name = BootName {
            experiment: self.prepared.record.id.clone(),
            block,
            boot,
        };
        Ok(self.prepared.target.open_boot(&name, settings)?)
    }

    /// Puts the experiment into the store, where it is not in there yet.
    fn make_known(&mut self) -> Result<(), EngineError> {
        if !self.prepared.is_known {
            self.store.create(&self.prepared.record)?;
            self.prepared.is_known = true;
        }
        Ok(())
    }

    /// Leaves the machine to boot by itself again, once nothing is left to do.
    fn end_boots(&mut self) -> Result<(), EngineError> {
        // A session that only described the machine holds on to it.
        self.prepared.session = None;
        let sentences = self.prepared.target.end_boots()?;
        self.restoration.put_back.extend(sentences);
        Ok(())
    }

    /// The machine went away in the middle of a boot. What it did then is attempted again in
    /// another; a run that takes the machine with it every time has failed.
    fn lost(&mut self, step: &Step, reason: &str) -> Result<Then, EngineError> {
        self.session = None;
        self.state = SessionState::default();
        let (Step::Run(cell) | Step::SetUp(cell)) = step else {
            self.note(format!("the machine went away between runs: {reason}"));
            return if self.boots.is_lost_too_often() {
                Err(EngineError::Target(TargetError::Boot(reason.to_owned())))
            } else {
                Ok(Then::GoOn)
            };
        };
        let begun = self.world.now();
        let outcome = if cell.attempt < MOST_TRIES {
            self.note(format!(
                "the machine went away in the middle of a run: {reason}"
            ));
            Outcome::Interrupted
        } else {
            Outcome::Failed(Failure::Boot {
                reason: reason.to_owned(),
            })
        };
        self.commit(cell, begun, RunResult::bare(outcome))?;
        Ok(Then::GoOn)
    }

    /// Tells of trouble with a boot, and keeps it with the next attempt.
    fn note(&mut self, sentence: String) {
        let sentence = format!("{BOOT_NOTE}{sentence}");
        self.progress.warning(&sentence);
        self.notes.push(sentence);
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

/// The settings of a boot, for naming it.
fn boot_in_words(settings: &[Setting]) -> String {
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    if settings.is_empty() {
        "the machine as it is".to_owned()
    } else {
        settings.join(" ")
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
