//! The report: one value, in the shape of the JSON schema `knobstat.report/1`.
//!
//! Fields are added, never renamed or removed; `docs/report-json.md` documents each.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use knobstat_analysis::Interval;
use knobstat_data::observation::Limit;
use knobstat_data::{Level, Machine, Treatment};

/// The name and version of the schema.
pub const SCHEMA: &str = "knobstat.report/1";

/// Everything that a format may show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The name and version of the schema.
    pub schema: &'static str,
    /// What was asked for and how far it got.
    pub experiment: ExperimentPart,
    /// The machine that it ran on.
    pub machine: Machine,
    /// What varied.
    pub factors: Vec<FactorPart>,
    /// What was seen of every treatment that takes part.
    pub treatments: Vec<TreatmentPart>,
    /// Every treatment against its baseline, or all pairs.
    pub comparisons: Vec<ComparisonPart>,
    /// Main effects and interactions.
    pub effects: Vec<EffectPart>,
    /// Which levels to choose.
    pub recommendation: RecommendationPart,
    /// Levels that the machine could not take.
    pub omitted: Vec<OmissionPart>,
    /// What a reader must know before believing the rest.
    pub caveats: Vec<CaveatPart>,
    /// The evidence by treatment; absent where it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<EvidenceRowPart>>,
    /// Every attempt, for the formats that list them; in JSON they are the export's.
    #[serde(skip)]
    pub attempts: Vec<AttemptRow>,
}

/// Levels by factor, in the order of the factors; an object in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels(pub Treatment);

impl Serialize for Levels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.settings.len()))?;
        for setting in &self.0.settings {
            map.serialize_entry(&setting.factor, &setting.level)?;
        }
        map.end()
    }
}

/// Both ends of an interval; a list of two in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ends(pub f64, pub f64);

impl Ends {
    pub(crate) fn of(interval: Option<Interval>) -> Option<Self> {
        interval
            .filter(|interval| interval.low.is_finite() && interval.high.is_finite())
            .map(|interval| Self(interval.low, interval.high))
    }

    /// Half the distance of the ends.
    pub fn half_width(self) -> f64 {
        self.1 / 2.0 - self.0 / 2.0
    }
}

/// What was asked for and how far it got.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExperimentPart {
    /// Its identity.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The seed that the order was drawn from.
    pub seed: u64,
    /// When it began, in ISO 8601, UTC.
    pub started: String,
    /// When it ended; null while it is not done.
    pub finished: Option<String>,
    /// The SHA-256 of the experiment file's text.
    pub file_sha256: String,
    /// Which workload was run.
    pub workload: String,
    /// The metric of the verdicts.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Which way it is better.
    pub better: String,
    /// What the treatments are compared with.
    pub baseline: Levels,
    /// The confidence of the whole family of comparisons, in percent.
    pub confidence: f64,
    /// The margin of equivalence, in percent of the baseline's mean.
    pub margin: Option<f64>,
    /// How p-values were adjusted.
    pub correction: String,
    /// The order of the runs within a block.
    pub order: String,
    /// Blocks that were planned.
    pub planned_blocks: u32,
    /// Blocks of which at least one observation exists.
    pub blocks: usize,
    /// In a sentence, which error the comparisons were judged by.
    pub judged_by: Option<String>,
    /// The stop rule, and what ended the experiment; null where the blocks were fixed beforehand.
    pub stop: Option<StopPart>,
}

impl ExperimentPart {
    /// The metric of the verdicts and its unit, where it has one.
    pub(crate) fn metric_in_words(&self) -> String {
        if self.unit == "1" {
            self.metric.clone()
        } else {
            format!("{} in {}", self.metric, self.unit)
        }
    }

    /// What stands before the number of planned blocks.
    pub(crate) fn at_most(&self) -> &'static str {
        if self.stop.is_some() { "at most " } else { "" }
    }
}

/// A stop rule, and what ended the experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StopPart {
    /// The half-width that was asked for, in percent of the baseline's mean.
    pub half_width: Option<f64>,
    /// The margin of equivalence that was asked for, in percent of the baseline's mean.
    pub margin: Option<f64>,
    /// Never fewer blocks than this.
    pub min_blocks: u32,
    /// Never more.
    pub max_blocks: u32,
    /// What ended it, in a word; null while it goes on.
    pub reason: Option<&'static str>,
    /// The same in a plain sentence.
    pub sentence: Option<String>,
}

