//! An experiment as its author wrote it, validated.

mod canonical;
mod commands;
mod diagnostics;
pub mod keys;
mod parameters_for;
mod parse;
mod quantities;
mod read;
mod starts;
mod suggest;
mod syntax;
mod templates;
mod toml_text;
mod try_request;
mod values;
mod virtual_machine;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::vocabulary::{Scope, Vocabulary};
use crate::words::{Celsius, Level, Metric, Parameters, Ratio, Setting, Treatment, Value};

pub use diagnostics::{Diagnostic, Diagnostics};
pub use parameters_for::ParametersError;
pub use quantities::{QuantityError, Rate, parse_duration, parse_rate, parse_size};
pub use suggest::nearest;
pub use templates::TemplateError;
pub use try_request::{TryError, TryRequest};
pub use virtual_machine::{Accelerator, GuestTime, VirtualMachine};

/// A validated experiment: what varies, what is run, in which design, and how it is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// One line.
    pub name: String,
    /// A longer text for the report.
    pub description: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// What is run.
    pub workload: Workload,
    /// What varies, in the order of the file.
    pub factors: Vec<Factor>,
    /// Knobs held at one value throughout.
    pub fixed: Vec<FixedKnob>,
    /// Knobs that the file itself declares.
    pub own_knobs: Vec<OwnKnob>,
    /// Blocks, order and limits.
    pub design: Design,
    /// The machine it runs on.
    pub target: TargetChoice,
    /// How the observations are judged.
    pub analysis: AnalysisChoice,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Which workload.
    pub kind: String,
    /// Its parameters, defaults filled in; texts may still hold `{factor}` placeholders.
    /// Where a parameter is a factor, [`Experiment::parameters_for`] puts the level in its place.
    pub parameters: Parameters,
    /// The parameters that are factors: one value for each level, in the order of the levels.
    pub varied: BTreeMap<String, Vec<Value>>,
    /// The names of the parameters whose texts are templates with `{factor}` placeholders.
    pub templates: Vec<String>,
    /// The names of the parameters that are commands: a [`Value::List`] of words, or a
    /// [`Value::Text`] for `sh -c`.
    pub commands: Vec<String>,
    /// Runs that are recorded and not analysed, per treatment and block.
    pub warmup_runs: u32,
    /// Every metric that a run yields, the workload's default one first.
    pub metrics: Vec<Metric>,
}

/// One thing that varies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// Its levels, in the order of the file, none twice.
    pub levels: Vec<Level>,
    /// Where its levels go.
    pub kind: FactorKind,
}

/// A knob held at one value throughout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedKnob {
    /// The knob and its value.
    pub setting: Setting,
    /// When a change of it takes effect.
    pub scope: Scope,
}

/// Where the levels of a factor go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FactorKind {
    /// A setting of the target.
    Knob(Scope),
    /// A parameter of the workload.
    Parameter,
    /// Only a `{placeholder}` of the workload's command.
    Placeholder,
}

impl FactorKind {
    /// Whether the factor is a setting of the target.
    pub fn is_knob(self) -> bool {
        matches!(self, Self::Knob(_))
    }
}

/// A knob that the file declares: three commands, run as root where there is root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnKnob {
    /// Its name.
    pub name: String,
    /// Prints the present value.
    pub get: Vec<String>,
    /// Sets it; `{value}` is replaced.
    pub set: Vec<String>,
    /// Puts back an old value, `{value}`; `set` where the file says nothing.
    pub restore: Vec<String>,
    /// When a change takes effect.
    pub scope: Scope,
}

/// Blocks, order and limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// How many blocks.
    pub replicates: u32,
    /// When to stop before or after that.
    pub stop: Option<Stop>,
    /// The order within a block.
    pub order: Order,
    /// The seed of the order, where the file gives one.
    pub seed: Option<u64>,
    /// Treatments left out: each partial treatment stands for all that agree with it.
    pub exclude: Vec<Treatment>,
    /// Wait before a run whose knobs were changed.
    pub settle: Settle,
    /// Wait before a run until the package is cooler than this.
    pub cool_below: Option<Celsius>,
    /// What a level that this machine lacks does.
    pub unavailable: Unavailable,
    /// How often a tainted run is repeated.
    pub max_repeats: u32,
    /// What a failed run does.
    pub on_failure: OnFailure,
}

