//! Writing: experiments and attempts, one transaction each.

use std::time::Duration;

use knobstat_data::Record;
use knobstat_data::observation::{Attempt, KnobReading, RunResult};
use knobstat_data::words::{ExperimentId, UnixTime};
use rusqlite::{Connection, TransactionBehavior, params};
use serde::Serialize;

use super::{Store, StoreError};

impl Store {
    /// Takes in a new experiment, and the attempts that its record already holds.
    ///
    /// # Errors
    /// When the store cannot be written; nothing is taken in then.
    pub fn create(&mut self, record: &Record) -> Result<(), StoreError> {
        self.in_transaction(|connection| {
            insert_experiment(connection, record)?;
            for attempt in &record.attempts {
                insert_attempt(connection, &record.id, attempt)?;
            }
            Ok(())
        })
    }

    /// Takes in an attempt. When this returns the attempt is on the disk.
    ///
    /// # Errors
    /// When the store cannot be written; nothing of the attempt is taken in then.
    pub fn commit_attempt(
        &mut self,
        experiment: &ExperimentId,
        attempt: &Attempt,
    ) -> Result<(), StoreError> {
        self.in_transaction(|connection| insert_attempt(connection, experiment, attempt))
    }

    /// Notes that an experiment is done: its request, made again, starts anew.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn finish(&mut self, experiment: &ExperimentId, at: UnixTime) -> Result<(), StoreError> {
        self.in_transaction(|connection| set_finished(connection, experiment, at))
    }

    /// Runs statements that take effect together or not at all.
    pub(super) fn in_transaction<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, WriteError>,
    ) -> Result<T, StoreError> {
        let path = self.path.clone();
        let fail = |error| StoreError::of(&path, error);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(fail)?;
        let result = work(&transaction).map_err(|error| match error {
            WriteError::Sql(error) => fail(error),
            WriteError::OutOfRange { what, value } => StoreError::OutOfRange { what, value },
            WriteError::Conflict { what } => StoreError::Conflict {
                path: path.clone(),
                what,
            },
        })?;
        transaction.commit().map_err(fail)?;
        Ok(result)
    }
}

/// Why statements did not do.
#[derive(Debug)]
pub(super) enum WriteError {
    Sql(rusqlite::Error),
    OutOfRange { what: &'static str, value: String },
    Conflict { what: String },
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

pub(super) fn set_finished(
    connection: &Connection,
    experiment: &ExperimentId,
    at: UnixTime,
) -> Result<(), WriteError> {
    connection.execute(
        "UPDATE experiment SET finished = ?2 WHERE id = ?1",
        params![experiment.as_str(), at.0],
    )?;
    Ok(())
}

pub(super) fn insert_experiment(
    connection: &Connection,
    record: &Record,
) -> Result<(), WriteError> {
    connection.execute(
        "INSERT INTO experiment (id, request, name, machine_id, host, started, finished, source,
                                 definition, machine, plan, omitted)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            record.id.as_str(),
            record.request.as_str(),
            record.experiment.name,
            record.machine.id,
            record.machine.host,
            record.started.0,
            record.finished.map(|finished| finished.0),
            record.source,
            json("an experiment", &record.experiment)?,
            json("a machine", &record.machine)?,
            json("a plan", &record.plan)?,
            json("a list of omissions", &record.omitted)?,
        ],
    )?;
    Ok(())
}

