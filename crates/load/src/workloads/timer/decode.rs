//! From the survey's figures to metrics, evidence and sentences. Pure.

use knobstat_data::observation::MetricValue;
use knobstat_data::{Metric, Unit};

use super::super::Yield;
use super::figures::TimerFigures;
use super::schema;
use crate::evidence::evidence;

/// What figures amount to.
pub(super) fn decode(figures: &TimerFigures) -> Yield {
    let step = figures.clock_step_nanoseconds.value().copied();
    let granularity = step
        .unwrap_or(0)
        .max(figures.stopwatch.granularity_nanoseconds) as f64;
    let metrics = (schema::SCHEMA.metrics)()
        .into_iter()
        .map(|metric| MetricValue {
            value: match metric.name.as_str() {
                schema::LATENCY_P99 => figures.all.p99,
                schema::LATENCY_MAX => figures.all.largest,
                _ => figures.all.p50,
            },
            metric: Metric {
                self_timed: figures.stopwatch.caveat.is_some(),
                ..metric
            },
            limited_by: None,
            granularity: Some(granularity),
        })
        .collect();
    let mut found = vec![
        evidence(
            "timer.slack",
            "run",
            Unit::NANOSECONDS,
            number(figures.timer_slack_nanoseconds.as_result()),
        ),
        evidence(
            "timer.clock_step",
            "run",
            Unit::NANOSECONDS,
            number(figures.clock_step_nanoseconds.as_result()),
        ),
    ];
    for cpu in &figures.cpus {
        let scope = format!("cpu{}", cpu.cpu);
        for (key, unit, value) in [
            ("timer.wake_ups", Unit::COUNT, cpu.latency.count as f64),
            ("timer.missed", Unit::COUNT, cpu.missed as f64),
            ("timer.latency_p50", Unit::NANOSECONDS, cpu.latency.p50),
            ("timer.latency_p99", Unit::NANOSECONDS, cpu.latency.p99),
            ("timer.latency_max", Unit::NANOSECONDS, cpu.latency.largest),
            (
                "timer.latency_p50_by_monotonic",
                Unit::NANOSECONDS,
                cpu.by_monotonic_p50_nanoseconds,
            ),
        ] {
            found.push(evidence(key, scope.clone(), unit, Ok(value)));
        }
    }
    let missed: u64 = figures.cpus.iter().map(|cpu| cpu.missed).sum();
    let notes = (missed > 0)
        .then(|| format!("{missed} moments had passed before the thread could sleep for them"))
        .into_iter()
        .chain(figures.stopwatch.caveat.clone())
        .collect();
    Yield {
        metrics,
        evidence: found,
        notes,
        failure: None,
    }
}

fn number(value: Result<&u64, &str>) -> Result<f64, String> {
    value.map(|value| *value as f64).map_err(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::super::survey::{Distribution, Seen, StopwatchFigures};
    use super::super::figures::CpuFigures;
    use super::*;

    fn figures() -> TimerFigures {
        let latency = Distribution {
            count: 1000,
            smallest: 50_100.0,
            mean: 53_000.0,
            p50: 52_736.0,
            p90: 55_000.0,
            p99: 60_416.0,
            p999: 90_000.0,
            largest: 131_500.0,
            histogram: Vec::new(),
        };
        TimerFigures {
            duration_seconds: 1.0,
            interval_nanoseconds: 1_000_000,
            timer_slack_nanoseconds: Seen::Value(50_000),
            priority: None,
            stopwatch: StopwatchFigures {
                name: "tsc".to_owned(),
                granularity_nanoseconds: 20,
                uncertainty_ppm: Seen::Value(2.0),
                caveat: None,
            },
            clock_step_nanoseconds: Seen::Value(4_000_000),
            all: latency.clone(),
            cpus: vec![CpuFigures {
                cpu: 3,
                latency,
                by_monotonic_p50_nanoseconds: 52_000.0,
                by_monotonic_largest_nanoseconds: 131_000.0,
                missed: 2,
            }],
        }
    }

    #[test]
    fn metrics_are_of_all_cpus_and_no_finer_than_the_clock_that_was_slept_by() {
        let decoded = decode(&figures());
        let values: Vec<_> = decoded
            .metrics
            .iter()
            .map(|value| (value.metric.name.as_str(), value.value))
            .collect();
        assert_eq!(
            values,
            [
                ("latency", 52_736.0),
                ("latency_p99", 60_416.0),
                ("latency_max", 131_500.0)
            ]
        );
        assert!(
            decoded.metrics.iter().all(|value| {
                value.granularity == Some(4_000_000.0) && !value.metric.self_timed
            })
        );
        assert!(decoded.notes[0].starts_with("2 moments"), "{decoded:?}");
    }

    #[test]
    fn without_a_counter_the_metrics_are_self_timed() {
        let mut figures = figures();
        figures.stopwatch.caveat = Some("no counter".to_owned());
        let decoded = decode(&figures);
        assert!(decoded.metrics.iter().all(|value| value.metric.self_timed));
        assert!(decoded.notes.contains(&"no counter".to_owned()));
    }

    #[test]
    fn each_cpu_is_evidence() {
        let decoded = decode(&figures());
        let missed = decoded
            .evidence
            .iter()
            .find(|one| one.key == "timer.missed" && one.scope == "cpu3");
        assert_eq!(missed.map(|one| one.value.clone()), Some(Ok(2.0)));
    }
}
