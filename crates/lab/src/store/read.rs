//! Reading: what there is, and an experiment's whole record.

use std::collections::HashMap;
use std::str::FromStr;
use std::time::Duration;

use knobstat_data::Record;
use knobstat_data::observation::{
    Attempt, Evidence, KnobReading, Limit, MetricValue, RunResult, Settling, Times,
};
use knobstat_data::words::{
    AttemptId, Better, Celsius, ExperimentId, Metric, RequestId, RunId, Unit, UnixTime,
};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{OptionalExtension, Row};
use serde::de::DeserializeOwned;

use super::{Store, StoreError};

/// One experiment in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its identity.
    pub id: ExperimentId,
    /// Its name.
    pub name: String,
    /// The host that it ran on.
    pub host: Option<String>,
    /// When it began.
    pub started: UnixTime,
    /// When it was done, once it is.
    pub finished: Option<UnixTime>,
    /// How many measured runs went as asked.
    pub ok: u64,
    /// How many measured attempts were tainted.
    pub tainted: u64,
    /// How many attempts failed.
    pub failed: u64,
}

impl Store {
    /// The latest experiment of a request that is not done yet.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn find_unfinished(&self, request: &RequestId) -> Result<Option<ExperimentId>, StoreError> {
        self.connection
            .query_row(
                "SELECT id FROM experiment WHERE request = ?1 AND finished IS NULL
                 ORDER BY started DESC, id LIMIT 1",
                [request.as_str()],
                |row| Ok(row.get::<_, Parsed<ExperimentId>>(0)?.0),
            )
            .optional()
            .map_err(|error| self.fail(error))
    }

    /// The latest experiment of this name on this machine that is not done yet, whatever it asks
    /// for.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn find_unfinished_named(
        &self,
        name: &str,
        machine: &str,
    ) -> Result<Option<ExperimentId>, StoreError> {
        self.connection
            .query_row(
                "SELECT id FROM experiment
                 WHERE name = ?1 AND machine_id = ?2 AND finished IS NULL
                 ORDER BY started DESC, id LIMIT 1",
                [name, machine],
                |row| Ok(row.get::<_, Parsed<ExperimentId>>(0)?.0),
            )
            .optional()
            .map_err(|error| self.fail(error))
    }

    /// Every experiment, the newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list(&self) -> Result<Vec<Summary>, StoreError> {
        self.rows(
            "SELECT id, name, host, started, finished,
                    (SELECT count(DISTINCT run) FROM attempt
                     WHERE experiment = experiment.id AND warmup IS NULL AND outcome = 'ok'),
                    (SELECT count(*) FROM attempt
                     WHERE experiment = experiment.id AND warmup IS NULL AND outcome = 'tainted'),
                    (SELECT count(*) FROM attempt
                     WHERE experiment = experiment.id AND outcome = 'failed')
             FROM experiment ORDER BY started DESC, id",
            [],
            |row| {
                Ok(Summary {
                    id: row.get::<_, Parsed<_>>(0)?.0,
                    name: row.get(1)?,
                    host: row.get(2)?,
                    started: UnixTime(row.get(3)?),
                    finished: row.get::<_, Option<_>>(4)?.map(UnixTime),
                    ok: row.get::<_, Whole<_>>(5)?.0,
                    tainted: row.get::<_, Whole<_>>(6)?.0,
                    failed: row.get::<_, Whole<_>>(7)?.0,
                })
            },
        )
    }

    /// The id of the one experiment that goes by this word: its id, the beginning of its id, or
    /// its name.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] when there is none, [`StoreError::Ambiguous`] when there are
    /// several, and when the store cannot be read.
    pub fn find(&self, wanted: &str) -> Result<ExperimentId, StoreError> {
        let by = |condition: &str| {
            self.rows(
                &format!("SELECT id FROM experiment WHERE {condition} ORDER BY started DESC, id"),
                [wanted],
                |row| Ok(row.get::<_, Parsed<ExperimentId>>(0)?.0),
            )
        };
        let mut found = by("id = ?1")?;
        if found.is_empty() {
            found = by("name = ?1")?;
        }
        // Only what reads as an id can be the beginning of one.
        if found.is_empty() && ExperimentId::from_str(wanted).is_ok() {
            found = by("substr(id, 1, length(?1)) = ?1")?;
        }
        match found.len() {
            1 => Ok(found.swap_remove(0)),
            0 => Err(StoreError::Unknown {
                path: self.path.clone(),
                wanted: wanted.to_owned(),
            }),
            _ => Err(StoreError::Ambiguous {
                wanted: wanted.to_owned(),
                candidates: found.iter().map(ToString::to_string).collect(),
            }),
        }
    }

    /// The record of the one experiment that goes by this word; see [`Store::find`].
    ///
    /// # Errors
    /// As [`Store::find`], and when the record contradicts itself.
    pub fn load(&self, wanted: &str) -> Result<Record, StoreError> {
        self.record(&self.find(wanted)?)
    }

    /// The record of an experiment.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn record(&self, id: &ExperimentId) -> Result<Record, StoreError> {
        // One transaction, so that the attempts belong to what else is read.
        let _snapshot = self
            .connection
            .unchecked_transaction()
            .map_err(|error| self.fail(error))?;
        let mut record = self
            .connection
            .query_row(
                "SELECT request, source, definition, machine, plan, omitted, started, finished
                 FROM experiment WHERE id = ?1",
                [id.as_str()],
                |row| {
                    Ok(Record {
                        id: id.clone(),
                        request: row.get::<_, Parsed<_>>(0)?.0,
                        source: row.get(1)?,
                        experiment: row.get::<_, Json<_>>(2)?.0,
                        machine: row.get::<_, Json<_>>(3)?.0,
                        plan: row.get::<_, Json<_>>(4)?.0,
                        omitted: row.get::<_, Json<_>>(5)?.0,
                        started: UnixTime(row.get(6)?),
                        finished: row.get::<_, Option<_>>(7)?.map(UnixTime),
                        attempts: Vec::new(),
                    })
                },
            )
            .optional()
            .map_err(|error| self.fail(error))?
            .ok_or_else(|| StoreError::Unknown {
                path: self.path.clone(),
                wanted: id.to_string(),
            })?;
        record.attempts = self.attempts(id)?;
        Ok(record)
    }

    fn attempts(&self, experiment: &ExperimentId) -> Result<Vec<Attempt>, StoreError> {
        let mut attempts = self.rows(
            "SELECT number, id, run, block, boot, treatment, warmup, sequence, started, finished,
                    outcome_detail, stopwatch, wall_ns, monotonic_ns, monotonic_raw_ns,
                    boottime_ns, cpu_ns, knobs_changed, waited_ns, temperature, still_hot, notes
             FROM attempt WHERE experiment = ?1 ORDER BY sequence, started, id",
            [experiment.as_str()],
            |row| Ok((row.get::<_, i64>(0)?, attempt_of(row)?)),
        )?;
        let places: HashMap<i64, usize> = attempts
            .iter()
            .enumerate()
            .map(|(place, (number, _))| (*number, place))
            .collect();
        let mut hang = |rows: Vec<(i64, Hanging)>| {
            for (number, row) in rows {
                let Some(&place) = places.get(&number) else {
                    return Err(self.damaged(format!("attempt {number} has rows and is missing")));
                };
                let result = &mut attempts[place].1.result;
                match row {
                    Hanging::Metric(metric) => result.metrics.push(metric),
                    Hanging::Evidence(evidence) => result.evidence.push(evidence),
                    Hanging::Before(reading) => result.before.push(reading),
                    Hanging::After(reading) => result.after.push(reading),
                }
            }
            Ok(())
        };
        hang(self.hanging(experiment, METRICS, |row| {
            Ok(Hanging::Metric(metric_of(row)?))
        })?)?;
        hang(self.hanging(experiment, EVIDENCE, |row| {
            Ok(Hanging::Evidence(evidence_of(row)?))
        })?)?;
        hang(self.hanging(experiment, READINGS_BEFORE, |row| {
            Ok(Hanging::Before(reading_of(row)?))
        })?)?;
        hang(self.hanging(experiment, READINGS_AFTER, |row| {
            Ok(Hanging::After(reading_of(row)?))
        })?)?;
        Ok(attempts.into_iter().map(|(_, attempt)| attempt).collect())
    }

    /// Rows that hang on the attempts of an experiment, each with its attempt's number in the
    /// first column.
    fn hanging(
        &self,
        experiment: &ExperimentId,
        sql: &str,
        read: impl Fn(&Row) -> rusqlite::Result<Hanging>,
    ) -> Result<Vec<(i64, Hanging)>, StoreError> {
        self.rows(sql, [experiment.as_str()], |row| {
            Ok((row.get(0)?, read(row)?))
        })
    }

    fn rows<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self
            .connection
            .prepare(sql)
            .map_err(|error| self.fail(error))?;
        statement
            .query_map(parameters, read)
            .and_then(Iterator::collect)
            .map_err(|error| match error {
                error @ (rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)) => self.damaged(error.to_string()),
                error => self.fail(error),
            })
    }
}