/// Something that varied.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactorPart {
    /// Its name.
    pub name: String,
    /// `knob`, `parameter` or `placeholder`.
    pub kind: &'static str,
    /// Its levels as written.
    pub levels: Vec<Level>,
}

/// What was seen of a treatment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TreatmentPart {
    /// Its levels.
    pub levels: Levels,
    /// Its metrics by name, the metric of the verdicts first.
    #[serde(serialize_with = "by_name")]
    pub metrics: Vec<MetricPart>,
    /// What became of its attempts.
    pub runs: RunsPart,
}

fn by_name<S: Serializer>(metrics: &[MetricPart], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(metrics.iter().map(|metric| (&metric.name, metric)))
}

/// What was seen of one metric in one treatment. What cannot be computed is null, and `note`
/// says why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricPart {
    /// The metric's name: the key of its object.
    #[serde(skip)]
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Which way it is better.
    pub better: String,
    /// How many values there are.
    pub n: usize,
    /// The accepted values, in the order of the blocks.
    pub values: Vec<f64>,
    /// The block of each value.
    pub blocks: Vec<usize>,
    /// The arithmetic mean.
    pub mean: Option<f64>,
    /// The median.
    pub median: Option<f64>,
    /// The standard deviation.
    pub sd: Option<f64>,
    /// The smallest value.
    pub min: Option<f64>,
    /// The largest value.
    pub max: Option<f64>,
    /// The interval of the mean, for this mean alone.
    pub interval: Option<Ends>,
    /// What held values down, where something other than the thing under test did.
    pub limited_by: Option<Limit>,
    /// The step of the scale, where it is known.
    pub granularity: Option<f64>,
    /// Whether the workload took the time itself.
    pub self_timed: bool,
    /// What the numbers do not show.
    pub note: Option<String>,
}

/// Attempts by outcome, warm-up runs not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RunsPart {
    /// As asked.
    pub ok: usize,
    /// The settings did not hold.
    pub tainted: usize,
    /// The workload or a step around it failed.
    pub failed: usize,
    /// Broken off from outside.
    pub interrupted: usize,
}

/// A treatment against its baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonPart {
    /// The metric.
    pub metric: String,
    /// The treatment's levels.
    pub levels: Levels,
    /// The baseline's levels.
    pub baseline: Levels,
    /// Blocks that have both.
    pub pairs: usize,
    /// The treatment's mean minus the baseline's.
    pub difference: Option<f64>,
    /// The difference in percent of the baseline's mean.
    pub percent: Option<f64>,
    /// The interval of the difference, coherent with the verdict.
    pub interval: Option<Ends>,
    /// The interval in percent of the baseline's mean.
    pub percent_interval: Option<Ends>,
    /// The confidence of both intervals by themselves, in percent.
    pub interval_confidence: f64,
    /// The two-sided p-value by itself.
    pub p: Option<f64>,
    /// The p-value adjusted for the family.
    pub p_adjusted: Option<f64>,
    /// How many comparisons the family has.
    pub family: usize,
    /// How the p-value was computed.
    pub method: Option<&'static str>,
    /// `different`, `equivalent` or `undecided`.
    pub verdict: &'static str,
    /// Whether a difference is one for the better.
    pub better: Option<bool>,
    /// The verdict in a plain sentence.
    pub sentence: String,
    /// Blocks beyond those done that would likely decide.
    pub more_blocks: Option<u64>,
    /// Why the metric is as it is, where the evidence tells.
    pub cause: Option<String>,
    /// What else differed.
    pub also_differs: Vec<EvidencePart>,
    /// The levels that differ, for the formats.
    #[serde(skip)]
    pub differing: Levels,
    /// The levels that both share, for the formats.
    #[serde(skip)]
    pub held: Levels,
}

/// A piece of evidence over all treatments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvidenceRowPart {
    /// What was seen.
    pub key: String,
    /// Where it was seen.
    pub scope: String,
    /// The unit of the means.
    pub unit: String,
    /// The mean over the accepted runs of each treatment, in the order of `treatments`.
    pub means: Vec<Option<f64>>,
    /// Why there is no value, where no treatment has one.
    pub reason: Option<String>,
    /// Whether it was put together from several pieces and the length of the run.
    pub combined: bool,
}

/// A piece of evidence that differed between two treatments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvidencePart {
    /// What was seen.
    pub key: String,
    /// Where it was seen.
    pub scope: String,
    /// The unit of both means.
    pub unit: String,
    /// The baseline's mean.
    pub baseline: f64,
    /// The treatment's mean.
    pub treatment: f64,
    /// The p-value of no difference, adjusted for all the evidence looked at.
    pub p_adjusted: f64,
    /// The same in words.
    pub sentence: String,
}

