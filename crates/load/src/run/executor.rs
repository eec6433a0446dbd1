//! Runs on this machine: what the bracket orders, done.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use knobstat_data::messages::RunSpec;
use knobstat_data::observation::{Failure, KnobReading, Outcome};
use knobstat_data::{CpuList, ExperimentId, RunResult};
use knobstat_sys::clock::Stopwatch;
use knobstat_sys::machine::configured_hz;
use knobstat_sys::resident::Resident;
use knobstat_sys::root::Root;
use knobstat_sys::signals::become_subreaper;
use knobstat_sys::spawn::{Settings, Status};
use knobstat_sys::user::{self, User, UserError};
use thiserror::Error;

use super::bracket::{Step, bracket};
use super::environment::Environment;
use super::hands::OnThisMachine;
use super::process::{
    STEP_LIMIT_AFTER_INTERRUPT, StepEnd, Woken, end_group, in_words, sleep_until_end,
};
use super::streams::Streams;
use super::surroundings::Surroundings;
use super::survivors::Household;
use crate::evidence::clocks::Steps;
use crate::evidence::companions::Companions;
use crate::evidence::control_group::Groups;
use crate::evidence::leader::Leader;
use crate::evidence::{Samplers, Thermometer};
use crate::launch::{Launch, Output, Stream};
use crate::workloads::{self, Workload};

/// Why nothing can be run here.
#[derive(Debug, Error)]
pub enum ExecutorError {
    /// The invoking user cannot be found out.
    #[error("whom the workload should run as cannot be found out: {0}")]
    User(#[from] UserError),
    /// The harness cannot have orphans given to it.
    #[error("processes cannot be looked after: {0}")]
    System(#[from] io::Error),
    /// The harness does not know where it is.
    #[error("the directory that it was started in cannot be found out ({0})")]
    Directory(io::Error),
}

/// Why a step once per treatment was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepError {
    /// It failed.
    Failed(Failure),
    /// It was interrupted.
    Interrupted,
}

/// Knobs that are set for one process when it is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpawnSettings {
    /// No address space randomisation.
    pub no_aslr: bool,
    /// The CPUs that the command may run on, whatever the workload asks for.
    pub cpus: Option<CpuList>,
}

/// Runs workloads on this machine, one at a time, from one thread: its end ends the workload.
pub struct Executor {
    pub(super) surroundings: Surroundings,
    pub(super) stopwatch: Stopwatch,
    pub(super) samplers: Samplers,
    pub(super) leader: Leader,
    pub(super) resident: Resident,
    pub(super) groups: Groups,
    /// Whether what only the beginning needed was let go of.
    is_lean: bool,
    pub(super) thermometer: Thermometer,
    pub(super) steps: Steps,
    /// The kernel's tick rate, where it tells.
    pub(super) hz: Option<u32>,
    /// The children from before the treatment's setup, while a treatment is set up.
    before_set_up: Option<Household>,
}

impl Executor {
    /// Makes ready: opens the samplers' files, and has orphans given to this process.
    ///
    /// # Errors
    /// The invoking user or the working directory cannot be found out.
    pub fn new(
        root: &Root,
        experiment: &ExperimentId,
        stopwatch: Stopwatch,
    ) -> Result<Self, ExecutorError> {
        become_subreaper()?;
        Ok(Self {
            surroundings: Surroundings {
                experiment: experiment.clone(),
                environment: Environment::inherited(std::env::vars_os()),
                invoking: user::behind_sudo(|name| std::env::var_os(name))?,
                directory: std::env::current_dir().map_err(ExecutorError::Directory)?,
                itself: PathBuf::from("/proc/self/exe"),
            },
            stopwatch,
            samplers: Samplers::new(),
            leader: Leader::new(),
            resident: Resident::of_self(),
            is_lean: false,
            groups: Groups::none("control groups for runs were not asked for"),
            thermometer: Thermometer::find(root),
            steps: Steps::new(),
            hz: configured_hz(&Root::real()),
            before_set_up: None,
        })
    }