/// A row that hangs on an attempt.
enum Hanging {
    Metric(MetricValue),
    Evidence(Evidence),
    Before(KnobReading),
    After(KnobReading),
}

const METRICS: &str = "
SELECT attempt, name, unit, better, self_timed, value, limited_by, granularity
FROM metric JOIN attempt ON attempt.number = metric.attempt
WHERE experiment = ?1 ORDER BY attempt, position";

const EVIDENCE: &str = "
SELECT attempt, key, scope, unit, value, reason
FROM evidence JOIN attempt ON attempt.number = evidence.attempt
WHERE experiment = ?1 ORDER BY attempt, position";

const READINGS_BEFORE: &str = "
SELECT attempt, knob, asked, level, reason
FROM reading JOIN attempt ON attempt.number = reading.attempt
WHERE experiment = ?1 AND moment = 'before' ORDER BY attempt, position";

const READINGS_AFTER: &str = "
SELECT attempt, knob, asked, level, reason
FROM reading JOIN attempt ON attempt.number = reading.attempt
WHERE experiment = ?1 AND moment = 'after' ORDER BY attempt, position";

fn attempt_of(row: &Row) -> rusqlite::Result<Attempt> {
    let times = match row.get::<_, Option<String>>(11)? {
        None => None,
        Some(stopwatch) => Some(Times {
            stopwatch,
            wall: row.get::<_, Nanoseconds>(12)?.0,
            monotonic: row.get::<_, Nanoseconds>(13)?.0,
            monotonic_raw: row.get::<_, Nanoseconds>(14)?.0,
            boottime: row.get::<_, Nanoseconds>(15)?.0,
            cpu: row.get::<_, Nanoseconds>(16)?.0,
        }),
    };
    Ok(Attempt {
        id: row.get::<_, Parsed<AttemptId>>(1)?.0,
        run: row.get::<_, Parsed<RunId>>(2)?.0,
        block: row.get::<_, Whole<_>>(3)?.0,
        boot: row.get::<_, Whole<_>>(4)?.0,
        treatment: row.get::<_, Whole<_>>(5)?.0,
        warmup: row.get(6)?,
        sequence: row.get::<_, Whole<_>>(7)?.0,
        started: UnixTime(row.get(8)?),
        finished: UnixTime(row.get(9)?),
        result: RunResult {
            outcome: row.get::<_, Json<_>>(10)?.0,
            metrics: Vec::new(),
            evidence: Vec::new(),
            times,
            before: Vec::new(),
            after: Vec::new(),
            settling: Settling {
                knobs_changed: row.get(17)?,
                waited: row.get::<_, Nanoseconds>(18)?.0,
                temperature: row.get::<_, Option<_>>(19)?.map(Celsius),
                still_hot: row.get(20)?,
            },
            notes: row.get::<_, Json<_>>(21)?.0,
        },
    })
}

