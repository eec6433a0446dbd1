//! Levels that need another boot: sessions, reboots, and a power cut between.

use std::cell::RefCell;
use std::rc::Rc;

use knobstat_data::Experiment;
use knobstat_data::observation::Outcome;
use knobstat_data::vocabulary::Scope;
use knobstat_lab::engine::Finish;

use crate::bench::{Bench, complete, end};
use crate::fake::Act;
use crate::support::{experiment, factor};

/// Two clock sources in two boots.
fn of_two_tick_rates() -> Experiment {
    let mut experiment = experiment(&["tsc", "hpet"], 1, 0);
    let rates = factor("hz", &["250", "1000"], Scope::Build);
    experiment.factors.insert(0, rates);
    experiment
}

#[test]
fn each_boot_has_a_session_with_its_settings() {
    let mut bench = Bench::new();
    let experiment = of_two_tick_rates();
    let ended = bench.start(&experiment).unwrap();
    assert_eq!(ended.exit_code(), 0);
    let mut boot = String::new();
    for entry in bench.log() {
        if let Some(settings) = entry.strip_prefix("open ") {
            boot = settings.to_owned();
        }
        if let Some(knobs) = entry.strip_prefix("run ") {
            assert!(
                knobs.starts_with(&boot) && !boot.is_empty(),
                "{knobs} on {boot}"
            );
        }
        assert!(
            !entry.starts_with("apply") || !entry.contains("hz"),
            "{entry}"
        );
    }
    let log = bench.log();
    let count = |word: &str| log.iter().filter(|entry| entry.starts_with(word)).count();
    assert_eq!(["open", "begin", "restore"].map(count), [3, 2, 2]);
}

#[test]
fn a_reboot_suspends_the_experiment() {
    let mut bench = Bench::new();
    bench.target.reboots = true;
    let experiment = of_two_tick_rates();
    let ended = bench.start(&experiment).unwrap();
    assert_eq!(ended.exit_code(), 0);
    assert_eq!(ended.result.unwrap(), Finish::Suspended);
    bench.target.reboots = false;
    assert_eq!(
        bench.start(&experiment).unwrap().result.unwrap(),
        complete()
    );
}

#[test]
fn an_experiment_goes_on_through_reboots_and_a_power_cut() {
    let mut bench = Bench::new();
    bench.target.reboots = true;
    let boot = Rc::new(RefCell::new(None));
    bench.target.boot = Some(Rc::clone(&boot));
    let mut experiment = experiment(&["tsc", "hpet"], 3, 0);
    experiment
        .factors
        .insert(0, factor("nohz", &["on", "off"], Scope::Boot));
    let mut starts = 0;
    let record = loop {
        starts += 1;
        assert!(starts < 20, "it makes no end");
        // A power cut in the midst of a boot: one run of it is done, one is not.
        if starts == 3 {
            bench.script([end(Outcome::Ok), Act::Gone]);
        }
        let ended = bench.start(&experiment).unwrap();
        match ended.result {
            Ok(Finish::Suspended) => {}
            Ok(finish) => {
                assert_eq!(finish, complete());
                break ended.record;
            }
            Err(_) => {
                assert_eq!(starts, 3);
                *boot.borrow_mut() = None;
            }
        }
    };
    // The first start, six boots, and for the boot that was cut short one that ended early and
    // one that asked for it again.
    assert_eq!(starts, 1 + 6 + 2);
    let planned: Vec<_> = record.plan.runs().map(|run| run.id).collect();
    let done: Vec<_> = record
        .attempts
        .iter()
        .map(|attempt| attempt.run.clone())
        .collect();
    assert_eq!(done, planned, "every run once, in the order of the plan");
    let ends = bench
        .log()
        .iter()
        .filter(|entry| *entry == "end boots")
        .count();
    assert_eq!(ends, 1);
}
