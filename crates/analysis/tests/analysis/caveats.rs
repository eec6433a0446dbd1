//! Each caveat speaks where it should, and not where nothing is wrong.

use std::time::Duration;

use knobstat_analysis::analyse;
use knobstat_data::Record;
use knobstat_data::experiment::Order;
use knobstat_stats::random::Generator;

use crate::support::{Bench, KNOB, texts, wall, yielded};

fn bench(factor: &str) -> Bench {
    Bench::new(
        "caveats",
        &[(factor, KNOB, &texts(&["a", "b", "c", "d"]))],
        wall(),
    )
    .blocks(12)
}

fn kinds(record: &Record) -> Vec<&'static str> {
    let caveats = analyse(record).caveats;
    assert!(caveats.iter().all(|caveat| caveat.sentence.ends_with('.')));
    caveats.into_iter().map(|caveat| caveat.kind).collect()
}

/// Runs of unit spread about 100, to which each place in the order of execution, its treatment
/// and the treatment before it add something.
fn record(bench: Bench, mut add: impl FnMut(usize, &str, &str) -> f64) -> Record {
    let mut random = Generator::from_seed(20);
    let (mut place, mut before) = (0, String::new());
    bench.record(|treatment, _| {
        let now = treatment.to_string();
        let value = 100.0 + random.normal() + add(place, &now, &before);
        before = now;
        place += 1;
        Some(yielded(&wall(), value))
    })
}

#[test]
fn a_healthy_experiment_has_none() {
    assert_eq!(kinds(&record(bench("turbo"), |_, _, _| 0.0)), [""; 0]);
}

#[test]
fn drift_is_seen_and_does_no_harm_to_comparisons() {
    let record = record(bench("turbo"), |place, _, _| 0.3 * place as f64);
    assert_eq!(kinds(&record), ["drift"]);
    let analysis = analyse(&record);
    assert!(
        analysis
            .comparisons
            .iter()
            .all(|found| found.better.is_none())
    );
}

#[test]
fn what_one_run_hands_to_the_next_is_seen() {
    let after_b = |_, _: &str, before: &str| if before == "turbo=b" { 6.0 } else { 0.0 };
    assert!(kinds(&record(bench("turbo"), after_b)).contains(&"carry-over"));
}

#[test]
fn two_states_are_seen() {
    let two = |place: usize, now: &str, _: &str| {
        if now == "turbo=c" && (place / 4).is_multiple_of(2) {
            20.0
        } else {
            0.0
        }
    };
    assert!(kinds(&record(bench("turbo"), two)).contains(&"two-clusters"));
}

#[test]
fn an_order_as_written_is_said() {
    let mut bench = bench("turbo");
    bench.experiment.design.order = Order::AsWritten;
    assert!(kinds(&record(bench, |_, _, _| 0.0)).contains(&"order-not-random"));
}

#[test]
fn an_unfinished_experiment_is_said() {
    let mut record = record(bench("turbo"), |_, _, _| 0.0);
    record.finished = None;
    assert_eq!(kinds(&record), ["unfinished"]);
}

#[test]
fn a_stopwatch_that_is_under_test_is_said() {
    let with = |factor: &str, stopwatch: &str| {
        let mut record = record(bench(factor), |_, _, _| 0.0);
        for attempt in &mut record.attempts {
            if let Some(times) = &mut attempt.result.times {
                times.stopwatch = stopwatch.to_owned();
            }
        }
        kinds(&record)
    };
    for factor in [
        "clocksource",
        "hz",
        "cmdline:nohz",
        "sysfs:/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "sysctl:kern.timecounter.hardware",
    ] {
        assert_eq!(
            with(factor, "monotonic-raw"),
            ["stopwatch-under-test"],
            "{factor}"
        );
        assert_eq!(with(factor, "tsc"), [""; 0]);
    }
    assert_eq!(with("turbo", "monotonic-raw"), [""; 0]);
}

#[test]
fn a_suspended_machine_is_said() {
    let mut record = record(bench("turbo"), |_, _, _| 0.0);
    if let Some(times) = &mut record.attempts[3].result.times {
        times.boottime = times.monotonic + Duration::from_secs(60);
    }
    assert_eq!(kinds(&record), ["suspended"]);
}

#[test]
fn what_is_peculiar_to_the_machine_is_said() {
    let mut record = record(bench("turbo"), |_, _, _| 0.0);
    record.machine.laid_out = true;
    record.machine.virtualization = Some("kvm".to_owned());
    record.machine.other_owners = vec!["tuned".to_owned(), "thermald".to_owned()];
    assert_eq!(
        kinds(&record),
        ["laid-out-tree", "virtual-machine", "other-owners"]
    );
}