/// The wait before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Settle {
    /// 200 ms after a change of a knob, nothing otherwise.
    AfterChange,
    /// This long before every run.
    Always(Duration),
}

impl Settle {
    /// The wait before a run, given whether a knob was changed for it.
    pub fn before_run(self, changed: bool) -> Duration {
        match self {
            Self::AfterChange if changed => Duration::from_millis(200),
            Self::AfterChange => Duration::ZERO,
            Self::Always(wait) => wait,
        }
    }
}

/// When enough is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// Stop when every comparison's interval is this narrow on either side, as a share of the
    /// baseline's mean.
    pub half_width: Option<Ratio>,
    /// Stop when every comparison is different, or equivalent within this share.
    pub margin: Option<Ratio>,
    /// Never fewer blocks than this.
    pub min_replicates: u32,
    /// Never more.
    pub max_replicates: u32,
}

/// The order of the runs within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Drawn anew for every block.
    RandomizedBlocks,
    /// As the factorial is written, every block alike.
    AsWritten,
}

/// What a level that this machine lacks does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unavailable {
    /// It is left out, shown with its reason, and the rest goes on.
    Skip,
    /// The experiment is refused.
    Error,
}

/// What a failed run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// It is recorded, and the rest goes on.
    Continue,
    /// The experiment stops there.
    Stop,
}

/// The machine that an experiment runs on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetChoice {
    /// This one.
    Local,
    /// A simulated one.
    Model {
        /// The path of its machine file, as the experiment file gives it.
        machine: String,
    },
    /// A guest, booted for it.
    Vm(Box<VirtualMachine>),
}

/// How the observations are judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnalysisChoice {
    /// The metric of the verdicts; always one of the workload's.
    pub metric: Metric,
    /// What the others are compared with: settings left out are held equal in a comparison.
    pub baseline: Treatment,
    /// The confidence of intervals and of the family of comparisons.
    pub confidence: Ratio,
    /// Within this share of the baseline two levels are equivalent.
    pub margin: Option<Ratio>,
    /// How the p-values of a family are adjusted.
    pub correction: Correction,
    /// Whether metrics timed by the clock under test may have verdicts.
    pub trust_self_timed: bool,
}

/// How the p-values of a family are adjusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// Holm's step-down procedure.
    Holm,
    /// Dunnett's comparisons with one baseline.
    Dunnett,
    /// Tukey's comparisons of all pairs.
    Tukey,
    /// Benjamini and Hochberg's control of the false discovery rate.
    BenjaminiHochberg,
    /// No adjustment.
    None,
}

impl Experiment {
    /// The experiment that a file describes, checked against the words that exist.
    ///
    /// `file_name` is how messages call the file; nothing is opened.
    ///
    /// # Errors
    /// Every fault of the file at once.
    pub fn parse(
        source: &str,
        file_name: &str,
        vocabulary: &Vocabulary,
    ) -> Result<Self, Diagnostics> {
        parse::parse(source, file_name, vocabulary)
    }

    /// The factor of this name.
    pub fn factor(&self, name: &str) -> Option<&Factor> {
        self.factors.iter().find(|factor| factor.name == name)
    }

    /// The settings of a treatment that are settings of the target, in the order of the factors,
    /// after those that are fixed.
    pub fn knob_settings(&self, treatment: &Treatment) -> Vec<Setting> {
        let of_treatment = treatment.settings.iter().filter(|setting| {
            self.factor(&setting.factor)
                .is_some_and(|factor| factor.kind.is_knob())
        });
        let held = self.fixed.iter().map(|fixed| &fixed.setting);
        held.chain(of_treatment).cloned().collect()
    }

    /// When a change of a knob of this experiment takes effect; nothing where it has no knob of
    /// this name.
    pub fn scope(&self, knob: &str) -> Option<Scope> {
        let of_factors = self.factors.iter().filter_map(|factor| match factor.kind {
            FactorKind::Knob(scope) => Some((factor.name.as_str(), scope)),
            FactorKind::Parameter | FactorKind::Placeholder => None,
        });
        self.fixed
            .iter()
            .map(|fixed| (fixed.setting.factor.as_str(), fixed.scope))
            .chain(of_factors)
            .find(|(name, _)| *name == knob)
            .map(|(_, scope)| scope)
    }
}

#[cfg(test)]
mod tests;
