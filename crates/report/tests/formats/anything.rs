//! Whatever the values are: every format renders, JSON is strict, and nothing that is not a number
//! is printed as one.

use knobstat_data::observation::{Limit, MetricValue, RunResult};
use knobstat_data::{Outcome, Ratio, Record, Unit};
use knobstat_report::{FORMATS, Style};
use proptest::prelude::*;

use crate::report;
use crate::support::{Bench, KNOB, numbers, texts, throughput, wall};

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (0_i32..4).prop_map(f64::from),
        2 => -10.0..10.0,
        1 => any::<f64>(),
        1 => prop::sample::select(vec![0.0, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, f64::NAN, f64::INFINITY, 1e-300]),
    ]
}

/// A run that was made: its value, what held it down, the step of its scale.
type Run = (f64, Option<Limit>, Option<f64>);

fn run() -> impl Strategy<Value = Option<Run>> {
    let limit = prop::option::of(prop::sample::select(vec![
        Limit::Sender,
        Limit::Link,
        Limit::Receiver,
    ]));
    prop::option::weighted(0.9, (value(), limit, prop::option::weighted(0.2, value())))
}

fn record(runs: &[Option<Run>], higher: bool, margin: Option<f64>, partial: bool) -> Record {
    let metric = if higher { throughput() } else { wall() };
    let mut bench = Bench::new(
        "anything",
        &[
            ("knob", KNOB, &texts(&["a", "b", "c"])),
            (
                "size",
                knobstat_data::experiment::FactorKind::Parameter,
                &numbers(&[1, 2]),
            ),
        ],
        metric.clone(),
    );
    if partial {
        bench = bench.against("knob", "b");
    }
    bench.experiment.analysis.margin = margin.map(Ratio);
    let mut next = runs.iter();
    bench
        .blocks(u32::try_from(runs.len() / 6).unwrap())
        .record(|_, _| {
            let (value, limited_by, granularity) = (*next.next()?)?;
            Some(RunResult {
                metrics: vec![MetricValue {
                    metric: metric.clone(),
                    value,
                    limited_by,
                    granularity,
                }],
                evidence: vec![knobstat_data::Evidence {
                    key: "pacer.packets_per_wait".to_owned(),
                    scope: "run".to_owned(),
                    unit: Unit::COUNT,
                    value: Ok(value),
                }],
                ..RunResult::bare(Outcome::Ok)
            })
        })
}

proptest! {
    // A failure is printed with its values; it is to become a test of its own.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_format_renders(
        runs in prop::collection::vec(run(), 6..36),
        higher: bool,
        partial: bool,
        margin in prop::option::of(0.001..0.5),
        width in 0_usize..200,
    ) {
        let report = report(&record(&runs, higher, margin, partial));
        for format in &FORMATS {
            let text = (format.render)(&report, Style { width, colour: false });
            prop_assert!(text.ends_with('\n'));
            let odd = text
                .split(|character: char| !character.is_alphanumeric())
                .find(|word| ["NaN", "nan", "inf", "Infinity"].contains(word));
            prop_assert!(odd.is_none(), "{} in {}:\n{text}", odd.unwrap_or_default(), format.name);
            if format.name == "json" {
                let parsed: Result<serde_json::Value, _> = serde_json::from_str(&text);
                prop_assert!(parsed.is_ok());
            }
        }
        for comparison in &report.comparisons {
            let probabilities = [comparison.p, comparison.p_adjusted];
            prop_assert!(probabilities.iter().flatten().all(|p| (0.0..=1.0).contains(p)));
            if let (Some(interval), Some(p)) = (comparison.interval, comparison.p_adjusted) {
                let zero_inside = interval.0 <= 0.0 && 0.0 <= interval.1;
                prop_assert_eq!(zero_inside, p > 0.05, "{:?}", comparison);
            }
        }
    }
}
