//! Records that have little to say: each has an answer in words.

use crate::support::{Bench, KNOB, attempt, texts, throughput, wall, yielded};
use knobstat_analysis::{Analysis, Verdict, analyse};
use knobstat_data::experiment::FactorKind;
use knobstat_data::observation::{Failure, RunResult, Taint};
use knobstat_data::{Outcome, Ratio, Record, Treatment};

fn two_levels() -> Bench {
    Bench::new("two", &[("turbo", KNOB, &texts(&["on", "off"]))], wall())
}

/// A record whose values are given for "on" and for "off", block by block.
fn record(bench: Bench, on: &[f64], off: &[f64]) -> Record {
    let blocks = on.len().max(off.len());
    bench
        .blocks(u32::try_from(blocks).unwrap())
        .record(|treatment, block| {
            let values = if is_on(treatment) { on } else { off };
            values.get(block).map(|value| yielded(&wall(), *value))
        })
}

fn is_on(treatment: &Treatment) -> bool {
    treatment.to_string() == "turbo=on"
}

/// The sentence of the only comparison, which is undecided and has no number that is not finite.
fn undecided(record: &Record) -> (Analysis, String) {
    let analysis = analyse(record);
    let [only] = analysis.comparisons.as_slice() else {
        panic!("one comparison: {:?}", analysis.comparisons)
    };
    assert_eq!(
        only.judged.verdict,
        Verdict::Undecided,
        "{}",
        only.judged.sentence
    );
    let numbers = [
        only.judged.difference,
        only.judged.percent,
        only.judged.p,
        only.judged.p_adjusted,
    ];
    assert!(numbers.iter().flatten().all(|number| number.is_finite()));
    assert!(
        analysis
            .recommendation
            .choices
            .iter()
            .all(|choice| choice.best.is_none())
    );
    let sentence = only.judged.sentence.clone();
    (analysis, sentence)
}

#[test]
fn nothing_measured() {
    let (analysis, sentence) = undecided(&record(two_levels(), &[], &[]));
    assert!(
        sentence.contains("neither") || sentence.contains("Neither"),
        "{sentence}"
    );
    assert_eq!(analysis.blocks, 0);
    let metric = &analysis.treatments[0].metrics[0];
    assert_eq!(
        (metric.summary, metric.note.as_deref()),
        (None, Some("no value"))
    );
}

#[test]
fn one_side_only() {
    let (analysis, sentence) = undecided(&record(two_levels(), &[1.0, 1.1], &[]));
    assert!(sentence.contains("turbo=off has no value"), "{sentence}");
    let recommended = &analysis.recommendation.sentence;
    assert!(
        recommended.contains("nothing was measured of turbo=off"),
        "{recommended}"
    );
}

#[test]
fn one_block() {
    let (analysis, sentence) = undecided(&record(two_levels(), &[1.0], &[1.5]));
    assert!(sentence.contains("one block in common"), "{sentence}");
    assert_eq!(analysis.comparisons[0].judged.difference, Some(0.5));
    assert_eq!(analysis.comparisons[0].judged.more, Some(1));
}

#[test]
fn no_block_in_common() {
    let record = two_levels().blocks(4).record(|treatment, block| {
        (is_on(treatment) == (block < 2)).then(|| yielded(&wall(), 1.0 + block as f64))
    });
    let (_, sentence) = undecided(&record);
    assert!(sentence.contains("no block in common"), "{sentence}");
}

#[test]
fn constants_that_are_equal() {
    let (_, sentence) = undecided(&record(two_levels(), &[2.0; 6], &[2.0; 6]));
    assert!(
        sentence.contains("Nothing finer than the step of the scale"),
        "{sentence}"
    );
    let (_, sentence) = undecided(&record(two_levels(), &[0.0; 6], &[0.0; 6]));
    assert!(
        sentence.contains("no step of the scale is known"),
        "{sentence}"
    );
}

#[test]
fn constants_one_step_apart() {
    let (_, sentence) = undecided(&record(two_levels(), &[2.0; 6], &[3.0; 6]));
    assert!(
        sentence.contains("Nothing finer than the step of the scale"),
        "{sentence}"
    );
}