pub(super) fn insert_attempt(
    connection: &Connection,
    experiment: &ExperimentId,
    attempt: &Attempt,
) -> Result<(), WriteError> {
    let result = &attempt.result;
    let times = result.times.as_ref();
    let time = |what, time: Option<Duration>| time.map(|time| nanoseconds(what, time)).transpose();
    connection.execute(
        "INSERT INTO attempt (id, experiment, run, block, boot, treatment, warmup, sequence,
                              started, finished, outcome, outcome_detail, stopwatch, wall_ns,
                              monotonic_ns, monotonic_raw_ns, boottime_ns, cpu_ns, knobs_changed,
                              waited_ns, temperature, still_hot, notes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
                 ?19, ?20, ?21, ?22, ?23)",
        params![
            attempt.id.as_str(),
            experiment.as_str(),
            attempt.run.as_str(),
            whole("a block", attempt.block)?,
            whole("a boot", attempt.boot)?,
            whole("a treatment", attempt.treatment)?,
            attempt.warmup,
            whole("a sequence", attempt.sequence)?,
            attempt.started.0,
            attempt.finished.0,
            result.outcome.word(),
            json("an outcome", &result.outcome)?,
            times.map(|times| times.stopwatch.as_str()),
            time("a time", times.map(|times| times.wall))?,
            time("a time", times.map(|times| times.monotonic))?,
            time("a time", times.map(|times| times.monotonic_raw))?,
            time("a time", times.map(|times| times.boottime))?,
            time("a time", times.map(|times| times.cpu))?,
            result.settling.knobs_changed,
            nanoseconds("a wait", result.settling.waited)?,
            result
                .settling
                .temperature
                .map(|temperature| finite("a temperature", temperature.0))
                .transpose()?,
            result.settling.still_hot,
            json("a list of notes", &result.notes)?,
        ],
    )?;
    insert_rows(connection, connection.last_insert_rowid(), result)
}

/// The rows that hang on an attempt.
fn insert_rows(
    connection: &Connection,
    attempt: i64,
    result: &RunResult,
) -> Result<(), WriteError> {
    let mut metric = connection.prepare(
        "INSERT INTO metric (attempt, position, name, unit, better, self_timed, value,
                             limited_by, granularity)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    for (position, value) in (0_i64..).zip(&result.metrics) {
        metric.execute(params![
            attempt,
            position,
            value.metric.name,
            value.metric.unit.as_str(),
            value.metric.better.to_string(),
            value.metric.self_timed,
            finite("a metric", value.value)?,
            value.limited_by.map(|limit| limit.word()),
            value
                .granularity
                .map(|step| finite("a granularity", step))
                .transpose()?,
        ])?;
    }
    let mut evidence = connection.prepare(
        "INSERT INTO evidence (attempt, position, key, scope, unit, value, reason)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (position, seen) in (0_i64..).zip(&result.evidence) {
        let (value, reason) = match &seen.value {
            Ok(value) => (Some(finite("a piece of evidence", *value)?), None),
            Err(reason) => (None, Some(reason)),
        };
        evidence.execute(params![
            attempt,
            position,
            seen.key,
            seen.scope,
            seen.unit.as_str(),
            value,
            reason
        ])?;
    }
    insert_readings(connection, attempt, "before", &result.before)?;
    insert_readings(connection, attempt, "after", &result.after)
}

fn insert_readings(
    connection: &Connection,
    attempt: i64,
    moment: &str,
    readings: &[KnobReading],
) -> Result<(), WriteError> {
    let mut insert = connection.prepare(
        "INSERT INTO reading (attempt, moment, position, knob, asked, level, reason)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (position, reading) in (0_i64..).zip(readings) {
        let asked = reading.asked.as_ref();
        let (level, reason) = match &reading.read {
            Ok(level) => (Some(json("a level", level)?), None),
            Err(reason) => (None, Some(reason)),
        };
        insert.execute(params![
            attempt,
            moment,
            position,
            reading.knob,
            asked.map(|level| json("a level", level)).transpose()?,
            level,
            reason
        ])?;
    }
    Ok(())
}

fn json<T: Serialize>(what: &'static str, value: &T) -> Result<String, WriteError> {
    serde_json::to_string(value).map_err(|error| WriteError::OutOfRange {
        what,
        value: error.to_string(),
    })
}

/// SQLite has no NaN, and JSON neither.
fn finite(what: &'static str, value: f64) -> Result<f64, WriteError> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(WriteError::OutOfRange {
            what,
            value: value.to_string(),
        })
    }
}

fn whole<N: Copy + ToString + TryInto<i64>>(
    what: &'static str,
    value: N,
) -> Result<i64, WriteError> {
    value.try_into().map_err(|_| WriteError::OutOfRange {
        what,
        value: value.to_string(),
    })
}

/// Whole nanoseconds reach 292 years.
fn nanoseconds(what: &'static str, value: Duration) -> Result<i64, WriteError> {
    i64::try_from(value.as_nanos()).map_err(|_| WriteError::OutOfRange {
        what,
        value: format!("{value:?}"),
    })
}
