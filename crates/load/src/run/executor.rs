//! Runs on this machine: what the bracket orders, done.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use knobstat_data::messages::{MissingProgram, Program, RunSpec};
use knobstat_data::observation::{Failure, KnobReading, Outcome};
use knobstat_data::{CpuList, Evidence, ExperimentId, Priority, RunResult, Unit};
use knobstat_sys::clock::Stopwatch;
use knobstat_sys::machine::configured_hz;
use knobstat_sys::root::Root;
use knobstat_sys::signals::become_subreaper;
use knobstat_sys::spawn::{self, Lookup, Prepared, Scheduling, Settings, Status, find_program};
use knobstat_sys::topology::CpuMask;
use knobstat_sys::user::{self, User, UserError};
use thiserror::Error;

use super::bracket::{Decoded, Hands, Step, bracket};
use super::environment::Environment;
use super::process::{
    SIGNAL_OF_PARENTS_DEATH, STEP_LIMIT_AFTER_INTERRUPT, StepEnd, Woken, end_group, in_words,
    sleep_until_end,
};
use super::settle::{COOLING_LIMIT, Settled, settle};
use super::streams::Streams;
use super::survivors::Household;
use super::timed::{HowTimed, Measured, Timed, Watch, time};
use super::{MARK, identity};
use crate::evidence::leader::Leader;
use crate::evidence::{Samplers, Thermometer, evidence, harness, usage};
use crate::launch::{Command, Launch, Output, Stream};
use crate::workloads::{self, Ended, Workload, built_in};

