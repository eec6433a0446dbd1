//! The boots of an experiment on one machine: whether they can be had, the next one, and the end
//! of them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use knobstat_data::messages::{Boot, BootLoader, MayReboot};
use knobstat_data::words::Setting;
use knobstat_sys::lock::MachineLock;
use knobstat_sys::root::Root;
use knobstat_sys::{session, watchdog};

use super::command_line::{CommandLine, MARKER};
use super::error::BootError;
use super::loader::{self, Trace};
use super::requirements::{self, Base};
use super::restart::{Restart, has_systemd};
use super::resume_unit;
use super::sequence::{Asked, Next, Present, next};
use super::state::{Resumption, State};
use crate::boot::boot_id;
use crate::knob::Refused;
use crate::leftovers::lock;
use crate::state_directory::StateDirectory;

/// How long a guardian that still puts the machine back is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// Tells that there is a hardware watchdog.
const WATCHDOG: &str = "/sys/class/watchdog/watchdog0";
/// What has systemd feed a watchdog from its own start on, and how long that waits.
const WATCHDOG_WORD: (&str, &str) = ("systemd.watchdog_sec", "600");
/// Write permission of the group and of others.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The boots of experiments on a machine.
#[derive(Debug)]
pub struct Boots {
    root: Root,
    directory: StateDirectory,
    refused: Refused,
    program: PathBuf,
}

/// Where the machine stands with a boot that is wanted.
#[derive(Debug)]
pub enum Standing {
    /// It is in that boot.
    Here,
    /// Everything is written for it: the machine is to be started anew.
    Ordered(Ordered),
}

/// A machine that is to be started anew, and that nobody else may have until then.
#[derive(Debug)]
pub struct Ordered {
    /// How.
    pub restart: Restart,
    /// Held, not used.
    pub lock: MachineLock,
}

/// The end of an experiment's boots.
#[derive(Debug, Default)]
pub struct Ended {
    /// What was done, in sentences.
    pub sentences: Vec<String>,
    /// The last restart, where the machine is still in a boot of the experiment.
    pub restart: Option<Ordered>,
}

impl Boots {
    /// Those of the machine beneath a root, by this program.
    ///
    /// # Errors
    /// When there is no place for the state.
    pub fn of(root: &Root) -> Result<Self, BootError> {
        let program = std::env::current_exe().map_err(|source| BootError::File {
            path: PathBuf::from("/proc/self/exe"),
            action: "read",
            source,
        })?;
        Ok(Self::new(
            root.clone(),
            StateDirectory::of(root)?,
            Refused::from_environment(),
            program,
        ))
    }

    /// Those of the machine beneath a root, with the state in a directory.
    pub fn new(root: Root, directory: StateDirectory, refused: Refused, program: PathBuf) -> Self {
        Self {
            root,
            directory,
            refused,
            program,
        }
    }

    /// Whether this machine can be rebooted for an experiment at all, and by what.
    ///
    /// # Errors
    /// Why not.
    pub fn can_reboot(&self, may: MayReboot) -> Result<BootLoader, BootError> {
        if self.root.is_real() {
            if self.refused.0 {
                return Err(BootError::Refused);
            }
            if !session::is_root() {
                return Err(BootError::NotRoot);
            }
            roots_own(&self.program)?;
        }
        match State::load(&self.directory)? {
            Some(state) => Ok(state.loader),
            None if self.marker().is_some() => Err(BootError::StillInABoot),
            None => loader::choose(&self.root, may.by),
        }
    }

    /// Whether a setting can be had by a boot.
    ///
    /// # Errors
    /// Why not.
    pub fn can_boot(&self, by: BootLoader, setting: &Setting) -> Result<(), BootError> {
        let base = match State::load(&self.directory)? {
            Some(state) => state.base,
            None => self.base()?,
        };
        let entry = requirements::entry(&self.root, &base, std::slice::from_ref(setting))?;
        loader::of(by, &self.root).can_boot(&entry.kernel)
    }