fn metric_of(row: &Row) -> rusqlite::Result<MetricValue> {
    Ok(MetricValue {
        metric: Metric {
            name: row.get(1)?,
            unit: Unit::new(row.get::<_, String>(2)?),
            better: row.get::<_, Word<Better>>(3)?.0,
            self_timed: row.get(4)?,
        },
        value: row.get(5)?,
        limited_by: row.get::<_, Option<Word<Limit>>>(6)?.map(|word| word.0),
        granularity: row.get(7)?,
    })
}

fn evidence_of(row: &Row) -> rusqlite::Result<Evidence> {
    Ok(Evidence {
        key: row.get(1)?,
        scope: row.get(2)?,
        unit: Unit::new(row.get::<_, String>(3)?),
        value: match row.get::<_, Option<String>>(5)? {
            Some(reason) => Err(reason),
            None => Ok(row.get(4)?),
        },
    })
}

fn reading_of(row: &Row) -> rusqlite::Result<KnobReading> {
    Ok(KnobReading {
        knob: row.get(1)?,
        asked: row.get::<_, Option<Json<_>>>(2)?.map(|asked| asked.0),
        read: match row.get::<_, Option<String>>(4)? {
            Some(reason) => Err(reason),
            None => Ok(row.get::<_, Json<_>>(3)?.0),
        },
    })
}

/// A column that holds an identity.
struct Parsed<T>(T);

impl<T: FromStr<Err = ()>> FromSql for Parsed<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        text.parse()
            .map(Self)
            .map_err(|()| FromSqlError::Other(format!("\"{text}\" is not an identity").into()))
    }
}

/// A column that holds JSON.
struct Json<T>(T);

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?)
            .map(Self)
            .map_err(FromSqlError::other)
    }
}

/// A column that holds one word of a closed list.
struct Word<T>(T);

impl<T: DeserializeOwned> FromSql for Word<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_value(serde_json::Value::from(value.as_str()?))
            .map(Self)
            .map_err(FromSqlError::other)
    }
}

/// A column that holds a number that is never negative.
struct Whole<T>(T);

impl<T: TryFrom<i64>> FromSql for Whole<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let whole = value.as_i64()?;
        T::try_from(whole)
            .map(Self)
            .map_err(|_| FromSqlError::OutOfRange(whole))
    }
}

/// A column that holds a stretch of time.
struct Nanoseconds(Duration);

impl FromSql for Nanoseconds {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Whole::column_result(value)
            .map(|Whole(nanoseconds)| Self(Duration::from_nanos(nanoseconds)))
    }
}
