//! What came of a run: its outcome, its metrics and the evidence around it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::words::{AttemptId, Celsius, Level, Metric, RunId, Unit, UnixTime};

/// One execution of a planned run, finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Its own random identity.
    pub id: AttemptId,
    /// The run that it executed.
    pub run: RunId,
    /// The block of the run.
    pub block: usize,
    /// The boot of the run within its block.
    pub boot: usize,
    /// The treatment's index in the plan.
    pub treatment: usize,
    /// The index of a warm-up run; absent for a measured one.
    pub warmup: Option<u32>,
    /// The place of the attempt in the order of execution, from 0.
    pub sequence: u64,
    /// When it began.
    pub started: UnixTime,
    /// When it ended.
    pub finished: UnixTime,
    /// What came of it.
    pub result: RunResult,
}

/// What a note of an attempt begins with that tells of a boot that did not come up, or of a
/// machine that went away, before it.
pub const BOOT_NOTE: &str = "boot: ";

/// What a target says of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// How it ended.
    pub outcome: Outcome,
    /// Its metrics, as far as it yielded any.
    pub metrics: Vec<MetricValue>,
    /// What else was seen meanwhile.
    pub evidence: Vec<Evidence>,
    /// The stopwatch's readings.
    pub times: Option<Times>,
    /// The knobs as they were read just before the run.
    pub before: Vec<KnobReading>,
    /// The knobs as they were read just after it.
    pub after: Vec<KnobReading>,
    /// The wait before the run.
    pub settling: Settling,
    /// Plain sentences: leftovers that were ended, a cleanup that failed.
    pub notes: Vec<String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Everything as asked: the run's observation.
    Ok,
    /// The settings did not hold: kept, left out of the analysis, repeated.
    Tainted(Vec<Taint>),
    /// The workload or a step around it failed.
    Failed(Failure),
    /// It was broken off from outside; the run is still to be done.
    Interrupted,
}

impl Outcome {
    /// One word for tables and for the store.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Tainted(_) => "tainted",
            Self::Failed(_) => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A setting that did not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taint {
    /// The knob, or what else of the machine changed.
    pub knob: String,
    /// What was asked for or read before.
    pub expected: String,
    /// What was read after.
    pub found: String,
    /// Who is likely to have done it, or what it means.
    pub cause: Option<String>,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// A step before or after the timed command failed.
    Step {
        /// `setup`, `prepare`, `cleanup` or `teardown`.
        step: String,
        /// What happened to it.
        reason: String,
    },
    /// A knob could not be set for it.
    Knob {
        /// The knob.
        knob: String,
        /// Why.
        reason: String,
    },
    /// The machine did not come up in the boot that it needs, or went away in the middle of it.
    Boot {
        /// What happened, and the last that was heard of it.
        reason: String,
    },
    /// The program could not be started.
    Start {
        /// Why.
        reason: String,
    },
    /// It ended with a code that is not allowed.
    ExitCode(i32),
    /// It was ended by a signal.
    Signal {
        /// The signal's number.
        signal: i32,
        /// Whether it dumped core.
        core_dumped: bool,
    },
    /// It was still running at its timeout, and was ended.
    TimedOut {
        /// The timeout.
        after: Duration,
    },
    /// It ended well, but a metric could not be read from its output.
    Metric {
        /// The metric.
        metric: String,
        /// Why.
        reason: String,
    },
    /// A built-in workload says that it could not do its work.
    Workload {
        /// Why.
        reason: String,
    },
}

/// A value of a metric in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricValue {
    /// The metric.
    pub metric: Metric,
    /// The value; finite.
    pub value: f64,
    /// What held the value down, where it was not the thing under test.
    pub limited_by: Option<Limit>,
    /// The smallest difference that the value could show (the step of its clock), in its unit.
    pub granularity: Option<f64>,
}

/// What held a throughput down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The sender's CPU: the thing under test.
    Sender,
    /// The receiver lost or lagged.
    Receiver,
    /// The link was full.
    Link,
    /// The asked rate was kept.
    Pacer,
}

impl Limit {
    /// Whether a value held down by this says nothing of how much more there could be.
    pub fn censors(self) -> bool {
        !matches!(self, Self::Sender)
    }

    /// The word for it in a sentence.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Link => "link",
            Self::Pacer => "pacer",
        }
    }
}

/// Something else that was seen around a run: key, scope, unit, value or reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What was seen, dotted: `cpu.user_and_system`, `pacer.packets_per_wait`.
    pub key: String,
    /// Where it was seen: `run`, `cpu0`, `sender`.
    pub scope: String,
    /// The unit of the value.
    pub unit: Unit,
    /// The value, or why there is none.
    pub value: Result<f64, String>,
}

/// One run's times by several clocks, so that a suspended machine or a clock that stood still
/// is seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// The stopwatch's name: `tsc`, `monotonic-raw`, …
    pub stopwatch: String,
    /// By the stopwatch.
    pub wall: Duration,
    /// By CLOCK_MONOTONIC.
    pub monotonic: Duration,
    /// By CLOCK_MONOTONIC_RAW.
    pub monotonic_raw: Duration,
    /// By CLOCK_BOOTTIME.
    pub boottime: Duration,
    /// The user and system time of the workload and its descendants.
    pub cpu: Duration,
}

/// A knob as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnobReading {
    /// The knob.
    pub knob: String,
    /// The level asked for, where one was.
    pub asked: Option<Level>,
    /// The level read, or why it could not be read.
    pub read: Result<Level, String>,
}

/// The wait before a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settling {
    /// Whether a knob was changed for this run.
    pub knobs_changed: bool,
    /// How long it was waited.
    pub waited: Duration,
    /// The package's temperature before the run, where it can be read.
    pub temperature: Option<Celsius>,
    /// Whether the wait for a cooler package ran into its limit.
    pub still_hot: bool,
}

impl RunResult {
    /// A result without measurements.
    pub fn bare(outcome: Outcome) -> Self {
        Self {
            outcome,
            metrics: Vec::new(),
            evidence: Vec::new(),
            times: None,
            before: Vec::new(),
            after: Vec::new(),
            settling: Settling::default(),
            notes: Vec::new(),
        }
    }

    /// The value of a metric.
    pub fn metric(&self, name: &str) -> Option<&MetricValue> {
        self.metrics.iter().find(|value| value.metric.name == name)
    }
}

impl Attempt {
    /// Whether this is an observation: a measured run that went as asked.
    pub fn is_observation(&self) -> bool {
        self.warmup.is_none() && self.result.outcome == Outcome::Ok
    }
}
