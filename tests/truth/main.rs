//! The tool against a truth that is known: simulated experiments whose effects are known go
//! through plan, engine, store, analysis and report, and what the reports say is counted.
//!
//! 360 experiments by default; 9,900 in the release profile with `KNOBSTAT_LONG`:
//! `KNOBSTAT_LONG=1 cargo test --release --test truth`. All seeds are fixed, and everything that
//! is counted is printed.

mod bench;
mod counts;
mod situations;

use std::process::ExitCode;

use bench::Bench;
use counts::Counts;
use situations::{SITUATIONS, Situation};

/// Experiments in each situation.
const EXPERIMENTS: usize = 40;
const EXPERIMENTS_IF_LONG: usize = 1100;

/// False verdicts of all kinds, at most.
const MOST_FALSE: f64 = 0.055;
/// Where intervals must cover the truth at a nominal 95 %.
const COVERAGE: std::ops::RangeInclusive<f64> = 0.94..=0.96;

fn main() -> ExitCode {
    // Without optimisation the long form takes minutes that the tests of every change would pay.
    let long = std::env::var_os("KNOBSTAT_LONG").is_some() && !cfg!(debug_assertions);
    let experiments = if long {
        EXPERIMENTS_IF_LONG
    } else {
        EXPERIMENTS
    };
    println!(
        "{experiments} experiments a situation, through plan, engine, store, analysis and report"
    );
    Counts::print_heading();
    let counted = count_all(experiments);
    let slack = if long { 0.0 } else { SLACK };
    let (mut all, mut faults) = (Counts::default(), Vec::new());
    for (situation, counts) in SITUATIONS.iter().zip(&counted) {
        counts.print(situation.name);
        all.add(counts);
        let of_situation = counts.false_faults(slack);
        faults.extend(of_situation.map(|fault| format!("{}: {fault}", situation.name)));
    }
    all.print("all");
    faults.extend(all.faults(slack));
    faults.extend(durable());
    for fault in &faults {
        println!("FAULT: {fault}");
    }
    if faults.is_empty() {
        println!("truth: ok");
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// How far beyond their bounds rates may be in the short form, which is there to see that
/// everything fits together: some three standard errors of its counts.
const SLACK: f64 = 0.08;

/// Counts every situation, several at a time.
fn count_all(experiments: usize) -> Vec<Counts> {
    let workers = std::thread::available_parallelism().map_or(1, |cpus| cpus.get().min(4));
    let mut counted: Vec<Option<Counts>> = vec![None; SITUATIONS.len()];
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers)
            .map(|worker| {
                scope.spawn(move || {
                    (worker..SITUATIONS.len())
                        .step_by(workers)
                        .map(|index| (index, count(&SITUATIONS[index], experiments)))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        for handle in handles {
            for (index, counts) in handle.join().expect("a worker ends well") {
                counted[index] = Some(counts);
            }
        }
    });
    counted.into_iter().flatten().collect()
}

fn count(situation: &Situation, experiments: usize) -> Counts {
    let bench = Bench::new(situation);
    let mut counts = Counts::default();
    for seed in 0..experiments as u64 {
        counts.add(&situation.judge(&bench.run(seed)));
    }
    counts
}

/// One experiment in a store on the disk: what is read back after closing it is what was run.
fn durable() -> Option<String> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("store.db");
    let (ran, read) = Bench::new(&SITUATIONS[0]).run_durably(1, &path);
    println!(
        "one durable experiment of {} attempts, read back after closing the store",
        ran.attempts.len()
    );
    (ran != read).then(|| "the durable record is not what was run".to_owned())
}
