//! The workloads that a model can run: what a run of each yields.
//!
//! A further one is a file and a line in [`run`] and in [`lacks`].

mod command;
mod udp;

use std::time::Duration;

use knobstat_data::messages::RunSpec;
use knobstat_data::observation::{Failure, MetricValue, Times};
use knobstat_data::words::{Better, Metric, Unit};
use knobstat_data::{Evidence, Parameters};

use crate::machine::MachineFile;
use crate::random::Random;
use crate::settings::Settings;

/// What a simulated run yielded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Yield {
    pub(crate) metrics: Vec<MetricValue>,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) times: Times,
    pub(crate) notes: Vec<String>,
}

/// Runs the workload that is asked for.
///
/// # Errors
/// When the machine file does not say what this run would cost, or the run has a metric that no
/// model has.
pub(crate) fn run(
    machine: &MachineFile,
    settings: &Settings,
    spec: &RunSpec,
    factor: f64,
    random: &mut Random,
) -> Result<Yield, Failure> {
    let ran = match spec.workload.as_str() {
        "command" => command::run(machine, settings, spec, factor, random),
        "udp" => udp::run(machine, settings, spec, factor, random),
        other => Err(Failure::Workload {
            reason: format!("a model cannot run the workload {other}; it runs command and udp"),
        }),
    }?;
    let lacking = spec
        .metrics
        .iter()
        .find(|wanted| ran.metrics.iter().all(|has| has.metric.name != wanted.name));
    match lacking {
        Some(metric) if is_from_output(spec, metric) => Err(Failure::Metric {
            metric: metric.name.clone(),
            reason: "a model of a command writes nothing that it could be read from".to_owned(),
        }),
        _ => Ok(ran),
    }
}

/// What a workload would need that the machine file does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lack {
    /// The parameter that asks for it.
    pub(crate) parameter: &'static str,
    /// Why it cannot be had, in one sentence.
    pub(crate) reason: String,
    /// What would help.
    pub(crate) remedy: Option<String>,
}

/// What a workload with these parameters would need that the machine file does not have.
pub(crate) fn lacks(machine: &MachineFile, kind: &str, parameters: &Parameters) -> Option<Lack> {
    match kind {
        "command" => command::lacks(machine, parameters),
        "udp" => udp::lacks(machine, parameters),
        other => Some(Lack {
            parameter: "kind",
            reason: format!("a model cannot run the workload {other}"),
            remedy: Some("it runs command and udp".to_owned()),
        }),
    }
}

/// Whether a metric is read from what the command writes.
fn is_from_output(spec: &RunSpec, metric: &Metric) -> bool {
    use knobstat_data::Value;
    matches!(
        spec.parameters.get("metrics"),
        Some(Value::Table(declared)) if declared.contains_key(&metric.name)
    )
}

/// The name of the stopwatch: the simulation's own time, which no clock source changes.
pub(crate) const STOPWATCH: &str = "simulated";

/// The step of the simulation's own time, in seconds.
const STEP: f64 = 1e-9;

fn duration(nanoseconds: f64) -> Duration {
    Duration::from_nanos(nanoseconds.round() as u64)
}

/// The times of a run that took so long and so much CPU time, in nanoseconds.
fn times(wall: f64, cpu: f64) -> Times {
    let taken = duration(wall);
    Times {
        stopwatch: STOPWATCH.to_owned(),
        wall: taken,
        monotonic: taken,
        monotonic_raw: taken,
        boottime: taken,
        cpu: duration(cpu),
    }
}

/// A metric in seconds, lower being better.
fn seconds(name: &str, nanoseconds: f64) -> MetricValue {
    MetricValue {
        metric: Metric {
            name: name.to_owned(),
            unit: Unit::SECONDS,
            better: Better::Lower,
            self_timed: false,
        },
        value: duration(nanoseconds).as_secs_f64(),
        limited_by: None,
        granularity: Some(STEP),
    }
}

/// A refusal of a run in a sentence.
fn cannot(reason: impl ToString) -> Failure {
    Failure::Workload {
        reason: reason.to_string(),
    }
}
