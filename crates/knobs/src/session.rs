//! The knobs of one machine as the agent uses them: asked about, taken, turned, read, put back.

use std::path::PathBuf;
use std::time::Duration;

use knobstat_data::experiment::OwnKnob;
use knobstat_data::messages::{Availability, Restoration};
use knobstat_data::observation::{KnobReading, Taint};
use knobstat_data::words::Setting;
use knobstat_data::{ExperimentId, Level};
use knobstat_sys::lock::MachineLock;
use knobstat_sys::processes;
use knobstat_sys::root::Root;

use crate::apply::{ApplyError, Turning};
use crate::availability::Unavailable;
use crate::boot::boot_id;
use crate::files::{Files, RootedFiles};
use crate::guardian::{Arguments, Guardian};
use crate::journal::{Header, Journal, JournalError};
use crate::knob::{Knob, Refused};
use crate::leftovers::{BeginError, end_left_over_processes, lock, put_back_leftovers};
use crate::opening;
use crate::owners;
use crate::restore;
use crate::state_directory::StateDirectory;
use crate::system::System;
use crate::taint;
use crate::untold;

/// How knobs are turned.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether values that somebody else wrote are put back as well.
    pub overwrite_others: bool,
    /// Whether changes of the machine's own settings are refused.
    pub refused: Refused,
    /// The program that becomes the guardian.
    pub program: PathBuf,
    /// How long a guardian that still puts the machine back is waited for.
    pub patience: Duration,
    /// The system that the target runs.
    pub system: System,
}

impl Default for Options {
    /// As the environment says, with the running program as the guardian, waited for 10 seconds.
    fn default() -> Self {
        Self {
            overwrite_others: false,
            refused: Refused::from_environment(),
            program: PathBuf::from("/proc/self/exe"),
            patience: Duration::from_secs(10),
            system: System::default(),
        }
    }
}

/// What a process that is started is to be given instead of a setting of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpawnSettings {
    /// Whether its address space is not to be laid out at random (personality(2),
    /// ADDR_NO_RANDOMIZE).
    pub disable_address_randomization: bool,
}

/// What was asked to be brought into force, as it reads now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// Every setting, as read back, in the order in which it was asked for.
    pub readings: Vec<KnobReading>,
    /// Whether anything was changed.
    pub changed: bool,
}

/// The knobs of one machine.
#[derive(Debug)]
pub struct Knobs {
    root: Root,
    files: RootedFiles,
    state: StateDirectory,
    own: Vec<OwnKnob>,
    options: Options,
    taken: Option<Taken>,
    spawn: SpawnSettings,
}

/// The machine, taken for an experiment. The guardian is named first so that it is dropped first.
#[derive(Debug)]
struct Taken {
    guardian: Guardian,
    journal: Journal,
    /// Held, not used.
    _lock: MachineLock,
}

impl Knobs {
    /// The knobs beneath a root, with those that the experiment file declares.
    pub fn new(root: Root, own: Vec<OwnKnob>, state: StateDirectory, options: Options) -> Self {
        Self {
            files: RootedFiles::new(root.clone(), state.clone()),
            root,
            state,
            own,
            options,
            taken: None,
            spawn: SpawnSettings::default(),
        }
    }

    /// Whether a setting can be had in an experiment that wants these settings, or why not.
    pub fn availability(&self, setting: &Setting, wanted: &[Setting]) -> Availability {
        let find = |name: &str| self.find(name).ok();
        opening::availability(&self.files, &find, setting, wanted, self.options.refused)
            .unwrap_or_else(|| {
                let unknown = ApplyError::Unknown {
                    name: setting.factor.clone(),
                };
                Unavailable::without_remedy(unknown.to_string()).into()
            })
    }

    /// Takes the machine for an experiment, puts back what an earlier one left, and sets a
    /// guardian. Returns what was put back, in sentences.
    ///
    /// # Errors
    /// When another experiment has the machine, when what was left could not be put back, or when
    /// there is no guardian. Then the machine is not taken.
    pub fn begin(&mut self, experiment: &ExperimentId) -> Result<Vec<String>, BeginError> {
        let lock = lock(&self.root, self.options.patience)?;
        let restoration = put_back_leftovers(&self.root, &self.files, self.restore_options())?;
        if !restoration.failed.is_empty() {
            return Err(BeginError::LeftBehind(restoration));
        }
        // An experiment that is continued may have left something running and no journal.
        let ended = end_left_over_processes(experiment);
        let agent = std::process::id();
        let arguments = Arguments {
            experiment: experiment.clone(),
            agent,
            agent_started: processes::start_time(agent).unwrap_or_default(),
            root: self.root.path().to_owned(),
            state: self.state.path().to_owned(),
            overwrite_others: self.options.overwrite_others,
        };
        let guardian = Guardian::start(&self.options.program, &lock, &arguments)?;
        self.taken = Some(Taken {
            guardian,
            journal: Journal::new(Header {
                boot: boot_id(&self.root),
                experiment: experiment.clone(),
            }),
            _lock: lock,
        });
        let mut sentences = restoration.put_back;
        sentences.extend(restoration.left_alone);
        sentences.extend(ended);
        Ok(sentences)
    }