#[test]
fn constants_far_apart_differ() {
    let analysis = analyse(&record(two_levels(), &[200.0; 6], &[301.0; 6]));
    assert_eq!(analysis.comparisons[0].judged.verdict, Verdict::Different);
    assert!(analysis.comparisons[0].judged.p.unwrap() > 0.0);
}

#[test]
fn a_baseline_about_zero_has_no_percent() {
    let analysis = analyse(&record(
        two_levels(),
        &[-1.5, 1.25, 0.25],
        &[1000.5, 1001.25, 1003.0],
    ));
    let only = &analysis.comparisons[0];
    assert_eq!(
        (only.judged.percent, only.judged.percent_interval),
        (None, None)
    );
    assert_eq!(only.judged.verdict, Verdict::Different);
    assert!(
        only.judged.sentence.contains("cannot be told from zero"),
        "{}",
        only.judged.sentence
    );
}

#[test]
fn values_at_the_edge_of_numbers() {
    undecided(&record(two_levels(), &[f64::MAX; 3], &[-f64::MAX; 3]));
    undecided(&record(two_levels(), &[f64::NAN; 3], &[f64::INFINITY; 3]));
    let analysis = analyse(&record(two_levels(), &[5e-324; 3], &[1e-320; 3]));
    assert!(
        analysis.comparisons[0]
            .judged
            .p
            .is_none_or(|p| (0.0..=1.0).contains(&p))
    );
}

#[test]
fn values_that_are_no_numbers_are_counted() {
    let analysis = analyse(&record(
        two_levels(),
        &[1.0, f64::NAN, 1.2],
        &[1.1, 1.3, 1.5],
    ));
    assert!(
        analysis
            .caveats
            .iter()
            .any(|caveat| caveat.kind == "values-missing")
    );
    assert_eq!(analysis.comparisons[0].pairs, 2);
}

#[test]
fn one_treatment_has_nothing_to_be_compared_with() {
    let bench = Bench::new("one", &[("turbo", KNOB, &texts(&["on"]))], wall());
    let analysis = analyse(&bench.record(|_, _| Some(yielded(&wall(), 1.0))));
    assert!(analysis.comparisons.is_empty());
    assert!(analysis.recommendation.sentence.contains("no choice"));
}

#[test]
fn no_treatment_at_all() {
    let mut record = record(two_levels(), &[], &[]);
    for planned in &mut record.plan.treatments {
        planned.omitted = Some("not here".to_owned());
    }
    let analysis = analyse(&record);
    assert!(analysis.treatments.is_empty() && analysis.comparisons.is_empty());
    assert!(
        analysis
            .recommendation
            .sentence
            .contains("no treatment takes part")
    );
}

