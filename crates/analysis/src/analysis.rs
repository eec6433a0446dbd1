//! What an analysis found: plain values, each with its sentence.

use knobstat_data::observation::Limit;
use knobstat_data::{Metric, Treatment};
use knobstat_stats::Interval;
use knobstat_stats::summary::Summary;

use crate::elsewhere::EvidenceDifference;
use crate::observations::Observed;
use crate::simple_effects::SimpleEffect;
use crate::verdict::Judged;

/// Everything that can be said of an experiment's observations.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The metric of the verdicts, its better direction as the experiment wants it.
    pub metric: Metric,
    /// The confidence of the whole family of comparisons, in percent.
    pub confidence_percent: f64,
    /// Blocks of which at least one observation exists.
    pub blocks: usize,
    /// Every treatment that takes part, in the order of the plan.
    pub treatments: Vec<TreatmentFindings>,
    /// Every treatment against its baseline, or all pairs, in the order of the plan.
    pub comparisons: Vec<Comparison>,
    /// In a sentence, which error the comparisons were judged by; none without comparisons.
    pub judged_by: Option<String>,
    /// Main effects and interactions of the factors.
    pub effects: Vec<Effect>,
    /// What ended the experiment, where it has a stop rule and is done.
    pub stopped: Option<Stopped>,
    /// Which levels to choose.
    pub recommendation: Recommendation,
    /// What a reader must know before believing the rest.
    pub caveats: Vec<Caveat>,
}

/// What ended an experiment with a stop rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Which condition.
    pub reason: StopReason,
    /// The same in a plain sentence.
    pub sentence: String,
}

/// The conditions that can end an experiment with a stop rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// Every comparison is different, or equivalent within the margin.
    Verdicts,
    /// Every interval is as narrow as was asked.
    HalfWidth,
    /// Every comparison has its verdict or an interval as narrow as was asked, not all the same.
    VerdictsAndHalfWidth,
    /// As many blocks as may be are done.
    Maximum,
    /// It ended before any of these, as at a failure that was to stop it.
    Other,
}

impl StopReason {
    /// The word, as it is exported.
    pub fn word(self) -> &'static str {
        match self {
            Self::Verdicts => "verdicts",
            Self::HalfWidth => "half-width",
            Self::VerdictsAndHalfWidth => "verdicts-and-half-width",
            Self::Maximum => "maximum",
            Self::Other => "other",
        }
    }
}

/// What was seen of one treatment.
#[derive(Clone, Debug, PartialEq)]
pub struct TreatmentFindings {
    /// Its index in the plan.
    pub index: usize,
    /// Its levels.
    pub treatment: Treatment,
    /// Its metrics, the metric of the verdicts first.
    pub metrics: Vec<MetricFindings>,
    /// What became of its attempts, warm-up runs not counted.
    pub runs: RunCounts,
}

impl TreatmentFindings {
    /// What was seen of a metric.
    pub fn metric(&self, name: &str) -> Option<&MetricFindings> {
        self.metrics.iter().find(|found| found.metric.name == name)
    }
}

/// What was seen of one metric in one treatment.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricFindings {
    /// The metric.
    pub metric: Metric,
    /// Every accepted value with its block, in the order of the blocks.
    pub observations: Vec<Observed>,
    /// The summary; none without values.
    pub summary: Option<Summary>,
    /// The interval of the mean, at the confidence of the experiment for this mean alone.
    pub interval: Option<Interval>,
    /// Why a summary or an interval is missing, or what the interval hides.
    pub note: Option<String>,
    /// What held values down, where something other than the thing under test did.
    pub limited_by: Option<Limit>,
    /// The step of the scale that the values were read from, where it is known.
    pub granularity: Option<f64>,
}

/// Attempts by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// As asked.
    pub ok: usize,
    /// The settings did not hold.
    pub tainted: usize,
    /// The workload or a step around it failed.
    pub failed: usize,
    /// Broken off from outside.
    pub interrupted: usize,
}

