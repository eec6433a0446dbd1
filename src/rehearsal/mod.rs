//! An experiment tried on a simulated machine before it is run on a real one: how long it will
//! take, which differences it should be able to see with its replicates, and which not.
//!
//! Three runs of it, nothing of which is kept: as it is, for how long it takes; once without
//! anything that goes wrong from run to run, for the differences that are true of the machine; and
//! with more blocks, for the spread of those differences.

mod formats;

use std::time::Duration;

use knobstat_analysis::observations::{Observed, pair, values};
use knobstat_analysis::{censoring, family, stop};
use knobstat_data::experiment::FactorKind;
use knobstat_data::observation::{Failure, Outcome};
use knobstat_data::{Experiment, Record, Treatment};
use knobstat_lab::engine::{Assignment, EngineError, Means, RealWorld, Silent, prepare};
use knobstat_lab::store::Store;
use knobstat_lab::target::NoInterrupt;
use knobstat_lab::targets::ModelTarget;
use knobstat_model::Simulator;
use knobstat_stats::planning::power_paired;
use knobstat_stats::summary::Summary;

use crate::commands::run::engine_trouble;
use crate::front::store_trouble;
use crate::trouble::Trouble;

/// Blocks for the spread of the differences.
const BLOCKS_FOR_SPREAD: u32 = 30;

/// A difference that is seen in nine of ten experiments is one that this experiment can see.
const SURE: f64 = 0.9;

/// What a rehearsal found.
pub struct Rehearsal {
    name: String,
    machine: String,
    job: Option<String>,
    /// Levels of the command itself, which a job does not know.
    unknown_to_job: Vec<String>,
    runs: usize,
    tainted: usize,
    takes: Duration,
    boots: usize,
    blocks: usize,
    metric: String,
    unit: String,
    comparisons: Vec<Expected>,
    left_out: Vec<String>,
}

/// What is to be expected of one comparison.
struct Expected {
    treatment: Treatment,
    baseline: Treatment,
    /// The true difference in percent of the baseline; none where the baseline is zero.
    percent: Option<f64>,
    /// The chance that it is found.
    power: Option<f64>,
    /// The smallest difference that is found nine times in ten, in percent of the baseline.
    smallest: Option<f64>,
    /// What holds both down.
    limited: Option<&'static str>,
}

impl Expected {
    /// Whether there is no difference at all to be seen.
    fn is_nothing(&self) -> bool {
        self.percent.is_none_or(|percent| percent.abs() < 1e-9)
    }

    fn word(&self) -> &'static str {
        match (self.limited, self.power) {
            (Some(_), _) => "cannot be seen",
            (None, _) if self.is_nothing() => "nothing to see",
            (None, None) => "unknown",
            (None, Some(power)) if power >= SURE => "should be seen",
            (None, Some(power)) if power >= 0.5 => "may be seen",
            (None, Some(_)) => "will hardly be seen",
        }
    }
}

/// Rehearses an experiment on a simulated machine that has done nothing yet.
///
/// # Errors
/// When the machine file has nothing that could stand for the workload, or its runs fail.
pub fn rehearse(
    experiment: &Experiment,
    source: &str,
    simulator: &Simulator,
) -> Result<Rehearsal, Trouble> {
    let machine = simulator.machine();
    if experiment.workload.kind == "command" && machine.job.is_none() {
        return Err(Trouble::request(
            format!(
                "{} has no [job] that could stand for the command",
                machine.name
            ),
            "Add one to the machine file, or rehearse on another machine.",
        ));
    }
    let as_it_is = carry_out(experiment.clone(), source, simulator.clone())?;
    let mut once = experiment.clone();
    once.design.replicates = 1;
    once.design.stop = None;
    once.workload.warmup_runs = 0;
    let mut often = once.clone();
    often.design.replicates = BLOCKS_FOR_SPREAD;
    let truth = carry_out(once, source, simulator.undisturbed())?;
    let spread = carry_out(often, source, simulator.clone())?;
    Ok(Rehearsal::of(&as_it_is, &truth, &spread, simulator))
}

/// Carries an experiment out on a simulated machine and in a store that is gone afterwards.
fn carry_out(
    experiment: Experiment,
    source: &str,
    simulator: Simulator,
) -> Result<Record, Trouble> {
    let mut target = ModelTarget::new(simulator);
    let mut store = Store::in_memory().map_err(store_trouble)?;
    let mut world = RealWorld::new();
    let judged = experiment.clone();
    let assignment = Assignment {
        experiment,
        source: source.to_owned(),
        anew: true,
        overwrite_others: false,
    };
    let prepared =
        prepare(assignment, &mut target, Some(&store), &mut world).map_err(engine_trouble)?;
    let plan = prepared.record().plan.clone();
    let ended = prepared.drive(Means {
        store: &mut store,
        progress: &mut Silent,
        interrupt: &NoInterrupt,
        world: &mut world,
        enough: &|attempts| stop::enough(&judged, &plan, attempts),
    });
    ended
        .result
        .map_err(|error: EngineError| engine_trouble(error))?;
    refuse_failures(&ended.record)?;
    Ok(ended.record)
}

/// A model fails for what its file does not say: nothing can be learnt from it then.
fn refuse_failures(record: &Record) -> Result<(), Trouble> {
    let failed = record
        .attempts
        .iter()
        .find_map(|attempt| match &attempt.result.outcome {
            Outcome::Failed(failure) => Some((attempt.treatment, failure)),
            _ => None,
        });
    let Some((treatment, failure)) = failed else {
        return Ok(());
    };
    let reason = match failure {
        Failure::Workload { reason } | Failure::Knob { reason, .. } => reason.clone(),
        Failure::Metric { metric, reason } => format!("there is no {metric}: {reason}"),
        Failure::TimedOut { after } => {
            format!("it takes longer than its timeout of {after:?}")
        }
        other => format!("{other:?}"),
    };
    Err(Trouble::request(
        format!(
            "the rehearsal failed at {}: {reason}",
            record.plan.treatments[treatment].treatment
        ),
        "",
    ))
}

