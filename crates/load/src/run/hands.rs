//! What the bracket orders, done on this machine.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use knobstat_data::messages::RunSpec;
use knobstat_data::observation::{Failure, KnobReading, Outcome};
use knobstat_data::{Evidence, Priority, Unit};
use knobstat_sys::clock::Stopwatch;
use knobstat_sys::spawn::{Scheduling, Settings, Status};
use knobstat_sys::topology::CpuMask;

use super::bracket::{Decoded, Hands, Step};
use super::executor::{Executor, SpawnSettings};
use super::process::StepEnd;
use super::seat::Seat;
use super::settle::{COOLING_LIMIT, Settled, settle};
use super::streams::Streams;
use super::survivors::Household;
use super::timed::{HowTimed, Measured, Timed, Watch, time};
use crate::evidence::control_group::Group;
use crate::evidence::{clocks, evidence, harness, usage};
use crate::launch::{Command, Launch};
use crate::workloads::{Ended, Workload, built_in};

/// One run on this machine.
pub(super) struct OnThisMachine<'a, V> {
    pub(super) executor: &'a mut Executor,
    pub(super) spec: &'a RunSpec,
    pub(super) workload: &'static dyn Workload,
    pub(super) launch: Launch,
    pub(super) spawn: &'a SpawnSettings,
    pub(super) interrupts: &'a [BorrowedFd<'a>],
    pub(super) verify: V,
    pub(super) before_prepare: Household,
    /// Of the timed command, once it was started.
    pub(super) streams: Option<Streams>,
    /// The control group of the timed command, once it was made.
    pub(super) group: Option<Group>,
    /// The bytes of its environment.
    pub(super) environment_size: usize,
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
            let start = self.executor.stopwatch.read();
            decoded.evidence = self.evidence(measured);
            let stopwatch = &self.executor.stopwatch;
            let decoding = stopwatch.between(start, stopwatch.read());
            for (key, cost) in [
                ("evidence.taking", measured.taking_evidence),
                ("evidence.decoding", decoding),
            ] {
                let seconds = Ok(cost.as_secs_f64());
                let found = evidence(key, "agent", Unit::SECONDS, seconds);
                decoded.evidence.push(found);
            }
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
        let place = self.executor.surroundings.place(&self.launch)?;
        let streams = Streams::open(
            &self.launch.input,
            &self.launch.output,
            &place.directory,
            place.user.as_ref(),
        )?;
        let mut group = self.executor.groups.make();
        let group_directory = group
            .as_ref()
            .map(|group| group.as_fd().try_clone_to_owned())
            .transpose()
            .map_err(|error| format!("the run's control group cannot be held: {error}"))?;
        let cpus = self.spawn.cpus.as_ref().or(self.launch.cpus.as_ref());
        let settings = Settings {
            streams: streams.descriptors(),
            cpus: cpus.map(|cpus| CpuMask::of(cpus.cpus())),
            scheduling: self.launch.priority.map(|priority| match priority {
                Priority::Nice(nice) => Scheduling::Nice(nice),
                Priority::Fifo(priority) => Scheduling::Fifo(priority),
            }),
            no_address_randomization: self.spawn.no_aslr,
            control_group: group_directory.as_ref().map(AsFd::as_fd),
            ..place.settings()
        };
        let mut prepared =
            self.executor
                .surroundings
                .prepare(&self.launch.command, &place, settings)?;
        let household = Household::now()
            .map_err(|error| format!("processes cannot be looked after: {error}"))?;
        let _seat = Seat::take(cpus.map(|cpus| cpus.cpus()), self.launch.priority);
        let watch = Watch {
            stopwatch: &self.executor.stopwatch,
            samplers: &mut self.executor.samplers,
            leader: &mut self.executor.leader,
            resident: &self.executor.resident,
            group: group.as_mut(),
        };
        let mut timed = time(watch, &mut prepared, self.interrupts, self.launch.timeout);
        timed.notes.extend(household.end_newcomers());
        drop(prepared);
        self.group = group;
        self.streams = Some(streams);
        self.environment_size = place.environment.size();
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

    fn evidence(&mut self, measured: &Measured) -> Vec<Evidence> {
        let step = self.executor.steps.present();
        let executor = &*self.executor;
        let Measured { usage, harness, .. } = measured;
        let mut found = usage::decode(usage, measured.inherited_peak, executor.hz);
        found.extend(executor.leader.decode());
        found.extend(harness::decode(harness));
        found.extend(clocks::decode(&against(
            measured,
            &executor.stopwatch,
            step,
        )));
        let degrees = executor.thermometer.read().map(|celsius| celsius.0);
        found.push(evidence(
            "temperature.after",
            "package",
            Unit::CELSIUS,
            degrees,
        ));
        // The environment lies above the stack, whose place decides how memory is aligned.
        found.push(evidence(
            "environment.size",
            "run",
            Unit::BYTES,
            Ok(self.environment_size as f64),
        ));
        found.extend(executor.groups.decode(self.group.as_ref()));
        found.extend(self.streams.iter().flat_map(Streams::evidence));
        found.extend(executor.samplers.decode());
        found
    }
}

/// The kernel's clocks against the stopwatch over the timed window.
fn against(measured: &Measured, stopwatch: &Stopwatch, step: Option<Duration>) -> clocks::Against {
    let [first, second] = &measured.sightings;
    clocks::Against {
        least: stopwatch.between(first.after, second.before),
        most: stopwatch.between(first.before, second.after),
        monotonic: measured.times.monotonic,
        monotonic_raw: measured.times.monotonic_raw,
        boottime: measured.times.boottime,
        uncertainty_ppm: stopwatch.uncertainty_ppm(),
        apart: stopwatch.apart_at_most(),
        granularity: stopwatch.granularity(),
        step,
    }
}