/// Why nothing can be run here.
#[derive(Debug, Error)]
pub enum ExecutorError {
    /// The invoking user cannot be found out.
    #[error("whom the workload should run as cannot be found out: {0}")]
    User(#[from] UserError),
    /// The harness cannot have orphans given to it, or does not know where it is.
    #[error("processes cannot be looked after: {0}")]
    System(#[from] io::Error),
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
    experiment: ExperimentId,
    stopwatch: Stopwatch,
    samplers: Samplers,
    leader: Leader,
    thermometer: Thermometer,
    environment: Environment,
    invoking: Option<User>,
    directory: PathBuf,
    itself: PathBuf,
    hz: Option<u32>,
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
            experiment: experiment.clone(),
            stopwatch,
            samplers: Samplers::new(),
            leader: Leader::new(),
            thermometer: Thermometer::find(root),
            environment: Environment::inherited(std::env::vars_os()),
            invoking: user::behind_sudo(|name| std::env::var_os(name))?,
            directory: std::env::current_dir()?,
            itself: PathBuf::from("/proc/self/exe"),
            hz: configured_hz(&Root::real()),
            before_set_up: None,
        })
    }

    /// Starts another program where a workload asks for this one.
    pub fn with_itself(mut self, program: impl Into<PathBuf>) -> Self {
        self.itself = program.into();
        self
    }

    /// The stopwatch that times the runs.
    pub fn stopwatch(&self) -> &Stopwatch {
        &self.stopwatch
    }

    /// The user whom commands run as, where that is not the harness's own.
    pub fn workload_user(&self) -> Option<&User> {
        self.invoking.as_ref()
    }

    /// The names of inherited variables that commands do not get, or get changed.
    pub fn removed_variables(&self) -> &[String] {
        &self.environment.removed
    }

    /// Whether a program cannot be started: it is looked up as a run would look it up.
    pub fn missing(&self, program: &Program) -> Option<MissingProgram> {
        let directory = match &program.working_directory {
            Some(directory) => self.directory.join(directory),
            None => self.directory.clone(),
        };
        let path = program.path.as_ref().map(OsStr::new);
        let path = path.or_else(|| self.environment.get("PATH"));
        let not_executable = match find_program(OsStr::new(&program.name), path, &directory) {
            Lookup::Found(_) => return None,
            Lookup::Missing => false,
            Lookup::NotExecutable(_) => true,
        };
        Some(MissingProgram {
            name: program.name.clone(),
            not_executable,
        })
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
        self.once(Step::SetUp, &launch, interrupts)
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
        let result = self.once(Step::TearDown, &launch, interrupts);
        let household = self.before_set_up.take();
        let notes = household.map(|household| household.end_newcomers());
        result.map(|()| notes.unwrap_or_default())
    }

    fn once(
        &self,
        step: Step,
        launch: &Launch,
        interrupts: &[BorrowedFd<'_>],
    ) -> Result<(), StepError> {
        match self.step(step, launch, interrupts, false) {
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
        bracket(&mut OnThisMachine {
            executor: self,
            spec,
            workload,
            launch,
            spawn,
            interrupts,
            verify,
            before_prepare,
            streams: None,
        })
    }

    /// Runs a step, its output kept only for telling why it failed.
    fn step(
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
            let place = self.place(launch)?;
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

    /// Where and as whom the processes of a launch run.
    fn place(&self, launch: &Launch) -> Result<Place, String> {
        let user = identity::resolve(&launch.identity, self.invoking.as_ref())?;
        let directory = match &launch.working_directory {
            Some(directory) => self.directory.join(directory),
            None => self.directory.clone(),
        };
        let mut environment = self.environment.clone();
        if let Some(user) = &user {
            environment.become_users(user);
        }
        for (name, value) in &launch.environment {
            environment.set(name, value);
        }
        environment.set(MARK, self.experiment.as_str());
        Ok(Place {
            user,
            directory,
            environment,
        })
    }

    fn prepare<'a>(
        &self,
        command: &Command,
        place: &Place,
        settings: Settings<'a>,
    ) -> Result<Prepared<'a>, String> {
        let (executable, name, arguments) = match command {
            Command::Itself { arguments } => {
                (self.itself.clone(), OsString::from("knobstat"), arguments)
            }
            Command::Program { name, arguments } => {
                let path = place.environment.get("PATH");
                let executable = match find_program(OsStr::new(name), path, &place.directory) {
                    Lookup::Found(path) => path,
                    Lookup::Missing => return Err(format!("there is no program {name}")),
                    Lookup::NotExecutable(path) => {
                        return Err(format!("{} is not executable", path.display()));
                    }
                };
                (executable, OsString::from(name), arguments)
            }
        };
        let arguments = std::iter::once(name)
            .chain(arguments.iter().map(OsString::from))
            .collect();
        let program = spawn::Program {
            executable,
            arguments,
            environment: place.environment.words(),
        };
        Prepared::new(program, settings).map_err(|error| error.to_string())
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

/// Where and as whom a process runs.
struct Place {
    user: Option<User>,
    directory: PathBuf,
    environment: Environment,
}

impl Place {
    /// The settings that every process of an experiment has.
    fn settings<'a>(&self) -> Settings<'a> {
        Settings {
            working_directory: Some(self.directory.clone()),
            own_group: true,
            parent_death_signal: Some(SIGNAL_OF_PARENTS_DEATH),
            credentials: self.user.as_ref().map(|user| user.credentials.clone()),
            ..Settings::default()
        }
    }
}

/// The bracket's hands.
struct OnThisMachine<'a, V> {
    executor: &'a mut Executor,
    spec: &'a RunSpec,
    workload: &'static dyn Workload,
    launch: Launch,
    spawn: &'a SpawnSettings,
    interrupts: &'a [BorrowedFd<'a>],
    verify: V,
    before_prepare: Household,
    /// Of the timed command, once it was started.
    streams: Option<Streams>,
}

impl<V: FnMut() -> Vec<KnobReading>> Hands for OnThisMachine<'_, V> {
    fn step(&mut self, step: Step, interrupted: bool) -> StepEnd {
        self.executor
            .step(step, &self.launch, self.interrupts, interrupted)
    }

    fn settle(&mut self) -> Settled {
        settle(
            self.spec,
            &self.executor.thermometer,
            COOLING_LIMIT,
            self.interrupts,
        )
    }

    fn verify(&mut self) -> Vec<KnobReading> {
        (self.verify)()
    }

    fn time(&mut self) -> Timed {
        self.try_to_time()
            .unwrap_or_else(|reason| Timed::without_measurement(HowTimed::NotStarted(reason)))
    }

    fn decode(&mut self, timed: Timed) -> Decoded {
        let mut decoded = Decoded {
            outcome: Outcome::Ok,
            metrics: Vec::new(),
            evidence: Vec::new(),
            times: timed.measured.as_ref().map(|found| found.times.clone()),
            notes: timed.notes,
        };
        if let Some(measured) = &timed.measured {
            decoded.evidence = self.evidence(measured);
        }
        match (self.failure(&timed.how), &timed.measured) {
            (Some(outcome), _) => {
                decoded.outcome = outcome;
                let words = self.streams.as_ref().and_then(Streams::last_words);
                decoded.notes.extend(
                    words
                        .filter(|_| decoded.outcome != Outcome::Interrupted)
                        .map(|words| format!("its last words were \"{words}\"")),
                );
            }
            (None, Some(measured)) => self.decode_output(measured, &mut decoded),
            (None, None) => decoded.outcome = Outcome::Interrupted,
        }
        decoded
    }

    fn clear(&mut self) -> Vec<String> {
        self.before_prepare.end_newcomers()
    }
}

