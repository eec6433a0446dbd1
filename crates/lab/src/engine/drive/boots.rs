//! The boots of the loop: a machine is opened, tried again where it does not come up, and given up
//! or left to itself.

use knobstat_data::messages::{Begin, BootName};
use knobstat_data::observation::{BOOT_NOTE, Failure, Outcome, RunResult};
use knobstat_data::words::Setting;

use super::{Drive, Then};
use crate::engine::boot_trials::MOST_TRIES;
use crate::engine::cells::Cells;
use crate::engine::conversation::Conversation;
use crate::engine::ended::Finish;
use crate::engine::error::EngineError;
use crate::engine::next::{BootKey, Schedule, SessionState, Step, runs_of};
use crate::engine::prepare::describe;
use crate::target::{Opened, TargetError};

impl Drive<'_, '_> {
    /// Opens a session and takes the machine. A boot that does not come up is tried again, and
    /// then its runs have failed and the others go on.
    pub(super) fn open(
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
    pub(super) fn end_boots(&mut self) -> Result<(), EngineError> {
        // A session that only described the machine holds on to it.
        self.prepared.session = None;
        let sentences = self.prepared.target.end_boots()?;
        self.restoration.put_back.extend(sentences);
        Ok(())
    }

    /// The machine went away in the middle of a boot. What it did then is attempted again in
    /// another; a run that takes the machine with it every time has failed.
    pub(super) fn lost(&mut self, step: &Step, reason: &str) -> Result<Then, EngineError> {
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
