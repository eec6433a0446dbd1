//! What is asked in which order, and what of it is kept and repeated.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use knobstat_data::RunResult;
use knobstat_data::experiment::OnFailure;
use knobstat_data::observation::Outcome;
use knobstat_data::words::RunId;
use knobstat_lab::engine::{Finish, Progress, RunBegins};
use knobstat_lab::store::Store;

use crate::bench::{Bench, complete, end};
use crate::fake::Act;
use crate::outcomes::{failed, tainted};
use crate::support::experiment;

#[test]
fn an_experiment_is_carried_out_in_the_order_of_its_plan() {
    let mut bench = Bench::new();
    let experiment = experiment(&["tsc", "hpet"], 3, 1);
    let ended = bench.start(&experiment).unwrap();
    assert_eq!(ended.exit_code(), 0);
    assert_eq!(ended.result.unwrap(), complete());
    let planned: Vec<RunId> = ended.record.plan.runs().map(|run| run.id).collect();
    let runs = ended.record.attempts.iter();
    assert_eq!(
        runs.map(|attempt| attempt.run.clone()).collect::<Vec<_>>(),
        planned
    );
    assert!(ended.record.finished.is_some());
    assert_eq!(
        bench.store().record(&ended.record.id).unwrap(),
        ended.record
    );

    let log = bench.log();
    assert_eq!(log[..3], ["open ", "describe", "begin"]);
    assert_eq!(log.last().map(String::as_str), Some("restore"));
    let count = |word: &str| log.iter().filter(|entry| entry.starts_with(word)).count();
    assert_eq!(
        ["run", "setup", "teardown", "restore"].map(count),
        [12, 2, 2, 1]
    );
    // A knob is turned, and read back, before every run.
    for (index, entry) in log.iter().enumerate() {
        if let Some(knobs) = entry.strip_prefix("run ") {
            let before = log[..index]
                .iter()
                .rev()
                .find(|entry| !entry.starts_with("setup"));
            assert_eq!(before, Some(&format!("apply {knobs}")));
        }
    }
}

#[test]
fn every_attempt_is_in_the_store_before_the_next_run_begins() {
    let mut bench = Bench::new();
    let path = bench.store().path().to_owned();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let seen_by_machine = Rc::clone(&seen);
    bench.target.machine.borrow_mut().at_run = Some(Box::new(move |runs| {
        let store = Store::open_existing(&path).unwrap();
        let attempts = store.load("clock sources").unwrap().attempts.len();
        seen_by_machine.borrow_mut().push((runs, attempts));
    }));
    bench.start(&experiment(&["tsc", "hpet"], 2, 0)).unwrap();
    assert_eq!(*seen.borrow(), [(0, 0), (1, 1), (2, 2), (3, 3)]);
}

#[test]
fn runs_settle_after_a_knob_was_changed_and_only_then() {
    let mut bench = Bench::new();
    bench.start(&experiment(&["tsc", "hpet"], 1, 1)).unwrap();
    let machine = bench.target.machine.borrow();
    let settled = machine
        .runs
        .iter()
        .map(|spec| (spec.knobs_changed, spec.settle));
    let changed = (true, Duration::from_millis(200));
    let same = (false, Duration::ZERO);
    assert_eq!(settled.collect::<Vec<_>>(), [changed, same, changed, same]);
}

#[test]
fn a_tainted_run_is_repeated_in_a_further_block() {
    let mut bench = Bench::new();
    bench.script([end(Outcome::Ok), end(tainted())]);
    let ended = bench.start(&experiment(&["tsc", "hpet"], 2, 0)).unwrap();
    assert_eq!(ended.exit_code(), 0);
    let blocks = ended.record.attempts.iter().map(|attempt| attempt.block);
    assert_eq!(blocks.collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2]);
}

#[test]
fn a_failed_run_is_kept_and_the_rest_goes_on() {
    let mut bench = Bench::new();
    bench.script([end(failed())]);
    let ended = bench.start(&experiment(&["tsc", "hpet"], 2, 0)).unwrap();
    assert_eq!(ended.exit_code(), 1);
    let failed_runs = 1;
    assert_eq!(
        ended.result.unwrap(),
        Finish::Complete {
            failed_runs,
            failed_steps: 0
        }
    );
    assert_eq!(ended.record.attempts.len(), 4);
}

#[test]
fn an_experiment_can_stop_at_a_failure_and_is_then_done() {
    let mut bench = Bench::new();
    let mut experiment = experiment(&["tsc", "hpet"], 2, 0);
    experiment.design.on_failure = OnFailure::Stop;
    bench.script([end(Outcome::Ok), end(failed())]);
    let first = bench.start(&experiment).unwrap();
    assert_eq!(first.exit_code(), 1);
    assert_eq!(first.record.attempts.len(), 2);
    assert_eq!(bench.log().last().map(String::as_str), Some("restore"));
    // The same request starts anew.
    let second = bench.start(&experiment).unwrap();
    assert_eq!(second.exit_code(), 0);
    assert_ne!(second.record.id, first.record.id);
}

#[test]
fn an_onlooker_is_told_how_far_it_is() {
    #[derive(Default)]
    struct Notebook(Vec<(u64, u64, Option<Duration>)>);
    impl Progress for Notebook {
        fn run_begins(&mut self, run: &RunBegins) {
            self.0.push((run.number, run.of, run.left));
        }
    }
    let mut bench = Bench::new();
    bench.script([end(tainted())]);
    let mut notebook = Notebook::default();
    bench
        .start_told(&experiment(&["tsc", "hpet"], 1, 0), &mut notebook)
        .unwrap();
    let numbers = notebook.0.iter().map(|(number, of, _)| (*number, *of));
    assert_eq!(
        numbers.collect::<Vec<_>>(),
        [(1, 2), (2, 4), (3, 4), (4, 4)]
    );
    assert_eq!(notebook.0[0].2, None);
    let left: Vec<Duration> = notebook.0[1..].iter().filter_map(|told| told.2).collect();
    assert_eq!(left.len(), 3);
    assert!(left.is_sorted_by(|a, b| a > b), "{left:?}");
}

#[test]
fn a_bare_result_is_kept_as_it_is() {
    let mut bench = Bench::new();
    bench.script([Act::Result(Box::new(RunResult::bare(Outcome::Ok)))]);
    let ended = bench.start(&experiment(&["tsc"], 1, 0)).unwrap();
    assert_eq!(
        ended.record.attempts[0].result,
        RunResult::bare(Outcome::Ok)
    );
}
