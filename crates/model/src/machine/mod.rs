//! A machine file: everything that is known of a simulated machine, each parameter with its unit,
//! its source and how it was come by.
//!
//! Nothing here simulates; a file that was read is within limits that make every simulation of it
//! finite.

mod limits;
mod parameter;
mod quantity;

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

pub use parameter::{Listed, Origin, Parameter, list};
pub use quantity::{ByteCount, Cycles, Frequency, LinkRate, PerSecond, Share, Time, TimePerByte};

/// A simulated machine.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineFile {
    /// What it is a model of, in one line.
    pub name: String,
    /// More of it, for readers of the file.
    #[serde(default)]
    pub description: Option<String>,
    /// The processor's name.
    #[serde(default)]
    pub processor: Option<String>,
    /// The operating system that it runs.
    #[serde(default)]
    pub kernel: Option<String>,
    /// The seed of everything that is random about it.
    pub seed: u64,
    /// Its processor.
    pub cores: Cores,
    /// The states of an idle CPU, the shallowest first.
    pub idle_states: Vec<IdleState>,
    /// Its periodic timer interrupt.
    pub tick: Tick,
    /// Its clock sources; the first is the one in force when nobody chose.
    pub clocks: Vec<Clock>,
    /// What stands for a command.
    #[serde(default)]
    pub job: Option<Job>,
    /// What stands for two machines and the link between them.
    #[serde(default)]
    pub network: Option<Network>,
    /// What goes wrong from run to run.
    #[serde(default)]
    pub disturbance: Disturbance,
}

/// A processor of equal cores in one package.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cores {
    /// How many cores.
    pub count: Parameter<u32>,
    /// Hardware threads of each, 1 or 2: the logical CPUs 2n and 2n + 1 share core n.
    pub threads_per_core: Parameter<u32>,
    /// The share of its speed that a thread keeps while the other one of its core works too.
    pub shared_speed: Parameter<Share>,
    /// The frequency without turbo.
    pub base_frequency: Parameter<Frequency>,
    /// The frequency that is granted while one core is awake, while two are, and so on. As the
    /// base frequency where there is no turbo.
    #[serde(default)]
    pub turbo: Option<Parameter<Vec<Frequency>>>,
    /// How long a higher frequency must have been possible before the package grants it.
    pub grant: Parameter<Time>,
    /// How long after a core is awake the package withdraws a frequency that is not possible any
    /// more.
    pub withdraw: Parameter<Time>,
}

/// A state of an idle CPU.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleState {
    /// Its name: a level of the knob `cstate`, which allows it and those before it.
    pub name: String,
    /// The time from deciding for it to being in it.
    pub entry: Parameter<Time>,
    /// The time from a wake-up to the first instruction; the core counts as awake after it.
    pub exit: Parameter<Time>,
    /// It is chosen only when the next timer is at least this far away.
    pub minimum_stay: Parameter<Time>,
    /// Whether a core in it counts as asleep for turbo.
    pub asleep: Parameter<bool>,
    /// Whether counters of the core stop in it.
    #[serde(default)]
    pub stops_counters: Option<Parameter<bool>>,
}

/// The periodic timer interrupt of every CPU.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tick {
    /// The rates that a kernel can be built or booted with: the levels of `hz`, the first in
    /// force when nobody chose. In interrupts a second.
    pub hz: Parameter<Vec<u32>>,
    /// How long its handler works, from the first instruction, alone on its core.
    pub handler: Parameter<Time>,
    /// When the ticks of the CPUs come.
    pub alignment: Parameter<Alignment>,
    /// Other wake-ups of an idle CPU, at random moments.
    pub other_wakes: Parameter<PerSecond>,
    /// Whether idle CPUs tick when nobody chose.
    pub idle_tick: Parameter<bool>,
}

/// When the ticks of several CPUs come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alignment {
    /// All at the same moment.
    Together,
    /// Spread evenly over the period.
    Spread,
}

/// A clock source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// Its name: a level of the knob `clocksource`.
    pub name: String,
    /// How far it moves at once.
    pub step: Parameter<Step>,
    /// What a reading costs, without the system call.
    pub read_cost: Parameter<Time>,
    /// What the system call costs, where a reading needs one.
    #[serde(default)]
    pub system_call: Option<Parameter<Time>>,
    /// Whether it stands still in idle states that stop the core's counters: the kernel then takes
    /// it for unstable.
    #[serde(default)]
    pub stops_in_deep_sleep: Option<Parameter<bool>>,
    /// How much too fast it runs.
    #[serde(default)]
    pub drift: Option<Parameter<Share>>,
}

impl Clock {
    /// What a reading costs, in nanoseconds.
    pub fn cost(&self) -> f64 {
        self.read_cost.value.0 + self.system_call.as_ref().map_or(0.0, |call| call.value.0)
    }
}

/// How far a clock moves at once.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Step {
    /// By one tick: it stands still between two ticks, as jiffies do.
    Tick(TickWord),
    /// By this much.
    Of(Time),
}

/// The word `tick`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum TickWord {
    /// As in the file.
    #[serde(rename = "tick")]
    Tick,
}

