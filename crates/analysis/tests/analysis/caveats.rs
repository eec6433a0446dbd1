//! Each caveat speaks where it should, and not where nothing is wrong.

use std::time::Duration;

use knobstat_analysis::analyse;
use knobstat_data::experiment::{Accelerator, GuestTime, Order};
use knobstat_data::machine::GuestMachine;
use knobstat_data::observation::{BOOT_NOTE, Failure, Outcome};
use knobstat_data::{Evidence, Priority, Record, Unit, Value};
use knobstat_stats::random::Generator;

use crate::support::{Bench, KNOB, numbers, texts, wall, yielded};

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
            .all(|found| found.judged.better.is_none())
    );
}

#[test]
fn a_jump_is_told_from_a_drift_and_its_place_is_named() {
    let record = record(
        bench("turbo"),
        |place, _, _| {
            if place < 30 { 0.0 } else { 10.0 }
        },
    );
    assert_eq!(kinds(&record)[0], "jump");
    let sentence = &analyse(&record).caveats[0].sentence;
    assert!(
        sentence.starts_with("From run 31 on wall was about "),
        "{sentence}"
    );
}

#[test]
fn a_beginning_that_is_not_warm_is_seen() {
    let record = record(
        bench("turbo"),
        |place, _, _| {
            if place < 5 { 12.0 } else { 0.0 }
        },
    );
    assert!(
        kinds(&record).contains(&"not-warm"),
        "{:?}",
        analyse(&record).caveats
    );
    let caveats = analyse(&record).caveats;
    let found = caveats.iter().find(|caveat| caveat.kind == "not-warm");
    let sentence = &found.unwrap().sentence;
    assert!(
        sentence.starts_with("The first 5 runs have wall about"),
        "{sentence}"
    );
}

#[test]
fn neighbours_that_resemble_each_other_are_seen() {
    let mut random = Generator::from_seed(5);
    let mut state = 0.0;
    let record = record(bench("turbo").blocks(30), |_, _, _| {
        state = 0.8 * state + 2.0 * random.normal();
        state
    });
    let found = kinds(&record);
    assert!(
        found.contains(&"neighbours-alike") || found.contains(&"drift") || found.contains(&"jump"),
        "{found:?}"
    );
    let alternating =
        |place: usize, _: &str, _: &str| if place.is_multiple_of(2) { 4.0 } else { -4.0 };
    let record = self::record(bench("turbo"), alternating);
    assert!(kinds(&record).contains(&"neighbours-alike"));
    let caveats = analyse(&record).caveats;
    let found = caveats
        .iter()
        .find(|caveat| caveat.kind == "neighbours-alike");
    assert!(
        found
            .unwrap()
            .sentence
            .contains("correlation with the next -0.")
    );
}

#[test]
fn too_few_blocks_are_said() {
    let two = record(bench("turbo").blocks(2), |_, _, _| 0.0);
    assert!(kinds(&two).contains(&"few-blocks"));
}

#[test]
fn a_difference_finer_than_the_scale_is_said() {
    // Whole seconds, read so often that an average tells less than a second.
    let bench = Bench::new("coarse", &[("turbo", KNOB, &texts(&["a", "b"]))], wall());
    let mut random = Generator::from_seed(3);
    let record = bench.blocks(200).record(|treatment, _| {
        let effect = if treatment.to_string() == "turbo=b" {
            0.6
        } else {
            0.0
        };
        let value = (100.0 + effect + 1.2 * random.normal()).floor();
        Some(yielded(&wall(), value))
    });
    assert!(kinds(&record).contains(&"finer-than-scale"));
}