    /// Sees to it that the machine is in a boot: it is, or everything is written for it to be so
    /// after a restart. The default entry of the machine stays as it is.
    ///
    /// # Errors
    /// When it cannot be had, or did not come up too often. Then no trace is left.
    pub fn be_in(&self, boot: &Boot) -> Result<Standing, BootError> {
        let by = self.can_reboot(boot.may)?;
        let experiment = boot.name.experiment.to_string();
        let mut state = match State::load(&self.directory)? {
            Some(state) if state.experiment != experiment => {
                return Err(BootError::AnotherExperiment(state.experiment));
            }
            Some(state) => state,
            None => {
                let mut state = State::new(
                    experiment,
                    self.program.clone(),
                    boot.resume.clone(),
                    self.base()?,
                    by,
                );
                state.remembered_an_order = loader::of(by, &self.root).remembers_an_order();
                state
            }
        };
        self.stop_watchdog(&mut state);
        let (id, marker) = (boot_id(&self.root), self.marker());
        let present = Present {
            id: &id,
            marker: marker.as_deref(),
        };
        match next(state.asked.as_ref(), &boot.name, present) {
            Next::Here => self.arrive(state),
            Next::GiveUp { tries, reached } => {
                self.remove(Some(&state))?;
                Err(BootError::GivenUp {
                    settings: in_words(&boot.settings),
                    tries,
                    what: if reached {
                        "ended before its runs were done"
                    } else {
                        "did not come up"
                    },
                })
            }
            Next::Ask(asked) => {
                let lock = lock(&self.root, PATIENCE)?;
                match self.order(&mut state, asked, &boot.settings) {
                    Ok(restart) => Ok(Standing::Ordered(Ordered { restart, lock })),
                    Err(error) => {
                        // The first error is the one to tell; `restore` tries again.
                        let _ = self.remove(Some(&state));
                        Err(error)
                    }
                }
            }
        }
    }

    /// Ends the boots of an experiment: no trace is left. Says what was removed, and how the
    /// machine is to be started anew where it is still in a boot of the experiment.
    ///
    /// # Errors
    /// When a trace cannot be removed, or another experiment has the machine.
    pub fn end(&self) -> Result<Ended, BootError> {
        let Some(mut state) = State::load(&self.directory)? else {
            return Ok(Ended::default());
        };
        self.stop_watchdog(&mut state);
        let mut sentences = self.remove(Some(&state))?;
        if self.marker().is_none() {
            return Ok(Ended {
                sentences,
                restart: None,
            });
        }
        let lock = lock(&self.root, PATIENCE)?;
        sentences.push(
            "the machine is rebooted once more, so that it is as it boots by itself".to_owned(),
        );
        Ok(Ended {
            sentences,
            restart: Some(Ordered {
                restart: Restart::Firmware,
                lock,
            }),
        })
    }

    /// How an experiment that is in the midst of its boots goes on.
    ///
    /// # Errors
    /// When what is known of it cannot be read.
    pub fn resumption(&self) -> Result<Option<Resumption>, BootError> {
        Ok(State::load(&self.directory)?.map(State::resumption))
    }

    /// Everything that an experiment's boots left on the machine, with the commands to remove it.
    pub fn traces(&self) -> Vec<Trace> {
        let mut traces: Vec<Trace> = BootLoader::ALL
            .into_iter()
            .flat_map(|by| loader::of(by, &self.root).traces())
            .collect();
        traces.extend(resume_unit::traces(&self.root));
        let path = State::path(&self.directory);
        if path.exists() {
            let shown = path.display().to_string();
            traces.push(Trace {
                what: format!("what was known of the boots ({shown})"),
                command: format!("rm {}", crate::restore::quote(&shown)),
            });
        }
        traces
    }