/// The work of a command: so many cycles on one CPU.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// What it stands for, in a few words.
    pub stands_for: String,
    /// How long it is, counted at the base frequency and undisturbed, waits for memory included.
    pub work: Parameter<Cycles>,
    /// The share of that time in which it waits for memory, which no core's frequency shortens.
    pub memory_share: Parameter<Share>,
    /// The logical CPU that it runs on where the command is not told.
    pub cpu: Parameter<u32>,
}

/// A sender, a link and a receiver.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The sending machine's costs, by the way in which datagrams are handed to the kernel.
    pub methods: BTreeMap<String, SendMethod>,
    /// The sender's socket buffer.
    pub send_buffer: SendBuffer,
    /// The link.
    pub link: Link,
    /// The receiving machine.
    pub receiver: Receiver,
}

/// What a way of sending costs the sender's CPU.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendMethod {
    /// For each datagram, whatever its size and without reading a clock.
    pub per_packet: Parameter<Time>,
    /// For each byte of payload.
    pub per_byte: Parameter<TimePerByte>,
}

/// The sender's socket buffer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendBuffer {
    /// How much it holds.
    pub size: Parameter<ByteCount>,
    /// What is charged for a datagram beside its payload.
    pub overhead: Parameter<ByteCount>,
    /// A sender that found it full is woken when no more than this share is taken.
    pub wake_below: Parameter<Share>,
    /// After how many datagrams the card tells what it has sent: only then is the room given back.
    pub told_of: Parameter<u32>,
    /// How long after the first datagram that it has not told of it does so in any case.
    pub told_after: Parameter<Time>,
}

/// The link between the machines.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its rate.
    pub rate: Parameter<LinkRate>,
    /// What a datagram takes of it beside its payload.
    pub overhead: Parameter<ByteCount>,
    /// The largest datagram that goes in one packet, headers included.
    pub mtu: Parameter<ByteCount>,
}

/// The receiving machine.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receiver {
    /// What a datagram costs its CPU.
    pub per_packet: Parameter<Time>,
    /// Its socket buffer.
    pub buffer: Parameter<ByteCount>,
    /// What is charged for a datagram beside its payload.
    pub overhead: Parameter<ByteCount>,
}

/// What goes wrong from run to run. Nothing, where the file says nothing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Disturbance {
    /// The standard deviation of the length of a run, relative.
    pub noise: Option<Parameter<Share>>,
    /// How much of the noise of a run is still there in the next one, 0 to below 1.
    pub autocorrelation: Option<Parameter<f64>>,
    /// How much longer every run is than the one before it.
    pub drift: Option<Parameter<Share>>,
    /// Runs that are longer for a reason of their own.
    pub outliers: Option<Outliers>,
    /// Who turns knobs back.
    pub daemons: Vec<Daemon>,
    /// The kernel's doubt in a clock source.
    pub watchdog: Option<Watchdog>,
}

/// Runs that are longer for a reason of their own.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outliers {
    /// How often.
    pub chance: Parameter<Share>,
    /// How much longer.
    pub longer: Parameter<Share>,
}

/// A program that turns a knob while a run is under way.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Daemon {
    /// Its name.
    pub name: String,
    /// The knob.
    pub knob: String,
    /// What it sets it to.
    pub value: String,
    /// How often it does, of the runs in which the knob is set otherwise.
    pub chance: Parameter<Share>,
}

/// The kernel's watchdog over clock sources.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watchdog {
    /// The clock source that it comes to doubt.
    pub clock: String,
    /// What it puts in its place.
    pub replacement: String,
    /// How often it does, of the runs with that clock source.
    pub chance: Parameter<Share>,
    /// Whether the clock source cannot be had again before the next boot.
    pub for_good: Parameter<bool>,
}

/// Why a text is no machine file.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MachineError {
    /// It is no TOML, or not of this shape.
    #[error("{file} is no machine file: {error}")]
    Shape {
        /// How the file is called.
        file: String,
        /// What is wrong, with its place.
        error: String,
    },
    /// It is of the shape and makes no machine.
    #[error("{file}: {what} {problem}; {remedy}")]
    Limit {
        /// How the file is called.
        file: String,
        /// The parameter.
        what: String,
        /// What is wrong with it.
        problem: String,
        /// What to write instead.
        remedy: String,
    },
}

impl MachineFile {
    /// The machine that a file's text describes. `file_name` is how messages call the file;
    /// nothing is opened.
    ///
    /// # Errors
    /// The first fault of the text.
    pub fn parse(source: &str, file_name: &str) -> Result<Self, MachineError> {
        let machine: Self = toml::from_str(source).map_err(|error| MachineError::Shape {
            file: file_name.to_owned(),
            error: error.to_string().trim_end().to_owned(),
        })?;
        match limits::fault(&machine) {
            None => Ok(machine),
            Some(fault) => Err(MachineError::Limit {
                file: file_name.to_owned(),
                what: fault.what,
                problem: fault.problem,
                remedy: fault.remedy,
            }),
        }
    }

    /// How many logical CPUs it has, all threads counted.
    pub fn cpus(&self) -> u32 {
        self.cores.count.value * self.cores.threads_per_core.value
    }

    /// The clock source of this name.
    pub fn clock(&self, name: &str) -> Option<&Clock> {
        self.clocks.iter().find(|clock| clock.name == name)
    }
}
