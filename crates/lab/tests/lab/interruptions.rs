//! Interrupted, an experiment goes on where it was; finished, it starts anew.

use knobstat_data::observation::{Attempt, Outcome};
use knobstat_data::words::Treatment;
use knobstat_lab::engine::{Assignment, EngineError, Progress, prepare};

use crate::bench::{Bench, assignment, end, finished};
use crate::fake::{Act, FakeWorld, Signal};
use crate::support::experiment;

#[test]
fn wherever_it_is_interrupted_it_goes_on_in_the_same_order() {
    let experiment = experiment(&["tsc", "hpet", "acpi_pm"], 2, 1);
    let runs = 12;
    for interrupted in 0..runs {
        let mut bench = Bench::new();
        let mut script = vec![end(Outcome::Ok); interrupted];
        script.push(end(Outcome::Interrupted));
        bench.script(script);
        bench.target.signal.0.set(None);
        let first = {
            let signal = bench.target.signal.clone();
            bench.target.machine.borrow_mut().at_run = Some(Box::new(move |run| {
                if run == interrupted {
                    signal.0.set(Some(2));
                }
            }));
            bench.start(&experiment).unwrap()
        };
        assert_eq!(first.exit_code(), 130);
        assert_eq!(first.record.attempts.len(), interrupted + 1);
        assert_eq!(first.record.finished, None);
        // What was put back is known from the other side's last word.
        assert_eq!(bench.log().last().map(String::as_str), Some("restore"));

        bench.target.signal.0.set(None);
        bench.target.machine.borrow_mut().at_run = None;
        let second = bench.start(&experiment).unwrap();
        assert_eq!(second.exit_code(), 0);
        assert_eq!(second.record.id, first.record.id);
        let measured = second.record.plan.runs().filter(|run| run.warmup.is_none());
        assert_eq!(
            finished(&second.record.attempts),
            measured.map(|run| run.id).collect::<Vec<_>>(),
            "interrupted at {interrupted}"
        );
        let sequences = second
            .record
            .attempts
            .iter()
            .map(|attempt| attempt.sequence);
        assert!(sequences.eq(0..second.record.attempts.len() as u64));
        assert_eq!(bench.store().list().unwrap().len(), 1);
    }
}

#[test]
fn a_signal_between_runs_ends_before_the_next() {
    let mut bench = Bench::new();
    struct Tired(Signal);
    impl Progress for Tired {
        fn run_ended(&mut self, _: &Treatment, attempt: &Attempt) {
            if attempt.sequence == 1 {
                self.0.0.set(Some(15));
            }
        }
    }
    let mut tired = Tired(bench.target.signal.clone());
    let ended = bench
        .start_told(&experiment(&["tsc", "hpet"], 2, 0), &mut tired)
        .unwrap();
    assert_eq!(ended.exit_code(), 143);
    assert_eq!(ended.record.attempts.len(), 2);
    assert_eq!(bench.log().last().map(String::as_str), Some("restore"));
}

#[test]
fn when_the_other_side_vanishes_nothing_acknowledged_is_lost() {
    let experiment = experiment(&["tsc", "hpet"], 2, 1);
    for gone in 0..8 {
        let mut bench = Bench::new();
        let mut script = vec![end(Outcome::Ok); gone];
        script.push(Act::Gone);
        bench.script(script);
        let first = bench.start(&experiment).unwrap();
        assert!(matches!(first.result, Err(EngineError::Target(_))));
        // Nobody said that everything was put back.
        assert!(first.restore_error.is_some());
        assert_eq!(first.exit_code(), 3);
        assert_eq!(first.record.attempts.len(), gone);
        let second = bench.start(&experiment).unwrap();
        assert_eq!(second.exit_code(), 0);
        let measured = second.record.plan.runs().filter(|run| run.warmup.is_none());
        assert_eq!(
            finished(&second.record.attempts),
            measured.map(|run| run.id).collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_finished_request_starts_anew_and_an_unfinished_one_when_told_to() {
    let mut bench = Bench::new();
    let experiment = experiment(&["tsc", "hpet"], 1, 0);
    bench.script([end(Outcome::Interrupted)]);
    let first = bench.start(&experiment).unwrap();
    // The other side was asked to end, by whomever.
    assert_eq!(first.exit_code(), 143);
    let mut world = FakeWorld::new(50);
    let store = bench.store();
    let anew = Assignment {
        anew: true,
        ..assignment(&experiment)
    };
    let prepared = prepare(anew, &mut bench.target, Some(&store), &mut world).unwrap();
    assert_ne!(prepared.record().id, first.record.id);
    assert_eq!(prepared.continues(), None);
    drop(prepared);
    let second = bench.start(&experiment).unwrap();
    assert_eq!(second.record.id, first.record.id);
    let third = bench.start(&experiment).unwrap();
    assert_ne!(third.record.id, second.record.id);
    let mut other = experiment;
    other.design.replicates += 1;
    assert_ne!(
        bench.start(&other).unwrap().record.request,
        third.record.request
    );
}
