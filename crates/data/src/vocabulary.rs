//! What an experiment file may speak of: the knobs and the workloads that exist.
//!
//! This crate knows no knob and no workload by name. The program gathers the words from the
//! catalogue of knobs and from the registry of workloads and hands them to the parser, so that a
//! new knob or a new workload needs no change here.

use crate::words::Metric;

/// Every knob and workload that an experiment file may name.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// The knobs of the catalogue.
    pub knobs: Vec<KnobWord>,
    /// The workloads that exist.
    pub workloads: Vec<WorkloadSchema>,
}

/// A knob as the parser knows it.
#[derive(Clone, Debug)]
pub struct KnobWord {
    /// Its name: `clocksource`.
    pub name: String,
    /// When a change of it takes effect.
    pub scope: Scope,
    /// The levels that it can have on any machine, where they are a closed list.
    pub levels: Option<Vec<String>>,
}

/// When a change of a knob takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// At once.
    Runtime,
    /// For one process, when it is started.
    Process,
    /// At the next boot.
    Boot,
    /// With another kernel.
    Build,
}

impl Scope {
    /// Whether a change of level needs a reboot.
    pub fn needs_boot(self) -> bool {
        matches!(self, Self::Boot | Self::Build)
    }
}

/// A workload's parameters and metrics.
#[derive(Clone, Debug)]
pub struct WorkloadSchema {
    /// The `kind` by which a file asks for it.
    pub kind: &'static str,
    /// One sentence on what it does.
    pub summary: &'static str,
    /// Its parameters, in the order of the documentation.
    pub parameters: &'static [ParameterSchema],
    /// The metrics that it always yields, the default one first.
    pub metrics: fn() -> Vec<Metric>,
    /// How many warm-up runs a treatment gets in each block where the file says nothing.
    pub warmup_runs: u32,
    /// Whether its parameters may hold `{factor}` placeholders.
    pub placeholders: bool,
}

/// One parameter of a workload.
#[derive(Clone, Debug)]
pub struct ParameterSchema {
    /// The key in `[workload]`.
    pub name: &'static str,
    /// What its values look like.
    pub kind: ParameterKind,
    /// The value where the file says nothing.
    pub default: DefaultValue,
    /// Whether it may be a factor.
    pub factor: bool,
    /// One or two sentences for the documentation.
    pub documentation: &'static str,
}

/// A parameter that may be a factor.
pub const fn parameter(
    name: &'static str,
    kind: ParameterKind,
    default: DefaultValue,
    documentation: &'static str,
) -> ParameterSchema {
    ParameterSchema {
        name,
        kind,
        default,
        factor: true,
        documentation,
    }
}

/// The value of a parameter that a file leaves out.
#[derive(Clone, Copy, Debug)]
pub enum DefaultValue {
    /// The file must give it.
    Required,
    /// It stays absent, and the workload decides.
    Absent,
    /// This value, written as in a file (TOML).
    Written(&'static str),
}

/// What the values of a parameter look like, and so how they are checked.
#[derive(Clone, Copy, Debug)]
pub enum ParameterKind {
    /// `true` or `false`.
    Boolean,
    /// A whole number within these bounds, both included.
    Integer(i64, i64),
    /// A whole number from the first bound to the second; up to the third it is known but cannot
    /// be had yet.
    IntegerNotYet(i64, i64, i64),
    /// A stretch of time longer than nothing: `"200ms"`.
    Duration,
    /// A size: `64` or `"4KiB"`, within these bounds in bytes.
    Size(u64, u64),
    /// A rate: packets a second as a number, or bits as in `"50Mbit"`.
    Rate,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One of the first words; the second are known but cannot be had yet, with the reason.
    ChoiceNotYet(&'static [&'static str], &'static [&'static str]),
    /// One of these words, or a table of this one key with a text, as in
    /// `{ receiver = "HOST:PORT" }`.
    ChoiceOrNamed(&'static [&'static str], &'static str),
    /// Any text.
    Text,
    /// A command: a text, split as a shell splits words, or a list of words. Its value is a list
    /// of texts; where the workload's parameter `shell` is true, one text for `sh -c`.
    Command,
    /// A table of texts.
    Environment,
    /// A CPU list.
    Cpus,
    /// `"nice:N"` or `"fifo:N"`.
    Priority,
    /// A list of whole numbers within these bounds.
    Integers(i64, i64),
    /// `"null"`, `"file:PATH"` or `"inherit"`.
    Stream,
    /// Named metrics, each `{ regex = "…(…)…", unit, better }` or `{ json = "/a/b", … }`.
    Metrics,
}

impl Vocabulary {
    /// The knob of this name.
    pub fn knob(&self, name: &str) -> Option<&KnobWord> {
        self.knobs.iter().find(|knob| knob.name == name)
    }

    /// The workload of this kind.
    pub fn workload(&self, kind: &str) -> Option<&WorkloadSchema> {
        self.workloads.iter().find(|workload| workload.kind == kind)
    }
}
