//! Turning knobs: journalled first, written in the order of what rests on what, read back.

use std::io;

use knobstat_data::Level;
use knobstat_data::messages::{Refusal, RefusalKind};
use thiserror::Error;

use crate::availability::Unavailable;
use crate::files::Files;
use crate::journal::{Journal, JournalError, Reading, Target};
use crate::knob::{Knob, Refused, Write};
use crate::patience::Patience;
use crate::refusal::{refusal, refusal_without_remedy};

/// Why a setting is not in force.
#[derive(Debug, Error)]
pub enum ApplyError {
    /// There is no such knob.
    #[error("there is no knob {name}; `knobstat knobs` lists those that there are")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The level cannot be had here.
    #[error("{knob} cannot be {level}: {}{}", .why.reason, remedy(.why))]
    Unavailable {
        /// The knob.
        knob: String,
        /// The level.
        level: Level,
        /// Why, and what would help.
        why: Box<Unavailable>,
    },
    /// The kernel refused the write.
    #[error("{knob} could not be set to {level}: {}{}", .why.reason, remedy(.why))]
    Write {
        /// The knob.
        knob: String,
        /// The level.
        level: Level,
        /// What it means, and what would help.
        why: Box<Unavailable>,
        /// What the system says.
        source: io::Error,
    },
    /// The write succeeded, and the knob does not read as set.
    #[error("{knob} was set to {level} without an error, but {found}{}", .remedy.as_ref().map_or(String::new(), |remedy| format!("; {remedy}")))]
    NotInForce {
        /// The knob.
        knob: String,
        /// The level asked for.
        level: Level,
        /// What it reads instead, as the end of a sentence.
        found: String,
        /// What would help, where it is known.
        remedy: Option<String>,
    },
    /// Nobody would put the machine back.
    #[error(
        "the guardian that puts the machine back has ended, so nothing more is changed; start the experiment again"
    )]
    Unguarded,
    /// The machine was not taken.
    #[error("settings can only be changed once the machine was taken for an experiment")]
    NotBegun,
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Moves one of some ordered settings behind the others of its kind: those whose order has the
/// same tens. Tells whether there were any.
fn put_behind_its_kind(ordered: &mut [&(Knob, Level)], at: usize) -> bool {
    let kind = ordered[at].0.order() / 10;
    let behind = ordered[at + 1..]
        .iter()
        .take_while(|(knob, _)| knob.order() / 10 == kind)
        .count();
    ordered[at..=at + behind].rotate_left(1);
    behind > 0
}

fn remedy(why: &Unavailable) -> String {
    why.remedy
        .as_ref()
        .map_or(String::new(), |remedy| format!("; {remedy}"))
}

impl From<&ApplyError> for Refusal {
    fn from(error: &ApplyError) -> Self {
        let kind = match error {
            ApplyError::Unknown { .. } => RefusalKind::Request,
            ApplyError::Journal(_) => RefusalKind::Disk,
            ApplyError::NotBegun => RefusalKind::Protocol,
            // No later run would fare better: the experiment ends, and can be continued.
            ApplyError::Unguarded => RefusalKind::Unguarded,
            ApplyError::Unavailable { .. }
            | ApplyError::Write { .. }
            | ApplyError::NotInForce { .. } => RefusalKind::Setting,
        };
        let message = error.to_string();
        let remedy = match error {
            ApplyError::Unavailable { why, .. } | ApplyError::Write { why, .. } => {
                why.remedy.as_deref()
            }
            ApplyError::NotInForce { remedy, .. } => remedy.as_deref(),
            _ => return refusal(kind, &message),
        };
        let cause = remedy.and_then(|remedy| message.strip_suffix(remedy)?.strip_suffix("; "));
        match (cause, remedy) {
            (Some(cause), Some(remedy)) => Self {
                kind,
                cause: cause.to_owned(),
                remedy: remedy.to_owned(),
            },
            _ => refusal_without_remedy(kind, &message),
        }
    }
}

/// Turns knobs of one machine, for one experiment.
pub struct Turning<'a> {
    /// The machine.
    pub files: &'a dyn Files,
    /// The experiment's journal.
    pub journal: &'a mut Journal,
    /// Whether changes of the machine's own settings are refused.
    pub refused: Refused,
    /// Whether the guardian is there, asked just before anything is written.
    pub guarded: &'a dyn Fn() -> bool,
}