/// A main effect or an interaction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectPart {
    /// The factors, one for a main effect.
    pub factors: Vec<String>,
    /// `main` or `interaction`.
    pub kind: &'static str,
    /// The metric.
    pub metric: String,
    /// The F statistic.
    pub f: f64,
    /// The degrees of freedom of the effect.
    pub df: f64,
    /// The degrees of freedom of the error.
    pub error_df: f64,
    /// The p-value by itself.
    pub p: f64,
    /// The p-value adjusted for all effects.
    pub p_adjusted: f64,
    /// Whether the effect is there.
    pub found: bool,
    /// The finding in a plain sentence.
    pub sentence: String,
    /// Of an interaction of two factors that was found: what one does at each level of the other.
    pub simple: Vec<SimplePart>,
    /// The same in plain sentences.
    pub simple_sentences: Vec<String>,
}

/// What a step of one factor does at one level of another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimplePart {
    /// The level of the other factor.
    pub at: Levels,
    /// The level stepped from.
    pub from: Levels,
    /// The level stepped to.
    pub to: Levels,
    /// The difference of the means.
    pub difference: f64,
    /// The difference in percent of the mean at the level stepped from.
    pub percent: Option<f64>,
    /// The interval of the difference.
    pub interval: Option<Ends>,
    /// The interval of the difference in percent.
    pub percent_interval: Option<Ends>,
}

/// Which levels to choose.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecommendationPart {
    /// All of it in a sentence.
    pub sentence: String,
    /// One choice per combination of the factors that are not chosen.
    pub choices: Vec<ChoicePart>,
}

/// What to choose under one combination.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChoicePart {
    /// The combination.
    pub at: Levels,
    /// The best levels; null where that is undecided.
    pub best: Option<Levels>,
    /// Every choice that may be the best.
    pub candidates: Vec<Levels>,
    /// The p-value of the best being the best, adjusted.
    pub p_adjusted: Option<f64>,
    /// The choice in a plain sentence.
    pub sentence: String,
}

/// A level that was left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OmissionPart {
    /// The factor.
    pub factor: String,
    /// The level.
    pub level: Level,
    /// Why this machine cannot take it.
    pub reason: String,
    /// What would make it available.
    pub remedy: Option<String>,
}

/// A caveat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaveatPart {
    /// A stable word for it.
    pub kind: &'static str,
    /// A plain sentence or two.
    pub sentence: String,
}

/// One attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptRow {
    /// Its identity.
    pub id: String,
    /// The run that it executed.
    pub run: String,
    /// Its block.
    pub block: usize,
    /// Its boot within the block.
    pub boot: usize,
    /// Its place in the order of execution.
    pub sequence: u64,
    /// The index of a warm-up run.
    pub warmup: Option<u32>,
    /// When it began, in ISO 8601, UTC.
    pub started: String,
    /// Its levels.
    pub levels: Levels,
    /// How it ended, in one word.
    pub outcome: &'static str,
    /// Whether it is its run's observation.
    pub accepted: bool,
    /// Its values: metric, unit, value, what held it down.
    pub values: Vec<(String, String, f64, Option<Limit>)>,
}

impl Report {
    /// What of the machine a reader must know, in words.
    pub(crate) fn machine_in_words(&self) -> String {
        let machine = &self.machine;
        let parts = [
            machine.host.clone(),
            machine.cpu.clone(),
            machine
                .kernel
                .as_ref()
                .map(|kernel| format!("kernel {kernel}")),
            machine.hz.map(|hz| format!("HZ={hz}")),
            machine
                .stopwatch
                .as_ref()
                .map(|stopwatch| format!("timed by {stopwatch}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(", ")
    }

    /// Over how many comparisons together the confidence holds, in words.
    pub(crate) fn family_in_words(&self) -> String {
        match self.comparisons.len() {
            1 => "one comparison".to_owned(),
            count => format!("all {count} comparisons together"),
        }
    }

    /// Whether treatments are compared pair by pair and not with a baseline.
    pub fn compares_all_pairs(&self) -> bool {
        self.experiment.correction == "tukey"
    }

    /// Whether every treatment is compared with one and the same baseline.
    pub fn has_one_baseline(&self) -> bool {
        self.experiment.baseline.0.settings.len() >= self.factors.len()
    }
}
