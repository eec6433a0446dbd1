//! What fails on the way: whether it ends a run or everything, and the exit code that tells.

use knobstat_data::messages::{RefusalKind, Restoration, RestoreFailure};
use knobstat_data::observation::{Failure, Outcome};
use knobstat_lab::engine::{EngineError, Finish};

use crate::bench::{Bench, end};
use crate::fake::{Act, refusal};
use crate::outcomes::failed;
use crate::support::{experiment, full_result};

#[test]
fn a_refusal_that_concerns_a_run_makes_it_a_failed_one() {
    let experiment = experiment(&["tsc", "hpet"], 2, 0);
    for (word, kind) in [
        ("apply", RefusalKind::Setting),
        ("setup", RefusalKind::Step),
        ("run", RefusalKind::Missing),
    ] {
        let mut bench = Bench::new();
        bench.target.machine.borrow_mut().refusals = vec![(word, refusal(kind))];
        let ended = bench.start(&experiment).unwrap();
        assert_eq!(ended.exit_code(), 1, "{word}");
        assert_eq!(ended.record.attempts.len(), 4);
        let Outcome::Failed(failure) = &ended.record.attempts[0].result.outcome else {
            panic!("{word}: the run failed");
        };
        match (word, failure) {
            ("apply", Failure::Knob { knob, reason }) => {
                assert_eq!(knob, "clocksource");
                assert!(reason.contains("it cannot be"));
            }
            ("setup", Failure::Step { step, .. }) => assert_eq!(step, "setup"),
            ("run", Failure::Start { .. }) => {}
            other => panic!("{other:?}"),
        }
        let others = &ended.record.attempts[1..];
        assert!(
            others
                .iter()
                .all(|attempt| attempt.result.outcome == Outcome::Ok)
        );
    }
}

#[test]
fn a_refusal_that_concerns_everything_ends_it_and_puts_back() {
    let mut bench = Bench::new();
    bench.target.machine.borrow_mut().refusals = vec![("run", refusal(RefusalKind::Disk))];
    let ended = bench.start(&experiment(&["tsc", "hpet"], 2, 0)).unwrap();
    assert_eq!(ended.exit_code(), 4);
    assert_eq!(ended.record.attempts, []);
    assert_eq!(bench.log().last().map(String::as_str), Some("restore"));
}

#[test]
fn a_teardown_that_fails_is_told_of_in_the_exit_code() {
    let mut bench = Bench::new();
    bench.target.machine.borrow_mut().refusals = vec![("teardown", refusal(RefusalKind::Step))];
    let ended = bench.start(&experiment(&["tsc", "hpet"], 1, 0)).unwrap();
    assert_eq!(ended.exit_code(), 1);
    let failed_steps = 1;
    assert_eq!(
        ended.result.unwrap(),
        Finish::Complete {
            failed_runs: 0,
            failed_steps
        }
    );
}

#[test]
fn a_setting_that_could_not_be_put_back_decides_the_exit_code() {
    let mut bench = Bench::new();
    bench.target.machine.borrow_mut().restoration = Restoration {
        put_back: vec!["turbo is on again".to_owned()],
        left_alone: Vec::new(),
        failed: vec![RestoreFailure {
            reason: "clocksource could not be put back".to_owned(),
            command: "echo tsc > …".to_owned(),
        }],
    };
    bench.script([end(failed())]);
    let ended = bench.start(&experiment(&["tsc", "hpet"], 1, 0)).unwrap();
    assert_eq!(ended.exit_code(), 3);
    assert_eq!(ended.restoration.failed.len(), 1);
}

#[test]
fn a_store_that_fails_ends_it_and_puts_back() {
    let mut bench = Bench::new();
    let path = bench.store().path().to_owned();
    bench.target.machine.borrow_mut().at_run = Some(Box::new(move |run| {
        if run == 1 {
            let connection = rusqlite::Connection::open(&path).unwrap();
            connection.execute_batch("DROP TABLE evidence").unwrap();
        }
    }));
    let ended = bench.start(&experiment(&["tsc", "hpet"], 2, 0)).unwrap();
    assert_eq!(ended.exit_code(), 4);
    assert!(matches!(ended.result, Err(EngineError::Store(_))));
    assert_eq!(ended.record.attempts.len(), 1);
    assert_eq!(bench.log().last().map(String::as_str), Some("restore"));
}

#[test]
fn values_that_are_no_numbers_fail_their_run() {
    let mut bench = Bench::new();
    let result = full_result(Outcome::Ok, f64::NAN);
    bench.script([Act::Result(Box::new(result))]);
    let ended = bench.start(&experiment(&["tsc", "hpet"], 1, 0)).unwrap();
    assert_eq!(ended.exit_code(), 1);
    assert!(matches!(
        ended.record.attempts[0].result.outcome,
        Outcome::Failed(Failure::Metric { .. })
    ));
    assert_eq!(
        bench.store().record(&ended.record.id).unwrap(),
        ended.record
    );
}
