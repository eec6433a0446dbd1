//! A plan as `run --check --json` prints it.

use knobstat_analysis::family;
use knobstat_data::Record;
use knobstat_data::record::Omission;
use knobstat_lab::engine::Estimate;
use knobstat_report::{Levels, OmissionPart};
use knobstat_stats::planning::smallest_reachable_n;
use serde::Serialize;

use crate::plan_text::BLOCKS_SHOWN;
use crate::trouble::Trouble;

/// What is planned.
#[derive(Serialize)]
pub struct Plan {
    schema: &'static str,
    experiment: String,
    /// None where nothing is left to run, as all that follows from an order.
    seed: Option<u64>,
    treatments: Vec<Treatment>,
    /// At most, with a stop rule.
    blocks: u32,
    runs: u64,
    warmup_runs: u32,
    seconds: Option<f64>,
    /// What `seconds` are: `about`, `at most` or `unknown`.
    estimate: &'static str,
    /// Treatments by their place in `treatments`: of the first blocks, for each boot of a block, in
    /// the order in which they are run.
    order: Vec<Vec<Vec<usize>>>,
    left_out: Vec<OmissionPart>,
    comparisons: usize,
    /// With fewer blocks than these no verdict is possible at all.
    fewest_blocks: Option<usize>,
    /// Sentences on what is not known yet of the machine.
    unknown: Vec<String>,
}

#[derive(Serialize)]
struct Treatment {
    levels: Levels,
    left_out: Option<String>,
}

impl Plan {
    /// That of a record that has not begun.
    pub fn of(record: &Record, estimate: &Estimate, unknown: &[String]) -> Self {
        let plan = &record.plan;
        let comparisons = family::of(&record.experiment, plan).len();
        let alpha = 1.0 - record.experiment.analysis.confidence.0;
        let (estimate, time) = match estimate {
            Estimate::About(time) => ("about", Some(time)),
            Estimate::AtMost(time) => ("at most", Some(time)),
            Estimate::Unknown { .. } => ("unknown", None),
        };
        let treatments = plan.treatments.iter().map(|planned| Treatment {
            levels: Levels(planned.treatment.clone()),
            left_out: planned.omitted.clone(),
        });
        let order = plan.blocks().take(BLOCKS_SHOWN).map(|block| {
            let boots = block.boots.into_iter();
            boots
                .map(|boot| {
                    let runs = boot.runs.iter().filter(|run| run.warmup.is_none());
                    runs.map(|run| run.treatment).collect()
                })
                .collect()
        });
        Self {
            seed: Some(plan.seed),
            treatments: treatments.collect(),
            blocks: plan.replicates,
            runs: plan.runs_per_block() * u64::from(plan.replicates),
            warmup_runs: plan.warmup_runs,
            seconds: time.map(std::time::Duration::as_secs_f64),
            estimate,
            order: order.collect(),
            comparisons,
            fewest_blocks: smallest_reachable_n(alpha, comparisons)
                .ok()
                .map(|smallest| smallest.paired_t),
            unknown: unknown.to_vec(),
            ..Self::nothing_left(&record.experiment.name, &record.omitted)
        }
    }

    /// As it is printed.
    pub fn render(&self) -> Result<String, Trouble> {
        serde_json::to_string_pretty(self)
            .map_err(|error| Trouble::disk(format!("the plan could not be written ({error})"), ""))
    }

    /// That of an experiment of which this machine can take nothing.
    pub fn nothing_left(name: &str, omissions: &[Omission]) -> Self {
        let left_out = omissions.iter().map(|omission| OmissionPart {
            factor: omission.factor.clone(),
            level: omission.level.clone(),
            reason: omission.reason.clone(),
            remedy: omission.remedy.clone(),
        });
        Self {
            schema: "knobstat.plan/1",
            experiment: name.to_owned(),
            seed: None,
            treatments: Vec::new(),
            blocks: 0,
            runs: 0,
            warmup_runs: 0,
            seconds: None,
            estimate: "unknown",
            order: Vec::new(),
            left_out: left_out.collect(),
            comparisons: 0,
            fewest_blocks: None,
            unknown: Vec::new(),
        }
    }
}
