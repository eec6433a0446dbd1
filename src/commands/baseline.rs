//! `knobstat doctor --baseline`: the noise floor of runs on this machine as it is set now.
//!
//! A program that does nothing and a fixed busy loop are run in pairs of equals, timed and watched
//! as the runs of an experiment are. How much the members of a pair differ is what an effect has to
//! stand out from.

use std::time::Duration;

use knobstat_analysis::phrase::{nanoseconds, significant};
use knobstat_data::messages::RunSpec;
use knobstat_data::observation::Outcome;
use knobstat_data::words::RequestId;
use knobstat_data::{ExperimentId, Parameters, Value};
use knobstat_load::run::{Executor, SpawnSettings};
use knobstat_stats::planning::smallest_effect;
use knobstat_stats::summary::Summary;
use knobstat_sys::clock::Stopwatch;
use knobstat_sys::root::Root;
use serde::Serialize;

use crate::table;
use crate::trouble::{Exit, Trouble};

/// What is run: a name, and the words of the command.
const WORKLOADS: [(&str, &[&str]); 2] = [
    ("nothing", &["true"]),
    (
        "busy loop",
        &[
            "sh",
            "-c",
            "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done",
        ],
    ),
];

/// The numbers of blocks for which the smallest effect is told, beside the number that was asked
/// for.
const BLOCKS: [usize; 4] = [6, 12, 24, 48];

/// The error rate and the power of the experiment that is imagined: one comparison.
const ALPHA: f64 = 0.05;
const POWER: f64 = 0.8;

/// The noise floor of this machine.
#[derive(Debug, Serialize)]
pub struct Baseline {
    /// The stopwatch, in words.
    stopwatch: String,
    /// The pairs that it was taken from.
    pairs: u32,
    alpha: f64,
    power: f64,
    workloads: Vec<Floor>,
}

/// The noise floor of one workload.
#[derive(Debug, Serialize)]
struct Floor {
    name: &'static str,
    minimum_seconds: f64,
    median_seconds: f64,
    mean_seconds: f64,
    /// The standard deviation of the difference between two runs of a pair.
    sd_of_difference_seconds: Option<f64>,
    smallest_effects: Vec<Effect>,
}

/// The smallest effect that can be shown with so many blocks.
#[derive(Debug, Serialize)]
struct Effect {
    blocks: usize,
    /// Of the mean; null where the runs did not differ at all.
    percent: Option<f64>,
}

/// Runs both, in turn, so that what drifts meanwhile falls on both.
pub fn take(pairs: u32) -> Result<Baseline, Trouble> {
    let experiment = ExperimentId::of(&RequestId::of("doctor", "baseline"), [0; 16]);
    let stopwatch = Stopwatch::calibrated();
    let words = stopwatch.to_string();
    let mut executor = Executor::new(&Root::real(), &experiment, stopwatch)
        .map_err(|error| failed(&error.to_string()))?;
    let specs = WORKLOADS.map(|(_, command)| spec(command));
    let mut times: [Vec<(f64, f64)>; WORKLOADS.len()] = Default::default();
    // The first of each finds cold caches, and does not count.
    for spec in &specs {
        run(&mut executor, spec)?;
    }
    for _ in 0..pairs {
        for (spec, times) in specs.iter().zip(&mut times) {
            times.push((run(&mut executor, spec)?, run(&mut executor, spec)?));
        }
    }
    Ok(Baseline {
        stopwatch: words,
        pairs,
        alpha: ALPHA,
        power: POWER,
        workloads: WORKLOADS
            .iter()
            .zip(&times)
            .filter_map(|((name, _), times)| floor(name, times))
            .collect(),
    })
}

fn spec(command: &[&str]) -> Option<RunSpec> {
    let words = command.iter().map(|word| Value::Text((*word).to_owned()));
    Some(RunSpec {
        run: "0a".parse().ok()?,
        workload: "command".to_owned(),
        parameters: Parameters::from([("command".to_owned(), Value::List(words.collect()))]),
        metrics: Vec::new(),
        knobs: Vec::new(),
        settle: Duration::ZERO,
        knobs_changed: false,
        cool_below: None,
    })
}

