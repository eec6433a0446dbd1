//! From the survey's figures to metrics, evidence and sentences. Pure.

use knobstat_data::observation::MetricValue;
use knobstat_data::{Evidence, Metric, Unit};

use super::super::Yield;
use super::super::survey::Seen;
use super::figures::{CpuFigures, NoiseFigures};
use super::schema;
use crate::evidence::evidence;

/// What figures amount to.
pub(super) fn decode(figures: &NoiseFigures) -> Yield {
    let metrics = (schema::SCHEMA.metrics)()
        .into_iter()
        .filter_map(|metric| {
            let value = value_of(figures, &metric.name)?;
            Some(MetricValue {
                metric: Metric {
                    self_timed: figures.stopwatch.caveat.is_some(),
                    ..metric
                },
                value,
                limited_by: None,
                granularity: None,
            })
        })
        .collect();
    Yield {
        metrics,
        evidence: figures.cpus.iter().flat_map(of_cpu).collect(),
        notes: figures.stopwatch.caveat.clone().into_iter().collect(),
        failure: None,
    }
}

/// A metric over all CPUs; absent where nothing was looked at.
fn value_of(figures: &NoiseFigures, name: &str) -> Option<f64> {
    let sum = |of: fn(&CpuFigures) -> u64| figures.cpus.iter().map(of).sum::<u64>() as f64;
    let looked = sum(|cpu| cpu.looked_nanoseconds);
    let value = match name {
        schema::NOISE => 100.0 * sum(|cpu| cpu.interruptions.nanoseconds) / looked,
        schema::INTERRUPTIONS => 1e9 * sum(|cpu| cpu.interruptions.count) / looked,
        schema::LONGEST => figures
            .cpus
            .iter()
            .map(|cpu| cpu.interruptions.longest_nanoseconds as f64)
            .fold(0.0, f64::max),
        _ => {
            100.0
                * figures
                    .cpus
                    .iter()
                    .map(|cpu| cpu.worst_window)
                    .fold(0.0, f64::max)
        }
    };
    value.is_finite().then_some(value)
}

fn of_cpu(cpu: &CpuFigures) -> Vec<Evidence> {
    let scope = format!("cpu{}", cpu.cpu);
    let looked = cpu.looked_nanoseconds as f64;
    let share = |nanoseconds: u64| match looked > 0.0 {
        true => Ok(100.0 * nanoseconds as f64 / looked),
        false => Err("no time passed".to_owned()),
    };
    let causes = &cpu.causes;
    let counted = |seen: &Seen<u64>| {
        seen.as_result()
            .map(|count| *count as f64)
            .map_err(str::to_owned)
    };
    let stolen = causes
        .stolen_nanoseconds
        .as_result()
        .map_err(str::to_owned)
        .and_then(|nanoseconds| share(*nanoseconds));
    [
        (
            "noise.share",
            Unit::SHARE,
            share(cpu.interruptions.nanoseconds),
        ),
        (
            "noise.interruptions",
            Unit::COUNT,
            Ok(cpu.interruptions.count as f64),
        ),
        (
            "noise.longest",
            Unit::NANOSECONDS,
            Ok(cpu.interruptions.longest_nanoseconds as f64),
        ),
        (
            "noise.other_threads",
            Unit::COUNT,
            Ok(causes.other_threads.count as f64),
        ),
        (
            "noise.other_threads_share",
            Unit::SHARE,
            share(causes.other_threads.nanoseconds),
        ),
        (
            "noise.interrupts_share",
            Unit::SHARE,
            share(causes.interrupts.nanoseconds),
        ),
        ("noise.timer", Unit::COUNT, counted(&causes.timer)),
        (
            "noise.rescheduling",
            Unit::COUNT,
            counted(&causes.rescheduling),
        ),
        (
            "noise.function_calls",
            Unit::COUNT,
            counted(&causes.function_calls),
        ),
        (
            "noise.other_interrupts",
            Unit::COUNT,
            counted(&causes.others),
        ),
        (
            "noise.soft_interrupts",
            Unit::COUNT,
            counted(&causes.soft_interrupts),
        ),
        (
            "noise.unexplained",
            Unit::COUNT,
            counted(&causes.unexplained),
        ),
        ("noise.stolen", Unit::SHARE, stolen),
    ]
    .into_iter()
    .map(|(key, unit, value)| evidence(key, scope.clone(), unit, value))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::survey::StopwatchFigures;
    use super::super::figures::{Causes, Lost};
    use super::*;

    fn cpu(number: u32, lost: u64) -> CpuFigures {
        let interruptions = Lost {
            count: 10,
            nanoseconds: lost,
            longest_nanoseconds: lost / 2,
        };
        CpuFigures {
            cpu: number,
            looked_nanoseconds: 1_000_000_000,
            asking_nanoseconds: 3_000,
            readings: 30_000_000,
            turn_nanoseconds: 25,
            interruptions,
            lengths: Seen::unseen("left out"),
            worst_window: lost as f64 / 1e9,
            causes: Causes {
                other_threads: Lost::default(),
                interrupts: interruptions,
                timer: Seen::Value(250),
                rescheduling: Seen::Value(1),
                function_calls: Seen::unseen("not counted"),
                others: Seen::Value(0),
                soft_interrupts: Seen::Value(9),
                stolen_nanoseconds: Seen::Value(10_000_000),
                unexplained: Seen::Value(0),
            },
        }
    }

    #[test]
    fn shares_are_of_all_cpus_together() {
        let figures = NoiseFigures {
            duration_seconds: 1.0,
            interval_nanoseconds: 1_000_000,
            threshold_nanoseconds: 250,
            priority: None,
            stopwatch: StopwatchFigures {
                name: "tsc".to_owned(),
                granularity_nanoseconds: 20,
                uncertainty_ppm: Seen::Value(2.0),
                caveat: None,
            },
            all: Seen::unseen("left out"),
            cpus: vec![cpu(0, 10_000_000), cpu(1, 30_000_000)],
        };
        let decoded = decode(&figures);
        let values: Vec<_> = decoded
            .metrics
            .iter()
            .map(|value| (value.metric.name.as_str(), value.value))
            .collect();
        assert_eq!(
            values,
            [
                ("noise", 2.0),
                ("interruptions", 10.0),
                ("longest", 15_000_000.0),
                ("worst_window", 3.0)
            ]
        );
        let found = |key: &str, scope: &str| {
            decoded
                .evidence
                .iter()
                .find(|one| one.key == key && one.scope == scope)
                .map(|one| one.value.clone())
        };
        assert_eq!(found("noise.share", "cpu1"), Some(Ok(3.0)));
        assert_eq!(found("noise.stolen", "cpu0"), Some(Ok(1.0)));
        assert_eq!(
            found("noise.function_calls", "cpu0"),
            Some(Err("not counted".to_owned()))
        );
    }
}
