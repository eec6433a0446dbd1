//! How figures are written down: distributions, the stopwatch, and what was not seen.

use std::time::Duration;

use knobstat_data::observation::Failure;
use knobstat_sys::clock::{Reference, Stopwatch};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::{Ended, built_in};
use crate::histogram::Histogram;

/// A value, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Seen<T> {
    /// The value.
    Value(T),
    /// There is none.
    Unseen {
        /// Why.
        why: String,
    },
}

impl<T> Seen<T> {
    /// No value, for this reason.
    pub fn unseen(why: impl Into<String>) -> Self {
        Self::Unseen { why: why.into() }
    }

    /// The value or the reason.
    pub fn as_result(&self) -> Result<&T, &str> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Unseen { why } => Err(why),
        }
    }

    /// The value, where there is one.
    pub fn value(&self) -> Option<&T> {
        self.as_result().ok()
    }
}

impl<T> From<Result<T, String>> for Seen<T> {
    fn from(result: Result<T, String>) -> Self {
        match result {
            Ok(value) => Self::Value(value),
            Err(why) => Self::Unseen { why },
        }
    }
}

/// How times are distributed, all in nanoseconds. A quantile is the beginning of its bucket,
/// which is at most 0.8 % of its value wide; smallest, mean and largest are exact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// How many values.
    pub count: u64,
    /// The smallest.
    pub smallest: f64,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// Nine of ten are no larger.
    pub p90: f64,
    /// 99 of 100 are no larger.
    pub p99: f64,
    /// 999 of 1000 are no larger.
    pub p999: f64,
    /// The largest.
    pub largest: f64,
    /// Every bucket that has values, ascending.
    pub histogram: Vec<HistogramBucket>,
}

/// Values from `from` to below `to`, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistogramBucket {
    /// The smallest value of the bucket.
    pub from: f64,
    /// The smallest value above it.
    pub to: f64,
    /// How many values.
    pub count: u64,
}

impl Distribution {
    /// The bits of precision of the histograms that distributions are made of.
    pub const PRECISION: u32 = 7;

    /// The distribution of a histogram whose values are so many to the nanosecond; absent where
    /// it has none.
    pub fn of(histogram: &Histogram, per_nanosecond: f64) -> Option<Self> {
        let scaled = |value: u64| value as f64 / per_nanosecond;
        let (smallest, largest) = (histogram.smallest()?, histogram.largest()?);
        let quantile = |share| {
            // A bucket may begin below the smallest of its values.
            histogram
                .quantile(share)
                .map(|value| scaled(value.clamp(smallest, largest)))
        };
        Some(Self {
            count: histogram.total(),
            smallest: scaled(smallest),
            mean: histogram.mean()? / per_nanosecond,
            p50: quantile(0.5)?,
            p90: quantile(0.9)?,
            p99: quantile(0.99)?,
            p999: quantile(0.999)?,
            largest: scaled(largest),
            histogram: histogram
                .buckets()
                .map(|bucket| HistogramBucket {
                    from: scaled(bucket.from),
                    to: scaled(bucket.to),
                    count: bucket.count,
                })
                .collect(),
        })
    }
}

/// What timed a survey.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopwatchFigures {
    /// Its name: `tsc`, `cntvct` or `monotonic-raw`.
    pub name: String,
    /// The smallest difference that it can show.
    pub granularity_nanoseconds: u64,
    /// How far its rate may be off, in parts per million of CLOCK_MONOTONIC_RAW's; or why it is
    /// no counter.
    pub uncertainty_ppm: Seen<f64>,
    /// What a reader of its times must know.
    pub caveat: Option<String>,
}

impl StopwatchFigures {
    /// Of this stopwatch.
    pub fn of(stopwatch: &Stopwatch) -> Self {
        Self {
            name: stopwatch.name().to_owned(),
            granularity_nanoseconds: nanoseconds(stopwatch.granularity()),
            uncertainty_ppm: match stopwatch.reference() {
                Reference::Counter {
                    uncertainty_ppm, ..
                } => Seen::Value(*uncertainty_ppm),
                Reference::MonotonicRaw { why } => Seen::unseen(why.to_string()),
            },
            caveat: stopwatch.caveat(),
        }
    }
}

/// A time as whole nanoseconds; 584 years and more are the largest number.
pub fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The figures that a survey's process printed.
///
/// # Errors
/// The reason that it gave for having none, or what is wrong with what it printed.
pub(super) fn figures_of<F: DeserializeOwned>(ended: &Ended) -> Result<F, Failure> {
    serde_json::from_value(built_in::result(ended)?).map_err(|error| Failure::Workload {
        reason: format!("its figures cannot be read: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_in_nanoseconds_whatever_was_counted() {
        let mut picoseconds = Histogram::new(Distribution::PRECISION);
        for value in [20_000, 20_000, 21_000, 900_123] {
            picoseconds.record(value);
        }
        let distribution = Distribution::of(&picoseconds, 1000.0).unwrap();
        assert_eq!((distribution.count, distribution.smallest), (4, 20.0));
        assert_eq!((distribution.p50, distribution.largest), (20.0, 900.123));
        assert_eq!(distribution.histogram.len(), 3);
        assert!(distribution.p999 > 890.0 && distribution.p999 <= distribution.largest);
        assert_eq!(Distribution::of(&Histogram::new(7), 1.0), None);
    }

    #[test]
    fn what_was_not_seen_is_written_with_its_reason() {
        let written = |seen: &Seen<f64>| serde_json::to_string(seen).unwrap();
        assert_eq!(written(&Seen::Value(1.5)), "1.5");
        let unseen = Seen::unseen("no device");
        assert_eq!(written(&unseen), "{\"why\":\"no device\"}");
        let read: Seen<f64> = serde_json::from_str("{\"why\":\"no device\"}").unwrap();
        assert_eq!(read, unseen);
    }
}
