//! What is said of the stopwatch and of the kernel's clocks, from the evidence of the runs.

use knobstat_analysis::{Caveat, analyse};
use knobstat_data::{Evidence, Record, Unit};

use crate::support::{Bench, KNOB, texts, wall, yielded};

fn evidence(key: &str, scope: &str, value: Result<f64, &str>) -> Evidence {
    Evidence {
        key: key.to_owned(),
        scope: scope.to_owned(),
        unit: Unit::SECONDS,
        value: value.map_err(str::to_owned),
    }
}

/// Runs of three seconds under two levels, with evidence by level.
fn record(factor: &str, of: impl Fn(&str) -> Vec<Evidence>) -> Record {
    let levels = texts(&["tsc", "jiffies"]);
    Bench::new("clocks", &[(factor, KNOB, &levels)], wall())
        .blocks(6)
        .record(|treatment, block| {
            let level = treatment.level(factor)?.to_string();
            let mut result = yielded(&wall(), 3.0 + block as f64 / 1e3);
            result.evidence = of(&level);
            Some(result)
        })
}

fn caveat(record: &Record, kind: &str) -> Option<String> {
    analyse(record)
        .caveats
        .into_iter()
        .find(|caveat: &Caveat| caveat.kind == kind)
        .map(|caveat| caveat.sentence)
}

fn steps(level: &str) -> Vec<Evidence> {
    let step = if level == "jiffies" { 0.004 } else { 1e-9 };
    vec![evidence("clock.step", "machine", Ok(step))]
}

#[test]
fn where_the_clock_varies_its_step_is_said_for_every_level() {
    let said = caveat(&record("clocksource", steps), "clock-steps").unwrap();
    for part in [
        "timed by tsc",
        "4 ms with clocksource=jiffies",
        "1 ns with clocksource=tsc",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(caveat(&record("turbo", steps), "clock-steps"), None);
    let still = |_: &str| vec![evidence("clock.step", "machine", Err("it stands still"))];
    let said = caveat(&record("clocksource", still), "clock-steps").unwrap();
    assert!(said.contains("stood still"), "{said}");
}

#[test]
fn a_step_that_two_factors_decide_is_said_for_both() {
    let (sources, rates) = (texts(&["tsc", "hpet", "jiffies"]), texts(&["250", "1000"]));
    let factors: [(&str, _, &[_]); 2] = [("hz", KNOB, &rates), ("clocksource", KNOB, &sources)];
    let record = Bench::new("clocks", &factors, wall())
        .blocks(2)
        .record(|treatment, block| {
            let level = |factor| treatment.level(factor).unwrap().to_string();
            let step = match (level("clocksource").as_str(), level("hz").as_str()) {
                ("tsc", _) => 1e-9,
                // A little more or less is the same step.
                ("hpet", "250") => 280e-9,
                ("hpet", _) => 300e-9,
                (_, hz) => 1.0 / hz.parse::<f64>().unwrap(),
            };
            let mut result = yielded(&wall(), 3.0 + block as f64 / 1e3);
            result.evidence = vec![evidence("clock.step", "machine", Ok(step))];
            Some(result)
        });
    let said = caveat(&record, "clock-steps").unwrap();
    for part in [
        "300 ns with clocksource=hpet",
        "1 ns with clocksource=tsc",
        "4 ms with hz=250 and clocksource=jiffies",
        "1 ms with hz=1000 and clocksource=jiffies",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

fn ahead(seconds: f64) -> Vec<Evidence> {
    vec![
        evidence("clock.ahead_of_stopwatch", "monotonic_raw", Ok(seconds)),
        evidence("clock.agrees_within", "monotonic_raw", Ok(30e-6)),
    ]
}

#[test]
fn clocks_that_agree_within_what_both_may_be_off_are_no_finding() {
    for seconds in [29e-6, -29e-6] {
        let record = record("clocksource", |_| ahead(seconds));
        assert_eq!(caveat(&record, "clocks-disagree"), None);
        assert_eq!(caveat(&record, "clock-stood-still"), None);
    }
}

#[test]
fn a_clock_that_goes_at_another_rate_is_said_with_its_level() {
    let record = record("clocksource", |level| {
        ahead(if level == "jiffies" { -600e-6 } else { 0.0 })
    });
    let said = caveat(&record, "clocks-disagree").unwrap();
    // 600 us of 3 s.
    for part in ["6 runs", "clocksource=jiffies", "200 ppm", "slower"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!said.contains("tsc"), "{said}");
}

#[test]
fn a_clock_that_stood_still_is_said() {
    let record = record("clocksource", |_| ahead(-2.9));
    let said = caveat(&record, "clock-stood-still").unwrap();
    assert!(
        said.contains("CLOCK_MONOTONIC_RAW stood still for most of 12 runs;"),
        "{said}"
    );
}