impl RunCounts {
    /// All of them.
    pub fn total(self) -> usize {
        self.ok + self.tainted + self.failed + self.interrupted
    }
}

/// A treatment against its baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The metric's name.
    pub metric: String,
    /// The treatment's index in the plan.
    pub treatment: usize,
    /// The baseline's index in the plan.
    pub baseline: usize,
    /// The treatment's levels.
    pub levels: Treatment,
    /// The baseline's levels.
    pub against: Treatment,
    /// The levels of the treatment that differ from the baseline's.
    pub differing: Treatment,
    /// The baseline's levels of the same factors.
    pub differing_baseline: Treatment,
    /// The levels that both share.
    pub held: Treatment,
    /// Blocks in which both were observed.
    pub pairs: usize,
    /// The difference and the verdict on it.
    pub judged: Judged,
    /// How the p-value was computed.
    pub method: Option<Method>,
    /// What held both cells down, where both are censored.
    pub both_limited: Option<String>,
    /// Why the metric is as it is, where the evidence tells, in sentences.
    pub cause: Option<String>,
    /// What else differed.
    pub also_differs: Vec<EvidenceDifference>,
}

/// How a comparison was tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Student's t on the differences within blocks.
    PairedT,
    /// The same differences, with one error pooled over all treatments, which vary alike.
    PooledT,
    /// Dunnett's test against the baseline, on one error for all treatments.
    Dunnett,
    /// Tukey's test of all pairs, on one error for all treatments.
    Tukey,
    /// Student's t on the differences, with the largest error that the step of the scale could hide.
    PairedTOnScale,
    /// Evidence from the t statistics of all blocks so far, worth the same at every look.
    EveryBlock,
}

impl Method {
    /// The method's name, as it is printed and exported.
    pub fn word(self) -> &'static str {
        match self {
            Self::PairedT => "paired t",
            Self::PooledT => "paired t, pooled error",
            Self::Dunnett => "Dunnett's t, pooled error",
            Self::Tukey => "Tukey's range, pooled error",
            Self::PairedTOnScale => "paired t, error bounded by the scale",
            Self::EveryBlock => "paired t, looked at after every block",
        }
    }
}

/// A main effect of a factor, or an interaction of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The factors, one for a main effect.
    pub factors: Vec<String>,
    /// The metric's name.
    pub metric: String,
    /// The F statistic.
    pub f: f64,
    /// The degrees of freedom of the effect.
    pub degrees_of_freedom: f64,
    /// The degrees of freedom of the error that it was tested against.
    pub error_degrees_of_freedom: f64,
    /// The p-value by itself.
    pub p: f64,
    /// The p-value adjusted for all effects of the experiment.
    pub p_adjusted: f64,
    /// Whether the effect is there, at the confidence of the experiment.
    pub found: bool,
    /// The finding in a plain sentence.
    pub sentence: String,
    /// Of an interaction of two factors that was found: what one does at each level of the other.
    pub simple: Vec<SimpleEffect>,
    /// The same in plain sentences, one for every level stepped to.
    pub simple_in_words: Vec<String>,
}

/// Which levels to choose.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// All of it in one sentence or two.
    pub sentence: String,
    /// One choice per combination of the factors that are not chosen.
    pub choices: Vec<Choice>,
}

/// What to choose under one combination of the other factors.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The combination; empty where nothing else varies.
    pub at: Treatment,
    /// The best levels, where they are so beyond doubt.
    pub best: Option<Treatment>,
    /// Every choice that may be the best; one where the best is known.
    pub candidates: Vec<Treatment>,
    /// The p-value of the best being the best, adjusted for all that was tried.
    pub p_adjusted: Option<f64>,
    /// The choice in a plain sentence.
    pub sentence: String,
}

/// What a reader must know before believing a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caveat {
    /// A stable word for it, for programs.
    pub kind: &'static str,
    /// A plain sentence or two.
    pub sentence: String,
}