    /// Starts another program where a workload asks for this one.
    pub fn with_itself(mut self, program: impl Into<PathBuf>) -> Self {
        self.surroundings.itself = program.into();
        self
    }

    /// Starts every run in a control group of its own, where that can be.
    pub fn use_groups(&mut self, groups: Groups) {
        self.groups = groups;
    }

    /// Watches the harness's other processes during every run: what each is to it, and its
    /// number. They must outlive the experiment.
    pub fn watch(&mut self, processes: impl IntoIterator<Item = (&'static str, u32)>) {
        self.samplers.add(Companions::new(processes));
    }

    /// The stopwatch that times the runs.
    pub fn stopwatch(&self) -> &Stopwatch {
        &self.stopwatch
    }

    /// The user whom commands run as, where that is not the harness's own.
    pub fn workload_user(&self) -> Option<&User> {
        self.surroundings.invoking.as_ref()
    }

    /// The names of inherited variables that commands do not get, or get changed.
    pub fn removed_variables(&self) -> &[String] {
        &self.surroundings.environment.removed
    }

    /// The step before the first run of a treatment. What it leaves running is left alone until
    /// [`Executor::tear_down`].
    ///
    /// # Errors
    /// It failed, or was interrupted.
    pub fn set_up(
        &mut self,
        spec: &RunSpec,
        interrupts: &[BorrowedFd<'_>],
    ) -> Result<(), StepError> {
        let (_, launch) = launch_of(spec).map_err(StepError::Failed)?;
        self.before_set_up = Household::now().ok();
        self.once(Step::SetUp, &launch, interrupts, false)
    }

    /// The step after the last run of a treatment; then whatever the treatment left running is
    /// ended. Returns sentences on what that was.
    ///
    /// # Errors
    /// It failed, or was interrupted.
    pub fn tear_down(
        &mut self,
        spec: &RunSpec,
        interrupts: &[BorrowedFd<'_>],
    ) -> Result<Vec<String>, StepError> {
        let (_, launch) = launch_of(spec).map_err(StepError::Failed)?;
        self.tear_down_launch(&launch, interrupts, false)
    }

    /// [`Executor::tear_down`] after an interruption: nothing breaks it off but its own limit,
    /// [`super::STEP_LIMIT_AFTER_INTERRUPT`].
    ///
    /// # Errors
    /// It failed, or took too long.
    pub fn tear_down_in_haste(&mut self, spec: &RunSpec) -> Result<Vec<String>, StepError> {
        let (_, launch) = launch_of(spec).map_err(StepError::Failed)?;
        self.tear_down_launch(&launch, &[], true)
    }

    fn tear_down_launch(
        &mut self,
        launch: &Launch,
        interrupts: &[BorrowedFd<'_>],
        interrupted: bool,
    ) -> Result<Vec<String>, StepError> {
        let result = self.once(Step::TearDown, launch, interrupts, interrupted);
        let household = self.before_set_up.take();
        let notes = household.map(|household| household.end_newcomers());
        result.map(|()| notes.unwrap_or_default())
    }

    fn once(
        &self,
        step: Step,
        launch: &Launch,
        interrupts: &[BorrowedFd<'_>],
        interrupted: bool,
    ) -> Result<(), StepError> {
        match self.step(step, launch, interrupts, interrupted) {
            StepEnd::Done => Ok(()),
            StepEnd::Interrupted => Err(StepError::Interrupted),
            StepEnd::Failed(reason) => Err(StepError::Failed(step.failed(reason))),
        }
    }

    /// One run. `verify` is called just before and just after the timed window and fills
    /// [`RunResult::before`] and [`RunResult::after`]; what they mean is for the caller to judge.
    /// A descriptor of `interrupts` that becomes readable or hangs up ends the run.
    pub fn run(
        &mut self,
        spec: &RunSpec,
        spawn: &SpawnSettings,
        interrupts: &[BorrowedFd<'_>],
        verify: impl FnMut() -> Vec<KnobReading>,
    ) -> RunResult {
        let (workload, launch) = match launch_of(spec) {
            Ok(found) => found,
            Err(failure) => return RunResult::bare(Outcome::Failed(failure)),
        };
        let before_prepare = match Household::now() {
            Ok(household) => household,
            Err(error) => {
                let reason = format!("processes cannot be looked after: {error}");
                return RunResult::bare(Outcome::Failed(Failure::Start { reason }));
            }
        };
        let result = bracket(&mut OnThisMachine {
            executor: &mut *self,
            spec,
            workload,
            launch,
            spawn,
            interrupts,
            verify,
            before_prepare,
            streams: None,
            group: None,
            environment_size: 0,
        });
        if !std::mem::replace(&mut self.is_lean, true) {
            // The first run has shown what a run needs; it comes back with the second.
            self.resident.let_go();
        }
        result
    }

    /// Runs a step, its output kept only for telling why it failed.
    pub(super) fn step(
        &self,
        step: Step,
        launch: &Launch,
        interrupts: &[BorrowedFd<'_>],
        interrupted: bool,
    ) -> StepEnd {
        let command = match step {
            Step::SetUp => &launch.set_up,
            Step::Prepare => &launch.prepare,
            Step::Cleanup => &launch.cleanup,
            Step::TearDown => &launch.tear_down,
        };
        let Some(command) = command else {
            return StepEnd::Done;
        };
        let start = || -> Result<_, String> {
            let place = self.surroundings.place(launch)?;
            let input = &Stream::Null;
            let streams = Streams::open(
                input,
                &Output::Captured,
                &place.directory,
                place.user.as_ref(),
            )?;
            let settings = Settings {
                streams: streams.descriptors(),
                ..place.settings()
            };
            let child = self
                .surroundings
                .prepare(command, &place, settings)?
                .start()
                .map_err(|error| error.to_string())?;
            Ok((child, streams))
        };
        let (child, streams) = match start() {
            Ok(started) => started,
            Err(reason) => return StepEnd::Failed(reason),
        };
        // After an interruption the descriptors stay ready and would end it at once.
        let woken = if interrupted {
            sleep_until_end(&child, &[], Some(STEP_LIMIT_AFTER_INTERRUPT))
        } else {
            sleep_until_end(&child, interrupts, None)
        };
        let ended = matches!(woken, Ok(Woken::Ended)) || end_group(&child);
        if !ended {
            child.abandon();
            return StepEnd::Failed("it could not be ended".to_owned());
        }
        let status = child.wait().map(|exited| exited.status);
        match (woken, status) {
            (Ok(Woken::Ended), Ok(Status::Code(0))) => StepEnd::Done,
            (Ok(Woken::Ended), Ok(status)) => {
                let words = streams.last_words();
                let words = words.map(|words| format!(", saying \"{words}\""));
                StepEnd::Failed(format!(
                    "it {}{}",
                    in_words(status),
                    words.unwrap_or_default()
                ))
            }
            (Ok(Woken::Interrupted), _) => StepEnd::Interrupted,
            (Ok(Woken::TimedOut), _) => StepEnd::Failed(format!(
                "it was still running {STEP_LIMIT_AFTER_INTERRUPT:?} after the interruption"
            )),
            (Err(error), _) | (_, Err(error)) => StepEnd::Failed(error.to_string()),
        }
    }
}

/// The workload of a cell and its launch.
fn launch_of(spec: &RunSpec) -> Result<(&'static dyn Workload, Launch), Failure> {
    let workload = workloads::find(&spec.workload).ok_or_else(|| Failure::Start {
        reason: format!("this program has no workload \"{}\"", spec.workload),
    })?;
    let launch = workload.launch(spec).map_err(|error| Failure::Start {
        reason: error.to_string(),
    })?;
    Ok((workload, launch))
}