impl<V> OnThisMachine<'_, V> {
    fn try_to_time(&mut self) -> Result<Timed, String> {
        let place = self.executor.place(&self.launch)?;
        let streams = Streams::open(
            &self.launch.input,
            &self.launch.output,
            &place.directory,
            place.user.as_ref(),
        )?;
        let cpus = self.spawn.cpus.as_ref().or(self.launch.cpus.as_ref());
        let settings = Settings {
            streams: streams.descriptors(),
            cpus: cpus.map(|cpus| CpuMask::of(cpus.cpus())),
            scheduling: self.launch.priority.map(|priority| match priority {
                Priority::Nice(nice) => Scheduling::Nice(nice),
                Priority::Fifo(priority) => Scheduling::Fifo(priority),
            }),
            no_address_randomization: self.spawn.no_aslr,
            ..place.settings()
        };
        let mut prepared = self
            .executor
            .prepare(&self.launch.command, &place, settings)?;
        let household = Household::now()
            .map_err(|error| format!("processes cannot be looked after: {error}"))?;
        let watch = Watch {
            stopwatch: &self.executor.stopwatch,
            samplers: &mut self.executor.samplers,
            leader: &mut self.executor.leader,
        };
        let mut timed = time(watch, &mut prepared, self.interrupts, self.launch.timeout);
        timed.notes.extend(household.end_newcomers());
        drop(prepared);
        self.streams = Some(streams);
        Ok(timed)
    }

    /// What is not an end as it should be.
    fn failure(&self, how: &HowTimed) -> Option<Outcome> {
        let failure = match how {
            HowTimed::Interrupted => return Some(Outcome::Interrupted),
            HowTimed::NotStarted(reason) => Failure::Start {
                reason: reason.clone(),
            },
            HowTimed::TimedOut(after) => Failure::TimedOut { after: *after },
            HowTimed::Ended(Status::Signal {
                signal,
                core_dumped,
            }) => Failure::Signal {
                signal: *signal,
                core_dumped: *core_dumped,
            },
            HowTimed::Ended(Status::Code(code)) if self.launch.allowed_exit.contains(code) => {
                return None;
            }
            HowTimed::Ended(Status::Code(code)) => self
                .reason_of_built_in()
                .map_or(Failure::ExitCode(*code), |reason| Failure::Workload {
                    reason,
                }),
        };
        Some(Outcome::Failed(failure))
    }

    fn reason_of_built_in(&self) -> Option<String> {
        if !matches!(self.launch.command, Command::Itself { .. }) {
            return None;
        }
        let printed = self.streams.as_ref()?.stdout().ok()?;
        built_in::reason_for_failure(&printed)
    }

    fn decode_output(&self, measured: &Measured, decoded: &mut Decoded) {
        let nothing = || Err("it was not kept".to_owned());
        let streams = self.streams.as_ref();
        let ended = Ended {
            times: measured.times.clone(),
            granularity: self.executor.stopwatch.granularity().as_secs_f64(),
            stdout: streams.map_or_else(nothing, Streams::stdout),
            stderr: streams.map_or_else(nothing, Streams::stderr),
        };
        let found = self.workload.decode(self.spec, &ended);
        decoded.metrics = found.metrics;
        decoded.evidence.extend(found.evidence);
        decoded.notes.extend(found.notes);
        if let Some(failure) = found.failure {
            decoded.outcome = Outcome::Failed(failure);
        }
    }

    fn evidence(&self, measured: &Measured) -> Vec<Evidence> {
        let executor = &*self.executor;
        let Measured { usage, harness, .. } = measured;
        let mut found = usage::decode(usage, harness.after.peak_resident, executor.hz);
        found.extend(executor.leader.decode());
        found.extend(harness::decode(harness));
        let degrees = executor.thermometer.read().map(|celsius| celsius.0);
        found.push(evidence(
            "temperature.after",
            "package",
            Unit::CELSIUS,
            degrees,
        ));
        found.extend(self.streams.iter().flat_map(Streams::evidence));
        found.extend(executor.samplers.decode());
        found
    }
}