    /// Removes every trace, whether what is known of the boots can be read or not.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn remove_traces(&self) -> Result<Vec<String>, BootError> {
        if self.traces().is_empty() {
            return Ok(Vec::new());
        }
        if self.root.is_real() && self.refused.0 {
            return Err(BootError::Refused);
        }
        let mut state = State::load(&self.directory).unwrap_or_default();
        if let Some(state) = &mut state {
            self.stop_watchdog(state);
        }
        self.remove(state.as_ref())
    }

    /// Whether the machine is in a boot of an experiment.
    pub fn is_in_a_boot(&self) -> bool {
        self.marker().is_some()
    }

    fn remove(&self, state: Option<&State>) -> Result<Vec<String>, BootError> {
        let sentences = self
            .traces()
            .into_iter()
            .map(|trace| format!("removed {}", trace.what))
            .collect();
        for by in BootLoader::ALL {
            let remembered =
                state.is_some_and(|state| state.loader == by && state.remembered_an_order);
            loader::of(by, &self.root).remove(remembered)?;
        }
        let made_directory = state.is_some_and(|state| state.made_directory);
        resume_unit::remove(&self.root, made_directory)?;
        State::remove(&self.directory)?;
        Ok(sentences)
    }

    /// The machine is in the boot that was asked for.
    fn arrive(&self, mut state: State) -> Result<Standing, BootError> {
        if loader::of(state.loader, &self.root).is_ordered()? {
            self.remove(Some(&state))?;
            return Err(BootError::NeverCleared {
                reason: "the order was still there after the boot".to_owned(),
                remedy: "it was taken back; use --reboot=kexec".to_owned(),
            });
        }
        if let Some(asked) = &mut state.asked {
            asked.reached = true;
        }
        state.save(&self.directory)?;
        Ok(Standing::Here)
    }

    /// Writes everything for a boot: first what removes it again, last the order.
    fn order(
        &self,
        state: &mut State,
        asked: Asked,
        settings: &[Setting],
    ) -> Result<Restart, BootError> {
        let loader = loader::of(state.loader, &self.root);
        loader.check()?;
        let entry = requirements::entry(&self.root, &state.base, settings)?;
        loader.can_boot(&entry.kernel)?;
        let mut line = entry.line.marked(&asked.marker, entry.keeps_panic)?;
        let (word, seconds) = WATCHDOG_WORD;
        let has_watchdog = self.root.exists(WATCHDOG);
        if has_watchdog && has_systemd(&self.root) && line.value(word).is_none() {
            line.set(word, Some(seconds))?;
        }
        state.asked = Some(asked);
        let has_units = resume_unit::is_possible(&self.root);
        state.made_directory |= has_units && resume_unit::lacks_directory(&self.root);
        state.save(&self.directory)?;
        if has_units {
            let path = State::path(&self.directory);
            resume_unit::install(&self.root, &state.program, &path)?;
        }
        loader.order(&entry.kernel, &line)?;
        // systemd guards its own shutdown; elsewhere a watchdog is left counting, where it can be
        // stopped again.
        if has_watchdog && self.root.is_real() && !has_systemd(&self.root) && self.can_stop() {
            state.watchdog = watchdog::arm(Path::new(watchdog::DEVICE)).is_ok();
            state.save(&self.directory)?;
        }
        Ok(loader.restart())
    }

    fn can_stop(&self) -> bool {
        self.root
            .read(&format!("{WATCHDOG}/nowayout"))
            .is_ok_and(|nowayout| nowayout == "0")
    }

    /// The boot is over in which a watchdog was left counting.
    fn stop_watchdog(&self, state: &mut State) {
        if std::mem::take(&mut state.watchdog) && self.root.is_real() {
            // One that did not survive the reboot has nothing to stop.
            let _ = watchdog::disarm(Path::new(watchdog::DEVICE));
        }
    }

    /// How the machine boots by itself: it is in such a boot now.
    fn base(&self) -> Result<Base, BootError> {
        let read = |path: &str| {
            self.root
                .read(path)
                .map_err(loader::file_error(&self.root, path, "read"))
        };
        Ok(Base {
            release: read("/proc/sys/kernel/osrelease")?.trim().to_owned(),
            command_line: CommandLine::of_machine(&read("/proc/cmdline")?).to_string(),
        })
    }

    /// The marker of the boot that the machine is in, where it is one of an experiment.
    fn marker(&self) -> Option<String> {
        let line = self.root.read("/proc/cmdline").ok()?;
        CommandLine::parse(&line).value(MARKER).map(str::to_owned)
    }
}

/// Nobody but root can have written a program that root will start at boot.
fn roots_own(program: &Path) -> Result<(), BootError> {
    let metadata = std::fs::metadata(program).map_err(|source| BootError::File {
        path: program.to_owned(),
        action: "read",
        source,
    })?;
    if metadata.uid() == 0 && metadata.mode() & WRITABLE_BY_OTHERS == 0 {
        Ok(())
    } else {
        Err(BootError::ProgramOfOthers(program.to_owned()))
    }
}

fn in_words(settings: &[Setting]) -> String {
    let words: Vec<String> = settings.iter().map(ToString::to_string).collect();
    words.join(" ")
}