#[test]
fn in_health_the_checks_of_the_course_hardly_ever_speak() {
    let course = ["not-warm", "drift", "jump", "neighbours-alike"];
    let alarms = (0..200)
        .filter(|seed| {
            let mut random = Generator::from_seed(1000 + seed);
            let mut bench = bench("turbo");
            bench.seed = *seed;
            let record = bench.record(|_, _| Some(yielded(&wall(), 100.0 + random.normal())));
            kinds(&record).iter().any(|kind| course.contains(kind))
        })
        .count();
    // Four checks at 1 in 100, and three standard errors.
    println!("{alarms} of 200");
    assert!(alarms <= 16, "{alarms} of 200");
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
fn two_states_of_many_treatments_are_said_once() {
    let sentences = |treatments: i64| -> Vec<String> {
        let levels = numbers(&(1..=treatments).collect::<Vec<i64>>());
        let bench = Bench::new("states", &[("turbo", KNOB, &levels)], wall()).blocks(12);
        let record = bench.record(|_, block| {
            let state = if block % 2 == 0 { 10.0 } else { 20.0 };
            Some(yielded(&wall(), state + block as f64 / 64.0))
        });
        let caveats = analyse(&record).caveats.into_iter();
        caveats
            .filter(|caveat| caveat.kind == "two-clusters")
            .map(|caveat| caveat.sentence)
            .collect()
    };
    assert_eq!(sentences(4).len(), 4);
    let of_many = sentences(20);
    assert_eq!(of_many.len(), 1, "{of_many:?}");
    assert!(of_many[0].contains("turbo=1, turbo=2"), "{of_many:?}");
    assert!(of_many[0].contains("and 14 others fall into two clusters each"));
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

#[test]
fn a_brake_on_real_time_tasks_is_said_where_they_may_feel_it() {
    let with = |priority: Option<Priority>, percent: Option<u8>, kind: &str| {
        let mut record = record(bench("turbo"), |_, _, _| 0.0);
        record.machine.real_time_percent = percent;
        let workload = &mut record.experiment.workload;
        workload.kind = kind.to_owned();
        if let Some(priority) = priority {
            let value = Value::Priority(priority);
            workload.parameters.insert("priority".to_owned(), value);
        }
        kinds(&record)
    };
    let fifo = Some(Priority::Fifo(50));
    assert_eq!(with(fifo, Some(95), "command"), ["real-time-limit"]);
    assert_eq!(with(fifo, None, "command"), [""; 0]);
    assert_eq!(with(fifo, Some(95), "timer"), [""; 0]);
    assert_eq!(with(Some(Priority::Nice(5)), Some(95), "noise"), [""; 0]);
    assert_eq!(with(None, Some(95), "command"), [""; 0]);
    let bench = Bench::new(
        "caveats",
        &[("priority", KNOB, &texts(&["nice:0", "fifo:1"]))],
        wall(),
    )
    .blocks(12);
    let mut record = record(bench, |_, _, _| 0.0);
    record.machine.real_time_percent = Some(95);
    assert_eq!(kinds(&record), ["real-time-limit"]);
}

#[test]
fn what_a_guest_can_show_is_said() {
    let mut record = record(bench("turbo"), |_, _, _| 0.0);
    record.machine.virtualization = Some("qemu".to_owned());
    for (time, accelerator, expected) in [
        (GuestTime::Virtual, Accelerator::Tcg, "virtual-time"),
        (GuestTime::Wall, Accelerator::Tcg, "emulated-guest"),
        (GuestTime::Wall, Accelerator::Kvm, "virtual-machine"),
    ] {
        record.machine.guest = Some(GuestMachine { time, accelerator });
        assert_eq!(kinds(&record), [expected]);
    }
    record.machine.guest = Some(GuestMachine {
        time: GuestTime::Virtual,
        accelerator: Accelerator::Tcg,
    });
    record.machine.stopwatch =
        Some("tsc read directly, whose constant rate the host vouches for".to_owned());
    assert_eq!(kinds(&record), ["virtual-time", "vouched-stopwatch"]);
}

#[test]
fn boots_that_failed_are_said_with_the_last_reason() {
    let mut record = record(bench("turbo"), |_, _, _| 0.0);
    record.attempts[0].result.notes = vec![format!("{BOOT_NOTE}attempt 1 of 3 failed: it hung")];
    assert_eq!(kinds(&record), ["failed-boots"]);
    record.attempts[1].result.outcome = Outcome::Failed(Failure::Boot {
        reason: "the last line was GRUB".to_owned(),
    });
    let analysis = analyse(&record);
    let sentence = &analysis
        .caveats
        .iter()
        .find(|caveat| caveat.kind == "failed-boots")
        .unwrap()
        .sentence;
    assert!(
        sentence.contains("once; 1 run had no boot") && sentence.contains("GRUB"),
        "{sentence}"
    );
}

#[test]
fn a_level_without_its_effect_is_said_and_the_figures_are_told() {
    let evidence = |key: &str, scope: &str, value: Result<f64, &str>| Evidence {
        key: key.to_owned(),
        scope: scope.to_owned(),
        unit: Unit::new("ns"),
        value: value.map_err(str::to_owned),
    };
    let mut record = record(bench("turbo"), |_, _, _| 0.0);
    let seen = [
        evidence("effect.time_per_clock_reading", "clocksource=tsc", Ok(31.2)),
        evidence(
            "effect.time_per_clock_reading",
            "clocksource=hpet",
            Ok(31.4),
        ),
        evidence("effect_absent", "clocksource=hpet", Err("too quick")),
        evidence("effect", "turbo=on", Err("aperf cannot be counted here")),
    ];
    // It was looked at twice: the experiment was interrupted and went on.
    for attempt in [0, 5] {
        record.attempts[attempt]
            .result
            .evidence
            .extend(seen.clone());
    }
    assert_eq!(kinds(&record), ["effect-absent", "effect-checks"]);
    let caveats = analyse(&record).caveats;
    assert_eq!(
        caveats[0].sentence,
        "clocksource=hpet reads as set, but its effect was not seen: too quick."
    );
    assert!(
        caveats[1].sentence.ends_with(
            "time per clock reading at clocksource=tsc: 31.2 ns and time per clock reading at \
             clocksource=hpet: 31.4 ns."
        ),
        "{}",
        caveats[1].sentence
    );
}