    /// What was told of values that were left alone was heard: it is not told again.
    pub fn heard(&self) {
        // Where it cannot be forgotten, the next who comes is told once more.
        let _ = untold::forget(&self.files);
    }

    /// Sets from now on whether values of somebody else are put back as well; to be called before
    /// [`Knobs::begin`], which hands it to the guardian.
    pub fn set_overwrite_others(&mut self, overwrite: bool) {
        self.options.overwrite_others = overwrite;
    }

    /// Brings settings into force, in the order of what rests on what, and reads all of them back.
    /// What is in force already is not written.
    ///
    /// # Errors
    /// The first setting that is not in force, and why.
    pub fn apply(&mut self, settings: &[Setting]) -> Result<Applied, ApplyError> {
        let wanted: Vec<(Knob, Level)> = settings
            .iter()
            .map(|setting| Ok((self.find(&setting.factor)?, setting.level.clone())))
            .collect::<Result<_, ApplyError>>()?;
        let taken = self.taken.as_mut().ok_or(ApplyError::NotBegun)?;
        let guardian = &taken.guardian;
        let changed = Turning {
            files: &self.files,
            journal: &mut taken.journal,
            refused: self.options.refused,
            guarded: &|| guardian.is_there(),
        }
        .turn_all(&wanted)?;
        for (knob, level) in wanted.iter().filter(|(knob, _)| knob.is_process()) {
            knob.plan(&self.files, level)
                .map_err(|why| ApplyError::Unavailable {
                    knob: knob.name().to_owned(),
                    level: level.clone(),
                    why: Box::new(why),
                })?;
            self.spawn.disable_address_randomization = *level == Level::text("off");
        }
        Ok(Applied {
            readings: self.read(settings),
            changed,
        })
    }

    /// Reads settings as they are now, in the order in which they are given; nothing is written.
    pub fn read(&self, settings: &[Setting]) -> Vec<KnobReading> {
        settings
            .iter()
            .map(|setting| KnobReading {
                knob: setting.factor.clone(),
                asked: Some(setting.level.clone()),
                read: self
                    .find(&setting.factor)
                    .map_err(|error| error.to_string())
                    .and_then(|knob| {
                        if knob.is_process() && self.spawn.disable_address_randomization {
                            return Ok(Level::text("off"));
                        }
                        knob.read_as(&self.files, &setting.level)
                            .map_err(|unavailable| unavailable.reason)
                    }),
            })
            .collect()
    }

    /// What did not hold between two readings around a run, and who is likely to have turned it.
    pub fn taints(&self, before: &[KnobReading], after: &[KnobReading]) -> Vec<Taint> {
        taint::between(
            before,
            after,
            |name| Knob::find_on(&self.options.system, name, &self.own),
            || owners::running(&self.root),
        )
    }

    /// What a process that is started is to be given.
    pub fn spawn_settings(&self) -> SpawnSettings {
        self.spawn
    }

    /// The guardian's number: a child of this process that no run started.
    pub fn guardian_pid(&self) -> Option<u32> {
        self.taken.as_ref().map(|taken| taken.guardian.pid())
    }

    /// Puts everything back that was turned. The machine stays taken.
    ///
    /// # Errors
    /// When the journal cannot be cleared. What could not be put back is in the result.
    pub fn restore(&mut self) -> Result<Restoration, JournalError> {
        self.spawn = SpawnSettings::default();
        self.files.release_all();
        let options = self.restore_options();
        match &mut self.taken {
            None => Ok(Restoration::default()),
            Some(taken) => restore::restore(&self.files, &mut taken.journal, options),
        }
    }

    /// Puts everything back and gives the machine up. Where something could not be put back the
    /// guardian stays, and tries again once this process has ended.
    ///
    /// # Errors
    /// When the journal cannot be cleared.
    pub fn release(&mut self) -> Result<Restoration, JournalError> {
        let restoration = self.restore()?;
        if restoration.failed.is_empty()
            && let Some(taken) = self.taken.take()
        {
            // One that cannot be ended leaves by itself when this process does.
            let _ = taken.guardian.dismiss();
        }
        Ok(restoration)
    }

    fn find(&self, name: &str) -> Result<Knob, ApplyError> {
        Knob::find_on(&self.options.system, name, &self.own).ok_or_else(|| ApplyError::Unknown {
            name: name.to_owned(),
        })
    }

    fn restore_options(&self) -> restore::Options {
        restore::Options {
            overwrite_others: self.options.overwrite_others,
            refused: self.options.refused,
        }
    }
}
