//! The conversation across the seam: plain requests and replies, the same for every target.
//!
//! One request, one reply, never two under way; no message crosses while a run is measured.

mod boots;
mod frame;
mod start;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::experiment::OwnKnob;
use crate::observation::{KnobReading, RunResult};
use crate::words::{Celsius, ExperimentId, Level, Metric, Parameters, RunId, Setting};
use crate::{Machine, vocabulary::Scope};

pub use boots::{Boot, BootLoader, BootName, MayReboot, Resume};
pub use frame::{END, FrameError, Header, LARGEST_FRAME, READY, VERSION, decode, encode, header};
pub use start::PlannedStart;

/// What is asked of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// What machine is this, and what of these settings can it take? Begins a session.
    Describe(Describe),
    /// Take the machine for an experiment: nobody else may, until the session ends.
    Begin(Begin),
    /// Turn these knobs, and read them back.
    Apply(Vec<Setting>),
    /// The once-per-treatment step before a treatment's first run.
    SetUp(RunSpec),
    /// Read the knobs back, wait, run, read back again.
    Run(RunSpec),
    /// The once-per-treatment step after the last run of a treatment.
    TearDown(RunSpec),
    /// Read every knob that was turned.
    Verify,
    /// Put everything back.
    Restore,
    /// Be in this boot, and reboot where the machine is in another.
    Boot(Box<Boot>),
    /// No boot is wanted any more: the machine is to boot by itself as it always did, and to do
    /// so now where it is in a boot of the experiment.
    EndBoots,
}

/// What a target answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// To [`Request::Describe`].
    Described(Box<Description>),
    /// To [`Request::Begin`]: the machine is taken.
    Begun {
        /// What was found left behind and put back first, in sentences.
        put_back: Vec<String>,
    },
    /// To [`Request::Apply`].
    Applied {
        /// Every knob asked for, as read back.
        readings: Vec<KnobReading>,
        /// Whether any was changed.
        changed: bool,
    },
    /// To [`Request::SetUp`] and [`Request::TearDown`].
    Stepped,
    /// To [`Request::Run`].
    Ran(Box<RunResult>),
    /// To [`Request::Verify`].
    Verified(Vec<KnobReading>),
    /// To [`Request::Restore`].
    Restored(Restoration),
    /// It cannot be done.
    Refused(Refusal),
    /// To [`Request::Boot`]: the machine is in that boot.
    Booted,
    /// To [`Request::Boot`]: the machine reboots as soon as the conversation is over.
    Rebooting,
    /// To [`Request::EndBoots`]: what was done, in sentences.
    BootsEnded(Vec<String>),
}

/// The beginning of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Describe {
    /// Knobs that the experiment file declares.
    pub own_knobs: Vec<OwnKnob>,
    /// The settings that an experiment would want: each factor's every level, and what is fixed.
    pub wanted: Vec<Setting>,
    /// The commands that the workload would start, for finding out before any setting is touched
    /// that one of them cannot be.
    pub starts: Vec<PlannedStart>,
    /// The workload and every set of parameters that it is to run with.
    pub workload: WantedWorkload,
    /// Whether the machine may be rebooted for settings that need it. Set by the target, which
    /// was given the consent.
    pub may_reboot: Option<MayReboot>,
}

/// What a workload is to run with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WantedWorkload {
    /// Its kind.
    pub kind: String,
    /// Different sets of parameters, of one or more treatments each.
    pub cells: Vec<Parameters>,
}

/// A set of parameters that a workload cannot run with on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LackingCell {
    /// Its place in [`WantedWorkload::cells`].
    pub index: usize,
    /// The parameter whose value cannot be had.
    pub parameter: String,
    /// Why, in one sentence.
    pub reason: String,
    /// What would make it available, in one sentence.
    pub remedy: Option<String>,
}

/// Taking the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// The experiment that takes it.
    pub experiment: ExperimentId,
    /// Whether values that somebody else wrote are put back as well.
    pub overwrite_others: bool,
}

/// What a target is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The machine.
    pub machine: Machine,
    /// Every setting asked about, in the order of the request.
    pub settings: Vec<SettingState>,
    /// Why commands cannot be started, each reason once.
    pub hindrances: Vec<Refusal>,
    /// The sets of parameters that the workload cannot run with here, in the order of the
    /// request.
    pub lacking_cells: Vec<LackingCell>,
}

/// Whether a setting can be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingState {
    /// The setting.
    pub setting: Setting,
    /// Whether it can be had, or why not.
    pub availability: Availability,
}

/// Whether a knob or a level of it can be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Availability {
    /// It can.
    Available,
    /// It cannot, for this reason; what would make it possible is said where it is known.
    Unavailable {
        /// Why, in one sentence.
        reason: String,
        /// What would make it available, in one sentence.
        remedy: Option<String>,
    },
}

/// What one run needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The planned cell.
    pub run: RunId,
    /// Which workload.
    pub workload: String,
    /// Its parameters: the treatment's levels in place, placeholders filled in.
    pub parameters: Parameters,
    /// The metrics that are wanted of it.
    pub metrics: Vec<Metric>,
    /// The knobs that must be in force.
    pub knobs: Vec<Setting>,
    /// The wait before the run.
    pub settle: Duration,
    /// Whether a knob was changed for this run.
    pub knobs_changed: bool,
    /// Wait until the package is cooler than this.
    pub cool_below: Option<Celsius>,
}

/// What became of the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restoration {
    /// What was put back, in sentences.
    pub put_back: Vec<String>,
    /// Values of somebody else that were left alone.
    pub left_alone: Vec<String>,
    /// What could not be put back, each with the command that a person would type.
    pub failed: Vec<RestoreFailure>,
}

/// A setting that could not be put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreFailure {
    /// What and why, in one sentence.
    pub reason: String,
    /// The command that a person would type.
    pub command: String,
}

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// What kind of trouble it is: it decides the exit code.
    pub kind: RefusalKind,
    /// The cause, in one sentence.
    pub cause: String,
    /// The remedy, in one sentence.
    pub remedy: String,
}

/// What kind of trouble a refusal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RefusalKind {
    /// The request itself is wrong.
    Request,
    /// A setting cannot be had or does not hold.
    Setting,
    /// What an earlier experiment left behind could not be put back.
    Restore,
    /// Another experiment runs on this machine.
    Busy,
    /// The state directory, the journal or the disk failed.
    Disk,
    /// A program is missing.
    Missing,
    /// A program is not executable.
    NotExecutable,
    /// A step around the runs failed.
    Step,
    /// The other side does not keep to the conversation.
    Protocol,
    /// Nobody would put the machine back: the guardian has ended, or cannot be started.
    Unguarded,
}

/// A knob as `knobstat knobs` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnobState {
    /// Its name.
    pub name: String,
    /// One line on what it is.
    pub summary: String,
    /// When a change takes effect.
    pub scope: Scope,
    /// The present value, or why there is none.
    pub value: Result<Level, String>,
    /// The levels that this machine offers, each with its availability.
    pub levels: Vec<(Level, Availability)>,
    /// Whether it can be turned at all here.
    pub settable: Availability,
}
