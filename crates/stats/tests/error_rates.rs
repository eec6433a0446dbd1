//! The error rates that the default design and analysis keep, in short: 300 experiments a
//! situation from fixed seeds, or with `KNOBSTAT_LONG=1` the 20,000 of the example `error-rates`.

#[path = "../examples/error-rates/simulation.rs"]
mod simulation;

use knobstat_stats::Confidence;
use knobstat_stats::random::Generator;
use knobstat_stats::sequential::{MixtureScale, Monitor};

fn experiments(short: usize, long: usize) -> usize {
    if std::env::var_os("KNOBSTAT_LONG").is_some() {
        long
    } else {
        short
    }
}

/// What a share of at most `limit` may reach by chance: three standard errors more.
fn at_most(limit: f64, experiments: usize) -> f64 {
    limit + 3.0 * (limit * (1.0 - limit) / experiments as f64).sqrt()
}

#[test]
fn the_default_analysis_keeps_its_error_rate() {
    let experiments = experiments(300, 20_000);
    let limit = if experiments >= 20_000 {
        0.055
    } else {
        at_most(0.05, experiments)
    };
    let mut situations = 0;
    for row in simulation::rows(experiments) {
        println!(
            "{}: Student {:.3}, ours {:.3} (power {:.3}, {:.3})",
            row.situation, row.student.error, row.ours.error, row.student.power, row.ours.power
        );
        assert!(
            row.ours.error <= limit,
            "{}: {}",
            row.situation,
            row.ours.error
        );
        // The simulations are such that the usual test fails in them.
        assert!(
            row.student.error > 0.07,
            "{}: {}",
            row.situation,
            row.student.error
        );
        situations += 1;
    }
    assert_eq!(situations, 15);
}

/// How often a monitor alarms within `looks` blocks and after how many on average it stops.
fn follow(
    looks: usize,
    experiments: usize,
    mut difference: impl FnMut(&mut Generator) -> f64,
) -> (f64, f64) {
    let mut generator = Generator::from_seed(2024);
    let (mut alarms, mut blocks) = (0, 0);
    for _ in 0..experiments {
        let mut monitor = Monitor::new(Confidence::PERCENT_95, MixtureScale::default());
        let alarm = (0..looks).any(|_| {
            monitor
                .add(difference(&mut generator))
                .expect("a finite difference");
            monitor.stop(1, None, None).is_some()
        });
        alarms += usize::from(alarm);
        blocks += monitor.differences().len();
    }
    (
        alarms as f64 / experiments as f64,
        blocks as f64 / experiments as f64,
    )
}

#[test]
fn looking_after_every_block_raises_no_false_alarms() {
    let experiments = experiments(60, 2000);
    let looks = if experiments >= 2000 { 400 } else { 150 };
    let limit = at_most(0.05, experiments);
    let (normal, _) = follow(looks, experiments, Generator::normal);
    // The difference of two log-normal runs is symmetric with heavy tails; t3 likewise.
    let (log_normal, _) = follow(looks, experiments, |g| g.normal().exp() - g.normal().exp());
    let (t3, _) = follow(looks, experiments, |g| {
        let square: f64 = (0..3).map(|_| g.normal().powi(2)).sum();
        g.normal() / (square / 3.0).sqrt()
    });
    println!("normal {normal:.3}, log-normal {log_normal:.3}, t3 {t3:.3}");
    assert!(normal <= limit && log_normal <= limit && t3 <= limit);
}

#[test]
fn the_sequential_test_needs_about_as_many_blocks_as_a_fixed_number() {
    let experiments = experiments(60, 2000);
    for (effect, wanted) in [(0.5, 41.0), (1.0, 13.5), (2.0, 7.0)] {
        let (found, blocks) = follow(1000, experiments, |g| effect + g.normal());
        println!("effect {effect}: {blocks:.1} blocks");
        assert_eq!(found, 1.0);
        assert!(
            (blocks / wanted - 1.0_f64).abs() < 0.2,
            "{effect}: {blocks}"
        );
    }
}

#[test]
fn a_confidence_sequence_holds_at_every_look() {
    let experiments = experiments(60, 2000);
    let looks = if experiments >= 2000 { 400 } else { 100 };
    let mut generator = Generator::from_seed(77);
    let missed = (0..experiments)
        .filter(|_| {
            let mut monitor = Monitor::new(Confidence::PERCENT_95, MixtureScale::default());
            (0..looks).any(|_| {
                monitor
                    .add(3.0 + generator.normal())
                    .expect("a finite difference");
                monitor
                    .interval()
                    .is_some_and(|interval| !interval.contains(3.0))
            })
        })
        .count();
    println!("missed {missed} of {experiments}");
    assert!(missed as f64 / experiments as f64 <= at_most(0.05, experiments));
}
