//! How often the default design and analysis call something different, or equivalent, that is
//! not, in the situations in which the usual t test goes wrong.
//!
//! Each rate is at most 5.5 %. So many experiments as a test has time for show a rate to within
//! three standard errors of that; the seeds are fixed.

use knobstat_analysis::{Verdict, analyse, stop};
use knobstat_data::experiment::{FactorKind, Stop};
use knobstat_data::{Ratio, Record};
use knobstat_stats::comparisons::holm;
use knobstat_stats::random::Generator;
use knobstat_stats::tests::paired::{differences, paired_t};

use crate::support::{Bench, KNOB, numbers, texts, wall, yielded};

/// So many experiments a row; with KNOBSTAT_LONG=1 in the environment twenty times as many.
fn experiments() -> u32 {
    if std::env::var_os("KNOBSTAT_LONG").is_some() {
        5000
    } else {
        250
    }
}

/// 5.5 % and three standard errors of a rate of 5.5 % among the experiments.
fn most_allowed() -> u32 {
    most_allowed_of(experiments())
}

fn most_allowed_of(experiments: u32) -> u32 {
    let expected = 0.055 * f64::from(experiments);
    (expected + 3.0 * (expected * 0.945).sqrt()) as u32
}

/// How many of the experiments have a verdict of this kind.
fn with_verdict(verdict: Verdict, experiment: impl Fn(u64) -> Record) -> u32 {
    (0..experiments())
        .map(|seed| analyse(&experiment(u64::from(seed))))
        .filter(|analysis| {
            let mut comparisons = analysis.comparisons.iter();
            comparisons.any(|comparison| comparison.judged.verdict == verdict)
        })
        .count() as u32
}

/// The layout of 2010: five treatments against one, eight blocks, in the random order of the
/// seed; the value of the run at each place in the order of execution.
fn five_against_one(seed: u64, value: impl FnMut(usize, &str) -> f64) -> Record {
    against_one(8, seed, value)
}

/// The same in so many blocks.
fn against_one(blocks: u32, seed: u64, mut value: impl FnMut(usize, &str) -> f64) -> Record {
    let levels = texts(&["a", "b", "c", "d", "e", "f"]);
    let mut bench = Bench::new("null", &[("knob", KNOB, &levels)], wall()).blocks(blocks);
    bench.seed = seed;
    let mut place = 0;
    bench.record(|treatment, _| {
        place += 1;
        Some(yielded(&wall(), value(place - 1, &treatment.to_string())))
    })
}

#[test]
fn five_comparisons_of_independent_runs() {
    let alarms = with_verdict(Verdict::Different, |seed| {
        let mut random = Generator::from_seed(seed);
        five_against_one(seed, |_, _| 100.0 + random.normal())
    });
    assert!(alarms <= most_allowed(), "{alarms} of {}", experiments());
}

#[test]
fn runs_that_resemble_their_neighbours() {
    let alarms = with_verdict(Verdict::Different, |seed| {
        let mut random = Generator::from_seed(seed);
        let mut state = 0.0;
        five_against_one(seed, |_, _| {
            state = 0.8 * state + random.normal();
            100.0 + state
        })
    });
    assert!(alarms <= most_allowed(), "{alarms} of {}", experiments());
}

#[test]
fn drift_and_an_interference_of_period_two() {
    let alarms = with_verdict(Verdict::Different, |seed| {
        let mut random = Generator::from_seed(seed);
        five_against_one(seed, |place, _| {
            let interference = if place % 2 == 0 { 1.0 } else { -1.0 };
            100.0 + 0.05 * place as f64 + interference + random.normal()
        })
    });
    assert!(alarms <= most_allowed(), "{alarms} of {}", experiments());
}

/// The error pooled over all treatments is used where its assumptions pass their checks. The checks
/// overlook much with few blocks, so the rate is shown where treatments vary unlike each other.
#[test]
fn treatments_that_vary_unlike_each_other() {
    for (blocks, wild, sd) in [(5, "a", 2.0), (5, "a", 4.0), (5, "b", 4.0), (8, "b", 4.0)] {
        let wild = format!("knob={wild}");
        let alarms = with_verdict(Verdict::Different, |seed| {
            let mut random = Generator::from_seed(seed);
            against_one(blocks, seed, |_, treatment| {
                let sd = if treatment == wild { sd } else { 1.0 };
                100.0 + sd * random.normal()
            })
        });
        println!(
            "{blocks} blocks, sd {sd} at {wild}, 1 elsewhere: {alarms} of {}",
            experiments()
        );
        assert!(alarms <= most_allowed(), "{alarms} of {}", experiments());
    }
}

/// What the pooled error is good for: the same experiments with it and without.
#[test]
fn a_pooled_error_finds_more() {
    let (mut pooled, mut own) = (0, 0);
    for seed in 0..experiments() {
        let mut random = Generator::from_seed(u64::from(seed));
        let record = against_one(5, u64::from(seed), |_, treatment| {
            let effect = if treatment == "knob=f" { 2.5 } else { 0.0 };
            100.0 + effect + random.normal()
        });
        let of = |comparison: &knobstat_analysis::Comparison| {
            comparison.judged.verdict == Verdict::Different
                && comparison.levels.to_string() == "knob=f"
        };
        pooled += u32::from(analyse(&record).comparisons.iter().any(of));
        own += u32::from(own_errors(&record));
    }
    println!(
        "an effect of 2.5 sd in 5 blocks: found {pooled} times with a pooled error, {own} without, of {}",
        experiments()
    );
    assert!(pooled > own, "{pooled} {own}");
}

