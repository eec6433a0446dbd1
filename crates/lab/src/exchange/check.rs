//! Whether a record holds together: what the store, the analysis and the reports take for
//! granted of one.

use std::collections::HashSet;
use std::str::FromStr;

use knobstat_data::observation::{Attempt, RunResult};
use knobstat_data::words::{AttemptId, ExperimentId, Level, RequestId, RunId, Treatment, Value};
use knobstat_data::{Experiment, Record};
use thiserror::Error;

/// What of a record does not hold together.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct RecordError(pub String);

/// Checks what the types of a record leave open.
///
/// # Errors
/// The first thing that does not hold together.
pub fn check(record: &Record) -> Result<(), RecordError> {
    require(
        ExperimentId::from_str(record.id.as_str()).is_ok(),
        "the experiment's id is none",
    )?;
    require(
        RequestId::from_str(record.request.as_str()).is_ok(),
        "the request's id is none",
    )?;
    require(
        record.plan.experiment == record.id,
        "the plan is that of another experiment",
    )?;
    check_experiment(&record.experiment)?;
    for planned in &record.plan.treatments {
        check_treatment(&planned.treatment)?;
    }
    let mut ids = HashSet::new();
    for attempt in &record.attempts {
        require(
            ids.insert(&attempt.id),
            format!("attempt {} is there twice", attempt.id),
        )?;
        check_attempt(record, attempt)?;
    }
    Ok(())
}

fn check_experiment(experiment: &Experiment) -> Result<(), RecordError> {
    experiment
        .workload
        .parameters
        .values()
        .chain(experiment.workload.varied.values().flatten())
        .try_for_each(check_value)?;
    for factor in &experiment.factors {
        factor.levels.iter().try_for_each(check_level)?;
    }
    let ratios = [
        Some(experiment.analysis.confidence),
        experiment.analysis.margin,
        experiment.design.stop.and_then(|stop| stop.half_width),
        experiment.design.stop.and_then(|stop| stop.margin),
    ];
    for ratio in ratios.into_iter().flatten() {
        finite("a share of the experiment", ratio.0)?;
    }
    if let Some(limit) = experiment.design.cool_below {
        finite("a temperature of the experiment", limit.0)?;
    }
    Ok(())
}

fn check_treatment(treatment: &Treatment) -> Result<(), RecordError> {
    treatment
        .settings
        .iter()
        .try_for_each(|setting| check_level(&setting.level))
}

fn check_attempt(record: &Record, attempt: &Attempt) -> Result<(), RecordError> {
    let name = &attempt.id;
    require(
        AttemptId::from_str(name.as_str()).is_ok(),
        "an attempt's id is none",
    )?;
    require(
        attempt.treatment < record.plan.treatments.len(),
        format!("attempt {name} has a treatment that is not in the plan"),
    )?;
    let run = RunId::of(
        &record.id,
        attempt.block,
        attempt.boot,
        attempt.treatment,
        attempt.warmup,
    );
    require(
        attempt.run == run,
        format!("the run of attempt {name} is not the one at its place in the plan"),
    )?;
    check_result(&attempt.result)
        .map_err(|RecordError(what)| RecordError(format!("{what} of attempt {name}")))
}

fn check_result(result: &RunResult) -> Result<(), RecordError> {
    for value in &result.metrics {
        finite("a metric", value.value)?;
        if let Some(step) = value.granularity {
            finite("a granularity", step)?;
        }
    }
    for evidence in &result.evidence {
        if let Ok(value) = evidence.value {
            finite("a piece of evidence", value)?;
        }
    }
    if let Some(temperature) = result.settling.temperature {
        finite("a temperature", temperature.0)?;
    }
    for reading in result.before.iter().chain(&result.after) {
        reading.asked.iter().try_for_each(check_level)?;
        reading.read.iter().try_for_each(check_level)?;
    }
    Ok(())
}

fn check_value(value: &Value) -> Result<(), RecordError> {
    match value {
        Value::Number(number) | Value::PacketRate(number) => finite("a parameter", *number),
        Value::BitRate(rate) => finite("a parameter", rate.0),
        Value::Cpus(cpus) => {
            // A list that was never written by one: empty, or out of order.
            let text = cpus.to_string();
            let same = text.parse().ok().as_ref() == Some(cpus);
            require(same, format!("\"{text}\" is no list of CPUs"))
        }
        Value::List(values) => values.iter().try_for_each(check_value),
        Value::Table(values) => values.values().try_for_each(check_value),
        Value::Boolean(_)
        | Value::Integer(_)
        | Value::Text(_)
        | Value::Duration(_)
        | Value::Size(_)
        | Value::Priority(_) => Ok(()),
    }
}

fn check_level(level: &Level) -> Result<(), RecordError> {
    match level {
        Level::Number(number) => finite("a level", *number),
        Level::Boolean(_) | Level::Integer(_) | Level::Text(_) => Ok(()),
    }
}

fn finite(what: &str, value: f64) -> Result<(), RecordError> {
    require(
        value.is_finite(),
        format!("{what} is {value} and not a finite number"),
    )
}

fn require(holds: bool, otherwise: impl Into<String>) -> Result<(), RecordError> {
    if holds {
        Ok(())
    } else {
        Err(RecordError(otherwise.into()))
    }
}
