//! From the survey's figures to metrics, evidence and sentences. Pure.

use knobstat_data::observation::MetricValue;
use knobstat_data::{Evidence, Metric, Unit};

use super::super::Yield;
use super::super::survey::{Distribution, Seen};
use super::figures::{ClockFigures, OneClock};
use super::schema;
use crate::evidence::evidence;

/// The clock that the metrics are of.
const MAIN: &str = "CLOCK_MONOTONIC";

/// What figures amount to.
pub(super) fn decode(figures: &ClockFigures) -> Yield {
    let main = figures.clocks.iter().find(|clock| clock.clock == MAIN);
    let metrics = (schema::SCHEMA.metrics)()
        .into_iter()
        .filter_map(|metric| {
            let value = value_of(main?, &metric.name)?;
            Some(MetricValue {
                metric: Metric {
                    self_timed: figures.stopwatch.caveat.is_some() && metric.name != schema::STEP,
                    ..metric
                },
                value,
                limited_by: None,
                granularity: None,
            })
        })
        .collect();
    let went_back = figures.clocks.iter().filter_map(|clock| {
        let order = clock.order.value().filter(|order| order.backward > 0)?;
        Some(format!(
            "{} went back {} times from one reading to the next, by {} ns at most",
            clock.clock, order.backward, order.worst_nanoseconds
        ))
    });
    Yield {
        metrics,
        evidence: figures.clocks.iter().flat_map(of_clock).collect(),
        notes: went_back.chain(figures.stopwatch.caveat.clone()).collect(),
        failure: None,
    }
}

fn value_of(clock: &OneClock, metric: &str) -> Option<f64> {
    match metric {
        schema::READ_COST => Some(clock.cost.value()?.p50),
        schema::READ_COST_P99 => Some(clock.cost.value()?.p99),
        schema::SYSTEM_CALL_COST => Some(clock.system_call_cost.value()?.p50),
        _ => clock.step_nanoseconds.value().map(|step| *step as f64),
    }
}

fn of_clock(clock: &OneClock) -> Vec<Evidence> {
    fn seen<T>(seen: &Seen<T>, value: impl Fn(&T) -> f64) -> Result<f64, String> {
        seen.as_result().map(value).map_err(str::to_owned)
    }
    let median = |cost: &Distribution| cost.p50;
    [
        (
            "clock.read_cost",
            Unit::NANOSECONDS,
            seen(&clock.cost, median),
        ),
        (
            "clock.system_call_cost",
            Unit::NANOSECONDS,
            seen(&clock.system_call_cost, median),
        ),
        (
            "clock.through_vdso",
            Unit::COUNT,
            seen(&clock.path, |path| f64::from(u8::from(path.through_vdso))),
        ),
        (
            "clock.step",
            Unit::NANOSECONDS,
            seen(&clock.step_nanoseconds, |step| *step as f64),
        ),
        (
            "clock.backward",
            Unit::COUNT,
            seen(&clock.order, |order| order.backward as f64),
        ),
        (
            "clock.drift",
            Unit::new("ppm"),
            seen(&clock.drift, |drift| drift.ppm),
        ),
    ]
    .into_iter()
    .map(|(key, unit, value)| evidence(key, clock.clock.clone(), unit, value))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::survey::StopwatchFigures;
    use super::super::figures::Order;
    use super::*;

    fn distribution(p50: f64) -> Distribution {
        Distribution {
            count: 100,
            smallest: p50,
            mean: p50,
            p50,
            p90: p50,
            p99: 2.0 * p50,
            p999: 3.0 * p50,
            largest: 3.0 * p50,
            histogram: Vec::new(),
        }
    }

    fn clock(name: &str) -> OneClock {
        OneClock {
            clock: name.to_owned(),
            cost: Seen::Value(distribution(25.0)),
            system_call_cost: Seen::Value(distribution(80.0)),
            path: Seen::unseen("not asked"),
            step_nanoseconds: Seen::Value(30),
            claimed_resolution_nanoseconds: Seen::Value(1),
            order: Seen::Value(Order {
                readings: 9,
                handovers: 4,
                backward: u64::from(name == "CLOCK_TAI"),
                worst_nanoseconds: 12,
            }),
            drift: Seen::unseen("no reference"),
        }
    }

    #[test]
    fn the_metrics_are_of_the_monotonic_clock_and_the_evidence_of_all() {
        let figures = ClockFigures {
            duration_seconds: 1.0,
            interval_nanoseconds: 1_000_000,
            cpu: 0,
            cpus: vec![0, 1],
            stopwatch: StopwatchFigures {
                name: "monotonic-raw".to_owned(),
                granularity_nanoseconds: 20,
                uncertainty_ppm: Seen::unseen("none"),
                caveat: Some("no counter".to_owned()),
            },
            clocks: vec![clock("CLOCK_TAI"), clock("CLOCK_MONOTONIC")],
        };
        let decoded = decode(&figures);
        let values: Vec<_> = decoded
            .metrics
            .iter()
            .map(|value| {
                let metric = &value.metric;
                (metric.name.as_str(), value.value, metric.self_timed)
            })
            .collect();
        assert_eq!(
            values,
            [
                ("read_cost", 25.0, true),
                ("read_cost_p99", 50.0, true),
                ("system_call_cost", 80.0, true),
                ("step", 30.0, false)
            ]
        );
        assert_eq!(decoded.evidence.len(), 12);
        assert!(decoded.notes[0].starts_with("CLOCK_TAI went back 1"));
        assert_eq!(decoded.notes[1], "no counter");
    }
}