/// Whether the last treatment differs by Holm's correction on the plain paired tests.
fn own_errors(record: &Record) -> bool {
    let analysis = analyse(record);
    let values = |place: usize| -> Vec<f64> {
        let seen = &analysis.treatments[place].metrics[0].observations;
        seen.iter().map(|observed| observed.value).collect()
    };
    let p: Vec<f64> = (1..6)
        .map(|place| {
            let differences = differences(&values(place), &values(0)).unwrap();
            paired_t(&differences).unwrap().p
        })
        .collect();
    holm(&p)[4] <= 0.05
}

#[test]
fn a_wrong_best_is_hardly_ever_named() {
    let wrong = (0..experiments())
        .filter(|seed| {
            let mut random = Generator::from_seed(u64::from(*seed));
            let record = five_against_one(u64::from(*seed), |_, _| 100.0 + random.normal());
            let choices = analyse(&record).recommendation.choices;
            choices.iter().any(|choice| choice.best.is_some())
        })
        .count() as u32;
    assert!(wrong <= most_allowed(), "{wrong} of {}", experiments());
}

/// Three treatments, the worst of which is a margin away from the others.
#[test]
fn any_will_do_where_one_does_not() {
    let said = |spread: f64, worst: f64| {
        let experiments = (0..experiments()).filter(|seed| {
            let mut random = Generator::from_seed(u64::from(*seed));
            let mut bench = Bench::new("null", &[("knob", KNOB, &texts(&["a", "b", "c"]))], wall());
            bench.seed = u64::from(*seed);
            bench.experiment.analysis.margin = Some(Ratio(0.02));
            let record = bench.record(|treatment, _| {
                let is_worst = treatment.level("knob")?.to_string() == "c";
                let mean = if is_worst { worst } else { 100.0 };
                Some(yielded(&wall(), mean + spread * random.normal()))
            });
            let sentence = analyse(&record).recommendation.sentence;
            sentence.contains("will do")
        });
        experiments.count() as u32
    };
    let wrong = said(0.3, 102.0);
    assert!(wrong <= most_allowed(), "{wrong} of {}", experiments());
    // And it is said where it is so.
    let right = said(0.1, 100.1);
    assert!(right > experiments() / 2, "{right} of {}", experiments());
}

#[test]
fn interactions_that_are_not_there() {
    let alarms = (0..experiments())
        .filter(|seed| {
            let mut random = Generator::from_seed(u64::from(*seed));
            let mut bench = Bench::new(
                "null",
                &[
                    ("knob", KNOB, &texts(&["a", "b", "c"])),
                    ("size", FactorKind::Parameter, &numbers(&[1, 2])),
                ],
                wall(),
            );
            bench.seed = u64::from(*seed);
            let record = bench.record(|_, _| Some(yielded(&wall(), 100.0 + random.normal())));
            analyse(&record).effects.iter().any(|effect| effect.found)
        })
        .count() as u32;
    assert!(alarms <= most_allowed(), "{alarms} of {}", experiments());
}

#[test]
fn a_look_after_every_block() {
    // A look costs as much as an analysis, and there are many: fewer experiments.
    let followed = experiments() / 2;
    let alarms = (0..followed)
        .filter(|seed| {
            let mut random = Generator::from_seed(u64::from(*seed));
            let mut bench = Bench::new("null", &[("knob", KNOB, &texts(&["a", "b"]))], wall());
            bench.seed = u64::from(*seed);
            bench.experiment.design.stop = Some(Stop {
                half_width: None,
                margin: Some(Ratio(0.0001)),
                min_replicates: 3,
                max_replicates: 20,
            });
            let record = bench
                .blocks(20)
                .record(|_, _| Some(yielded(&wall(), 100.0 + random.normal())));
            // Two runs a block: stopped at the first look that finds enough.
            (3..=20).any(|blocks| {
                stop::enough(
                    &record.experiment,
                    &record.plan,
                    &record.attempts[..2 * blocks],
                )
            })
        })
        .count() as u32;
    assert!(
        alarms <= most_allowed_of(followed),
        "{alarms} of {followed}"
    );
}

#[test]
fn an_effect_below_the_tick_of_a_coarse_clock_is_not_equivalence() {
    let wrong = with_verdict(Verdict::Equivalent, |seed| {
        let mut random = Generator::from_seed(seed);
        let mut bench = Bench::new("tick", &[("knob", KNOB, &texts(&["a", "b"]))], wall());
        bench.seed = seed;
        // The margin is 0.2 ticks, the effect 0.3, the spread 0.05; the clock tells whole ticks.
        bench.experiment.analysis.margin = Some(Ratio(0.02));
        bench.blocks(20).record(|treatment, _| {
            let effect = if treatment.to_string() == "knob=b" {
                0.3
            } else {
                0.0
            };
            let mut result = yielded(&wall(), (10.2 + effect + 0.05 * random.normal()).floor());
            result.metrics[0].granularity = Some(1.0);
            Some(result)
        })
    });
    assert!(wrong <= most_allowed(), "{wrong} of {}", experiments());
}

#[test]
fn an_effect_of_some_size_is_found() {
    let found = with_verdict(Verdict::Different, |seed| {
        let mut random = Generator::from_seed(seed);
        five_against_one(seed, |_, treatment| {
            let effect = if treatment == "knob=f" { 3.5 } else { 0.0 };
            100.0 + effect + random.normal()
        })
    });
    assert!(f64::from(found) > 0.8 * f64::from(experiments()), "{found}");
}