impl Rehearsal {
    fn of(as_it_is: &Record, truth: &Record, spread: &Record, simulator: &Simulator) -> Self {
        let experiment = &as_it_is.experiment;
        let metric = &experiment.analysis.metric;
        let of_truth = values(&truth.plan, &truth.attempts, &metric.name);
        let of_spread = values(&spread.plan, &spread.attempts, &metric.name);
        let of_blocks = values(&as_it_is.plan, &as_it_is.attempts, &metric.name);
        let blocks = of_blocks.iter().map(Vec::len).max().unwrap_or(0);
        let pairs = family::of(experiment, &as_it_is.plan);
        let alpha = (1.0 - experiment.analysis.confidence.0) / pairs.len().max(1) as f64;
        let comparisons = pairs
            .iter()
            .map(|pair| {
                let cell = |cells: &[Vec<Observed>], index: usize| cells[index].clone();
                expected(
                    &as_it_is.plan.treatments[pair.treatment].treatment,
                    &as_it_is.plan.treatments[pair.baseline].treatment,
                    [&of_truth, &of_spread]
                        .map(|cells| (cell(cells, pair.treatment), cell(cells, pair.baseline))),
                    blocks,
                    alpha,
                )
            })
            .collect();
        let takes = as_it_is
            .attempts
            .iter()
            .map(|attempt| {
                let ran = attempt
                    .result
                    .times
                    .as_ref()
                    .map_or(Duration::ZERO, |times| times.wall);
                ran.saturating_add(attempt.result.settling.waited)
            })
            .fold(Duration::ZERO, Duration::saturating_add);
        let is_command = experiment.workload.kind == "command";
        Self {
            name: experiment.name.clone(),
            machine: simulator.machine().name.clone(),
            job: simulator
                .machine()
                .job
                .as_ref()
                .filter(|_| is_command)
                .map(|job| job.stands_for.clone()),
            unknown_to_job: experiment
                .factors
                .iter()
                .filter(|factor| is_command && factor.kind != FactorKind::Parameter)
                .filter(|factor| !factor.kind.is_knob())
                .map(|factor| factor.name.clone())
                .collect(),
            runs: as_it_is.attempts.len(),
            tainted: as_it_is
                .attempts
                .iter()
                .filter(|attempt| matches!(attempt.result.outcome, Outcome::Tainted(_)))
                .count(),
            takes,
            boots: as_it_is
                .plan
                .blocks()
                .flat_map(|block| block.boots)
                .filter(|boot| !boot.settings.is_empty())
                .count(),
            blocks,
            metric: metric.name.clone(),
            unit: metric.unit.to_string(),
            comparisons,
            left_out: as_it_is
                .omitted
                .iter()
                .map(|omission| {
                    format!(
                        "{}={}: {}",
                        omission.factor, omission.level, omission.reason
                    )
                })
                .collect(),
        }
    }
}

/// What is to be expected of a comparison, from its cells without disturbance and with it: each
/// the treatment's and the baseline's.
fn expected(
    treatment: &Treatment,
    baseline: &Treatment,
    [truth, spread]: [(Vec<Observed>, Vec<Observed>); 2],
    blocks: usize,
    alpha: f64,
) -> Expected {
    let first = |cell: &[Observed]| cell.first().map(|observed| observed.value);
    let difference = first(&truth.0)
        .zip(first(&truth.1))
        .map(|(one, other)| (one - other, other));
    let limited = censoring::limit(&spread.0)
        .zip(censoring::limit(&spread.1))
        .map(|(_, limit)| limit.word());
    let differences: Vec<f64> = pair(&spread.0, &spread.1)
        .iter()
        .map(|(one, other)| one.value - other.value)
        .collect();
    let sd = Summary::of(&differences).and_then(|summary| summary.sd);
    let power_of = |effect: f64, sd: f64| {
        if sd > 0.0 {
            power_paired(blocks as f64, effect / sd, alpha).ok()
        } else {
            // Without any spread whatever differs is seen, given two blocks.
            (blocks >= 2).then_some(if effect == 0.0 { 0.0 } else { 1.0 })
        }
    };
    let power = difference
        .zip(sd)
        .and_then(|((effect, _), sd)| power_of(effect, sd));
    let share = |value: f64, of: f64| (of != 0.0).then(|| 100.0 * value / of.abs());
    Expected {
        treatment: treatment.clone(),
        baseline: baseline.clone(),
        percent: difference.and_then(|(effect, of)| share(effect, of)),
        power,
        smallest: difference
            .zip(sd)
            .filter(|_| limited.is_none())
            .and_then(|((_, of), sd)| share(smallest(sd, |effect| power_of(effect, sd))?, of)),
        limited,
    }
}

/// The smallest effect that is found nine times in ten; none where no effect is, or any.
fn smallest(sd: f64, power: impl Fn(f64) -> Option<f64>) -> Option<f64> {
    let found = |effect: f64| power(effect).is_some_and(|power| power >= SURE);
    let (mut low, mut high) = (0.0, sd);
    while !found(high) {
        (low, high) = (high, 2.0 * high);
        if !high.is_finite() || high <= 0.0 || high > 1e6 * sd {
            return None;
        }
    }
    for _ in 0..40 {
        let middle = low + (high - low) / 2.0;
        if found(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}