#[test]
fn failed_and_tainted_runs_are_counted_and_not_judged() {
    let tainted = || {
        Outcome::Tainted(vec![Taint {
            knob: "turbo".to_owned(),
            expected: "off".to_owned(),
            found: "on".to_owned(),
            cause: Some("tuned is running".to_owned()),
        }])
    };
    let record = two_levels().blocks(8).record(|treatment, block| {
        if is_on(treatment) {
            Some(yielded(&wall(), 1.0 + block as f64 / 100.0))
        } else if block < 7 {
            Some(RunResult::bare(tainted()))
        } else {
            Some(RunResult::bare(Outcome::Failed(Failure::ExitCode(1))))
        }
    });
    let (analysis, _) = undecided(&record);
    let kinds: Vec<&str> = analysis.caveats.iter().map(|caveat| caveat.kind).collect();
    for kind in ["failed-runs", "tainted-runs", "unequal-taints"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    let off = &analysis.treatments[1].runs;
    assert_eq!((off.ok, off.tainted, off.failed), (0, 7, 1));
}

#[test]
fn equivalence_needs_a_margin_wider_than_the_error() {
    let on = [10.0, 10.2, 10.1, 10.3, 10.05, 10.15];
    let off = [10.01, 10.19, 10.12, 10.28, 10.06, 10.14];
    let judged = |margin| {
        let mut bench = two_levels();
        bench.experiment.analysis.margin = margin;
        analyse(&record(bench, &on, &off)).comparisons[0].clone()
    };
    assert_eq!(judged(None).judged.verdict, Verdict::Undecided);
    assert!(
        judged(None).judged.sentence.contains("margin"),
        "{}",
        judged(None).judged.sentence
    );
    assert_eq!(
        judged(Some(Ratio(0.01))).judged.verdict,
        Verdict::Equivalent
    );
    assert_eq!(
        judged(Some(Ratio(0.0005))).judged.verdict,
        Verdict::Undecided
    );
}

#[test]
fn a_coarse_clock_shows_no_equivalence_finer_than_its_step() {
    // The readings agree but for rare jumps; the clock behind them ticks in whole seconds.
    let mut bench = two_levels();
    bench.experiment.analysis.margin = Some(Ratio(0.05));
    let record = bench.blocks(20).record(|treatment, block| {
        let jump = if is_on(treatment) && block == 3 {
            1.0
        } else {
            0.0
        };
        let mut result = yielded(&wall(), 10.0 + jump);
        result.metrics[0].granularity = Some(1.0);
        Some(result)
    });
    undecided(&record);
}

#[test]
fn a_metric_timed_by_the_clock_under_test_gets_no_verdict() {
    let judged_under = |factor: &str, trust| {
        let mut metric = throughput();
        metric.self_timed = true;
        let factors: [(&str, FactorKind, &[_]); 1] = [(factor, KNOB, &texts(&["tsc", "hpet"]))];
        let mut bench = Bench::new("self-timed", &factors, metric.clone()).blocks(6);
        bench.experiment.analysis.trust_self_timed = trust;
        analyse(&bench.record(|treatment, block| {
            let tsc = treatment.to_string().ends_with("=tsc");
            let value = if tsc { 100.0 } else { 200.0 } + [0.5, 1.25, 0.0, 2.0, 1.0, 0.75][block];
            Some(yielded(&metric, value))
        }))
    };
    let judged = |trust| judged_under("clocksource", trust);
    for factor in [
        "hz",
        "nohz",
        "idletick",
        "cmdline:notsc",
        "sysctl:kern.timecounter.hardware",
    ] {
        let found = judged_under(factor, false);
        assert_eq!(
            found.comparisons[0].judged.verdict,
            Verdict::Undecided,
            "{factor}"
        );
    }
    // It has nothing to do with time.
    let found = judged_under("turbo", false);
    assert_eq!(found.comparisons[0].judged.verdict, Verdict::Different);
    let found = judged(false);
    let only = &found.comparisons[0];
    assert_eq!(
        (only.judged.verdict, only.judged.p),
        (Verdict::Undecided, None)
    );
    assert!(
        only.judged.sentence.contains("trust_self_timed"),
        "{}",
        only.judged.sentence
    );
    assert!(found.recommendation.choices.is_empty());
    // 100 against 200 and hardly any spread, but the same clock for both: not so sure.
    assert_eq!(
        judged(true).comparisons[0].judged.verdict,
        Verdict::Different
    );
}

#[test]
fn a_missing_combination_leaves_the_main_effects() {
    let bench = Bench::new(
        "missing",
        &[
            ("turbo", KNOB, &texts(&["on", "off"])),
            ("smt", KNOB, &texts(&["on", "off"])),
        ],
        wall(),
    );
    let noise = [0.01, 0.03, 0.0, 0.02, 0.05, 0.02, 0.04, 0.01, 0.03];
    let mut record = bench.record(|_, _| None);
    record.plan.treatments[3].omitted = Some("excluded".to_owned());
    let plan = record.plan.clone();
    record.attempts = plan
        .runs()
        .enumerate()
        .map(|(place, run)| {
            let slower = if run.treatment < 2 { 0.0 } else { 1.0 };
            attempt(&run, place, yielded(&wall(), 1.0 + slower + noise[place]))
        })
        .collect();
    let analysis = analyse(&record);
    let found: Vec<(&str, bool)> = analysis
        .effects
        .iter()
        .map(|effect| (effect.factors[0].as_str(), effect.found))
        .collect();
    assert_eq!(found, [("turbo", true), ("smt", false)]);
    let mut caveats = analysis.caveats.iter();
    let untested = caveats
        .find(|caveat| caveat.kind == "effects-untested")
        .unwrap();
    assert!(
        untested.sentence.starts_with("Interactions are not tested"),
        "{untested:?}"
    );
}