fn run(executor: &mut Executor, spec: &Option<RunSpec>) -> Result<f64, Trouble> {
    let Some(spec) = spec else {
        return Err(failed("it has no name"));
    };
    let result = executor.run(spec, &SpawnSettings::default(), &[], Vec::new);
    match (&result.outcome, &result.times) {
        (Outcome::Ok, Some(times)) => Ok(times.wall.as_secs_f64()),
        (Outcome::Failed(failure), _) => Err(failed(&super::show::reason(failure))),
        (outcome, _) => Err(failed(outcome.word())),
    }
}

fn failed(reason: &str) -> Trouble {
    Trouble::new(
        Exit::RunsFailed,
        format!("a run of the baseline failed: {reason}"),
        "",
    )
}

/// The floor from the times of pairs of equal runs; none without any.
fn floor(name: &'static str, pairs: &[(f64, f64)]) -> Option<Floor> {
    let all: Vec<f64> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
    let summary = Summary::of(&all)?;
    let sd = Summary::of(&differences)?.sd.filter(|sd| *sd > 0.0);
    let mut blocks: Vec<usize> = BLOCKS.to_vec();
    blocks.push(pairs.len());
    blocks.sort_unstable();
    blocks.dedup();
    let effect = |blocks: usize| Effect {
        blocks,
        percent: sd
            .and_then(|sd| smallest_effect(blocks, sd, ALPHA, POWER).ok())
            .map(|effect| effect / summary.mean * 100.0),
    };
    Some(Floor {
        name,
        minimum_seconds: summary.min,
        median_seconds: summary.median,
        mean_seconds: summary.mean,
        sd_of_difference_seconds: sd,
        smallest_effects: blocks
            .into_iter()
            .filter(|blocks| *blocks >= 2)
            .map(effect)
            .collect(),
    })
}

impl Baseline {
    /// As a table and a sentence.
    pub fn render(&self) -> String {
        let time = |seconds: f64| nanoseconds(seconds * 1e9);
        let mut rows = vec![
            [
                "workload",
                "minimum",
                "median",
                "differs by",
                "runs",
                "shows",
            ]
            .map(str::to_owned),
        ];
        for floor in &self.workloads {
            let difference = floor.sd_of_difference_seconds;
            for (place, effect) in floor.smallest_effects.iter().enumerate() {
                let first = |text: String| if place == 0 { text } else { String::new() };
                rows.push([
                    first(floor.name.to_owned()),
                    first(time(floor.minimum_seconds)),
                    first(time(floor.median_seconds)),
                    first(difference.map_or_else(|| "nothing".to_owned(), time)),
                    effect.blocks.to_string(),
                    effect.percent.map_or_else(
                        || "any effect".to_owned(),
                        |percent| format!("{} % or more", significant(percent, 2)),
                    ),
                ]);
            }
        }
        format!(
            "Noise floor of {} pairs of equal runs, timed by {}:\n{}A change of the mean by at least as much as the last column says is found in {:.0} of 100 \
             experiments\nwith so many runs of each of two levels, at {:.0} % confidence; longer runs show smaller ones.\n",
            self.pairs,
            self.stopwatch,
            table::columns(&rows),
            self.power * 100.0,
            (1.0 - self.alpha) * 100.0,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_effect_shrinks_with_the_number_of_runs_and_grows_with_the_noise() {
        let pairs = |noise: f64| -> Vec<(f64, f64)> {
            (0..10)
                .map(|pair| {
                    (
                        1.0 + noise * f64::from(pair % 3),
                        1.0 - noise * f64::from(pair % 2),
                    )
                })
                .collect()
        };
        let percents = |noise: f64| -> Vec<f64> {
            let floor = floor("test", &pairs(noise)).unwrap();
            assert_eq!(floor.smallest_effects.len(), 5);
            floor
                .smallest_effects
                .iter()
                .map(|effect| effect.percent.unwrap())
                .collect()
        };
        let (quiet, noisy) = (percents(0.001), percents(0.01));
        assert!(quiet.windows(2).all(|pair| pair[0] > pair[1]), "{quiet:?}");
        assert!(quiet.iter().zip(&noisy).all(|(quiet, noisy)| quiet < noisy));
    }

    #[test]
    fn runs_that_do_not_differ_show_anything() {
        let floor = floor("test", &[(1.0, 1.0), (1.0, 1.0)]).unwrap();
        assert_eq!(floor.sd_of_difference_seconds, None);
        assert!(
            floor
                .smallest_effects
                .iter()
                .all(|effect| effect.percent.is_none())
        );
        assert!(super::floor("test", &[]).is_none());
    }
}