impl Turning<'_> {
    /// Brings all these settings into force, lower orders first, and reads all of them again at
    /// the end, because one may have reset another. Tells whether anything was written: what is
    /// in force already is not. What does not hold is tried once more, after the others of its
    /// kind: a lower limit may have held an upper one up, and a daemon that wrote between our
    /// write and its reading back need not do so again.
    ///
    /// # Errors
    /// The first setting that is not in force, and why. Those before it may be changed; the
    /// journal has them.
    pub fn turn_all(&mut self, settings: &[(Knob, Level)]) -> Result<bool, ApplyError> {
        let mut ordered: Vec<&(Knob, Level)> = settings
            .iter()
            .filter(|(knob, _)| !knob.is_process())
            .collect();
        ordered.sort_by_key(|(knob, _)| knob.order());
        let mut changed = false;
        if let Err((at, error)) = self.turn_in_order(&ordered, &mut changed) {
            let moved = put_behind_its_kind(&mut ordered, at);
            if !(moved || matches!(error, ApplyError::NotInForce { .. })) {
                return Err(error);
            }
            self.turn_in_order(&ordered, &mut changed)
                .map_err(|(_, error)| error)?;
        }
        Ok(changed)
    }

    /// Where it fails, at which of them.
    fn turn_in_order(
        &mut self,
        ordered: &[&(Knob, Level)],
        changed: &mut bool,
    ) -> Result<(), (usize, ApplyError)> {
        for (at, (knob, level)) in ordered.iter().enumerate() {
            *changed |= self.turn(knob, level).map_err(|error| (at, error))?;
        }
        for (at, (knob, level)) in ordered.iter().enumerate() {
            self.verify(knob, level).map_err(|error| (at, error))?;
        }
        Ok(())
    }

    /// Brings one setting into force. Tells whether anything was written.
    ///
    /// # Errors
    /// As [`Turning::turn_all`].
    fn turn(&mut self, knob: &Knob, level: &Level) -> Result<bool, ApplyError> {
        if knob
            .read_as(self.files, level)
            .is_ok_and(|read| read == *level)
        {
            return Ok(false);
        }
        let unavailable = |why| ApplyError::Unavailable {
            knob: knob.name().to_owned(),
            level: level.clone(),
            why: Box::new(why),
        };
        let plan = knob.plan(self.files, level).map_err(unavailable)?;
        let mut announced: Vec<(Target, Vec<u8>)> = Vec::new();
        for path in plan.side_effects {
            if let Ok(bytes) = self.files.read(&path) {
                let form = crate::value::Form::of(&bytes);
                announced.push((Target::File { path, form }, bytes));
            }
        }
        let mut writes: Vec<Write> = Vec::new();
        for write in plan.writes {
            let bytes = write
                .target
                .read(self.files)
                .map_err(|source| self.failed(knob, level, &write.target, source))?;
            if write.target.value(&bytes) != write.value {
                if !write.held {
                    announced.push((write.target.clone(), bytes));
                }
                writes.push(write);
            }
        }
        if writes.is_empty() {
            return Ok(false);
        }
        if let Some(why) = self.refused.of(self.files) {
            return Err(unavailable(why));
        }
        if !(self.guarded)() {
            return Err(ApplyError::Unguarded);
        }
        if announced.is_empty() {
            // Only what is held, which needs no journal.
            for write in &writes {
                self.write(write)
                    .map_err(|source| self.failed(knob, level, &write.target, source))?;
            }
            Patience::new(self.files).until(|| self.all_show(&writes));
            self.verify(knob, level)?;
            return Ok(true);
        }
        let targets: Vec<Target> = announced.iter().map(|(target, _)| target.clone()).collect();
        self.journal.announce(self.files, announced)?;
        let mut taken = 0;
        let written: Result<(), ApplyError> = writes.iter().try_for_each(|write| {
            self.write(write)
                .map_err(|source| self.failed(knob, level, &write.target, source))?;
            taken += 1;
            Ok(())
        });
        let readings = self.readings(&targets, &writes[..taken]);
        self.journal.confirm(self.files, &readings)?;
        written?;
        self.verify(knob, level)?;
        Ok(true)
    }

    /// What announced settings read once the writes that were taken show, or do not for long. What
    /// was written is among it even then, for it may still come: it would be ours.
    ///
    /// What is not there to be read (the CPU went offline) is left out and so stays announced:
    /// whatever it will be counts as ours.
    fn readings(&self, targets: &[Target], taken: &[Write]) -> Vec<Reading> {
        let written = |target: &Target| taken.iter().find(|write| write.target == *target);
        let read = || -> Vec<Reading> {
            targets
                .iter()
                .filter_map(|target| {
                    Some(Reading {
                        target: target.clone(),
                        bytes: target.read(self.files).ok()?,
                        written: written(target).map(|write| write.value.clone()),
                    })
                })
                .collect()
        };
        let mut patience = Patience::new(self.files);
        patience.until(|| self.all_show(taken));
        if targets.iter().all(|target| written(target).is_some()) {
            read()
        } else {
            patience.at_rest(read)
        }
    }

    /// Whether every file shows what was written to it. A command is done when it ends.
    fn all_show(&self, writes: &[Write]) -> bool {
        writes.iter().all(|write| match &write.target {
            Target::File { .. } => write
                .target
                .read(self.files)
                .is_ok_and(|bytes| write.target.value(&bytes) == write.value),
            Target::Command { .. } => true,
        })
    }

    fn write(&self, write: &Write) -> io::Result<()> {
        match &write.target {
            Target::File { path, form } if write.held => {
                self.files.hold(path, &form.bytes(&write.value))
            }
            Target::File { path, form } => self.files.write(path, &form.bytes(&write.value)),
            Target::Command { .. } => self.files.run(&write.command).map(drop),
        }
    }

    fn verify(&self, knob: &Knob, level: &Level) -> Result<(), ApplyError> {
        let found = match knob.read_as(self.files, level) {
            Ok(present) if present == *level => return Ok(()),
            Ok(present) => format!("it reads {present}"),
            Err(unavailable) => unavailable.reason,
        };
        Err(ApplyError::NotInForce {
            knob: knob.name().to_owned(),
            level: level.clone(),
            found,
            remedy: knob.entry().and_then(|entry| {
                entry
                    .remedies
                    .get(&level.to_string())
                    .or(entry.suspect.as_ref())
                    .cloned()
            }),
        })
    }

    fn failed(&self, knob: &Knob, level: &Level, target: &Target, source: io::Error) -> ApplyError {
        let why = match target {
            Target::File { path, .. } => knob.explain(self.files, path, &source),
            Target::Command { .. } => Unavailable::new(
                format!("a command of it failed: {source}"),
                "run the command by hand and put it right in the experiment file",
            ),
        };
        ApplyError::Write {
            knob: knob.name().to_owned(),
            level: level.clone(),
            why: Box::new(why),
            source,
        }
    }
}
