//! Records as sources: their treatments, their limits, and when they ran.

use knobstat_analysis::Verdict;
use knobstat_analysis::samples::read::{ReadError, series_of_record};
use knobstat_analysis::samples::{Origin, Question, Source, arrange, compare};
use knobstat_data::observation::Limit;
use knobstat_data::words::UnixTime;
use knobstat_data::{Better, Record};

use super::kinds;
use crate::support::{Bench, KNOB, limited, texts, throughput, turbo_boost, yielded};

fn source(name: &str, record: &Record) -> Source {
    Source {
        name: name.to_owned(),
        series: series_of_record(record, None).unwrap(),
        origin: Some(Origin::of(record)),
    }
}

fn throughputs(offset: f64, limit: Option<Limit>) -> Record {
    let levels = texts(&["tsc", "hpet"]);
    let bench = Bench::new("clocks", &[("clocksource", KNOB, &levels)], throughput()).blocks(6);
    let mut place = 0;
    bench.record(|_, _| {
        place += 1;
        let value = 500.0 + offset + f64::from(place * 37 % 11) / 7.0;
        Some(limited(&throughput(), value, limit))
    })
}

#[test]
fn treatments_are_matched_by_their_levels() {
    let (old, mut new) = (throughputs(0.0, None), throughputs(50.0, None));
    new.started = UnixTime(1_700_000_000_000);
    new.machine.id = "another".to_owned();
    let sources = vec![source("old", &old), source("new", &new)];
    let findings = compare(arrange(sources, None, None).unwrap(), Question::default());
    assert_eq!(findings.groups.len(), 2);
    assert_eq!(findings.groups[0].at, "clocksource=tsc");
    assert_eq!(findings.groups[0].better, Some(Better::Higher));
    for comparison in findings.comparisons() {
        assert_eq!(
            comparison.judged.better,
            Some(true),
            "{}",
            comparison.judged.sentence
        );
    }
    let first = findings.comparisons().next().unwrap();
    let start = "At clocksource=tsc, new is better than old: throughput is ";
    assert!(
        first.judged.sentence.starts_with(start),
        "{}",
        first.judged.sentence
    );
    let kinds = kinds(&findings);
    assert!(
        kinds.contains(&"time-between") && kinds.contains(&"other-machine"),
        "{kinds:?}"
    );
    let caveat = findings
        .caveats
        .iter()
        .find(|caveat| caveat.kind == "time-between");
    assert!(
        caveat.unwrap().sentence.contains("new ran 2023-11-14T"),
        "{caveat:?}"
    );
}

#[test]
fn what_the_link_held_down_gets_no_verdict() {
    let (old, new) = (
        throughputs(0.0, Some(Limit::Link)),
        throughputs(50.0, Some(Limit::Link)),
    );
    let sources = vec![source("old", &old), source("new", &new)];
    let findings = compare(arrange(sources, None, None).unwrap(), Question::default());
    for comparison in findings.comparisons() {
        assert_eq!(comparison.judged.verdict, Verdict::Undecided);
        assert!(
            comparison
                .judged
                .sentence
                .contains("both limited by the link")
        );
    }
}

#[test]
fn one_record_is_referred_to_its_report() {
    let record = turbo_boost();
    let arranged = arrange(vec![source("turbo", &record)], None, None).unwrap();
    assert_eq!(arranged.groups[0].sets.len(), 6);
    let findings = compare(arranged, Question::default());
    assert!(kinds(&findings).contains(&"one-experiment"));
}

#[test]
fn failed_runs_leave_gaps_that_are_counted() {
    let levels = texts(&["tsc", "hpet"]);
    let bench = Bench::new("clocks", &[("clocksource", KNOB, &levels)], throughput()).blocks(4);
    let record = bench.record(|treatment, block| {
        let fails = block == 2 && treatment.to_string().ends_with("hpet");
        (!fails).then(|| yielded(&throughput(), 500.0 + block as f64))
    });
    let series = series_of_record(&record, None).unwrap();
    let places: Vec<usize> = series.iter().map(|series| series.passed_over).collect();
    assert_eq!(places, [0, 1]);
    assert!(matches!(
        series_of_record(&record, Some("latency")),
        Err(ReadError::NoMetric { .. })
    ));
}
