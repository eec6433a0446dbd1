//! What is found out before anything is touched: what the machine lacks, and how it has changed.

use knobstat_data::experiment::{FixedKnob, Unavailable};
use knobstat_data::messages::RefusalKind;
use knobstat_data::observation::Outcome;
use knobstat_data::vocabulary::Scope;
use knobstat_data::words::Setting;
use knobstat_lab::engine::{EngineError, Estimate, Progress, prepare};

use crate::bench::{Bench, assignment, end};
use crate::fake::{FakeWorld, refusal};
use crate::support::experiment;

#[test]
fn looking_at_an_experiment_touches_nothing() {
    let mut bench = Bench::new();
    let experiment = experiment(&["tsc", "hpet"], 3, 1);
    let store = bench.store();
    let mut world = FakeWorld::new(1);
    let prepared = prepare(
        assignment(&experiment),
        &mut bench.target,
        Some(&store),
        &mut world,
    );
    let prepared = prepared.unwrap();
    assert_eq!(prepared.runs(), 12);
    assert_eq!(prepared.estimate().unwrap(), Estimate::Unknown { runs: 12 });
    assert_eq!(prepared.record().plan.seed, 2007);
    drop(prepared);
    assert_eq!(bench.log(), ["open ", "describe"]);
    assert_eq!(store.list().unwrap(), []);
}

#[test]
fn levels_that_the_machine_lacks_are_left_out_and_named() {
    let mut bench = Bench::new();
    let hpet = Setting::new("clocksource", "hpet");
    bench.target.machine.borrow_mut().lacking = vec![hpet.clone()];
    let mut experiment = experiment(&["tsc", "hpet", "acpi_pm"], 2, 0);
    let ended = bench.start(&experiment).unwrap();
    assert_eq!(ended.exit_code(), 0);
    assert_eq!(ended.record.attempts.len(), 4);
    assert_eq!(ended.record.omitted.len(), 1);
    assert_eq!(ended.record.omitted[0].reason, "the machine has none");
    assert_eq!(
        bench.store().record(&ended.record.id).unwrap(),
        ended.record
    );
    assert!(bench.log().iter().all(|entry| !entry.contains("hpet")));

    experiment.design.unavailable = Unavailable::Error;
    let error = bench.start(&experiment).unwrap_err();
    assert!(matches!(error, EngineError::Unavailable(_)));
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("buy one"), "{error}");

    experiment.design.unavailable = Unavailable::Skip;
    experiment.fixed.push(FixedKnob {
        setting: Setting::new("turbo", "on"),
        scope: Scope::Runtime,
    });
    bench.target.machine.borrow_mut().lacking = vec![Setting::new("turbo", "on")];
    let error = bench.start(&experiment).unwrap_err();
    assert!(matches!(error, EngineError::Unavailable(_)), "{error}");

    experiment.fixed.clear();
    let all = ["tsc", "hpet", "acpi_pm"].map(|level| Setting::new("clocksource", level));
    bench.target.machine.borrow_mut().lacking = all.to_vec();
    let error = bench.start(&experiment).unwrap_err();
    assert!(matches!(error, EngineError::NothingLeft(_)), "{error}");
    assert_eq!(error.exit_code(), 2);
}

#[test]
fn a_level_that_got_lost_is_not_struck_out_of_a_begun_experiment() {
    let mut bench = Bench::new();
    let experiment = experiment(&["tsc", "hpet"], 2, 0);
    bench.script([end(Outcome::Ok), end(Outcome::Interrupted)]);
    bench.start(&experiment).unwrap();
    bench.target.machine.borrow_mut().lacking = vec![Setting::new("clocksource", "hpet")];
    let error = bench.start(&experiment).unwrap_err();
    assert!(
        matches!(error, EngineError::NoLongerAvailable { .. }),
        "{error}"
    );
    assert_eq!(error.exit_code(), 2);
    bench.target.machine.borrow_mut().lacking.clear();
    assert_eq!(bench.start(&experiment).unwrap().exit_code(), 0);
}

#[test]
fn a_machine_that_changed_meanwhile_is_told_of_and_noted() {
    let mut bench = Bench::new();
    let experiment = experiment(&["tsc", "hpet"], 1, 0);
    bench.target.machine.borrow_mut().kernel = Some("6.1".to_owned());
    bench.script([end(Outcome::Interrupted)]);
    bench.start(&experiment).unwrap();
    bench.target.machine.borrow_mut().kernel = Some("6.12".to_owned());
    #[derive(Default)]
    struct Warnings(Vec<String>);
    impl Progress for Warnings {
        fn warning(&mut self, sentence: &str) {
            self.0.push(sentence.to_owned());
        }
    }
    let mut warnings = Warnings::default();
    let ended = bench.start_told(&experiment, &mut warnings).unwrap();
    let sentence = "the kernel was 6.1 when the experiment began and is 6.12 now";
    assert_eq!(warnings.0, [sentence]);
    let noted = ended
        .record
        .attempts
        .iter()
        .map(|attempt| attempt.result.notes.len());
    assert_eq!(noted.collect::<Vec<_>>(), [0, 1, 0]);
}

#[test]
fn what_cannot_start_and_a_busy_machine_are_found_before_anything_is_touched() {
    let experiment = experiment(&["tsc", "hpet"], 1, 0);
    for (kind, code) in [
        (RefusalKind::Missing, 127),
        (RefusalKind::NotExecutable, 126),
        (RefusalKind::Request, 2),
    ] {
        let mut bench = Bench::new();
        bench.target.machine.borrow_mut().hindrances = vec![refusal(kind)];
        let error = bench.start(&experiment).unwrap_err();
        assert_eq!(error.exit_code(), code);
        assert_eq!(error.to_string(), "it cannot be; try something else");
        assert!(!bench.log().contains(&"begin".to_owned()));
    }
    for (kind, code) in [
        (RefusalKind::Busy, 5),
        (RefusalKind::Restore, 3),
        (RefusalKind::Disk, 4),
        (RefusalKind::Request, 2),
    ] {
        let mut bench = Bench::new();
        bench.target.machine.borrow_mut().refusals = vec![("begin", refusal(kind))];
        let ended = bench.start(&experiment).unwrap();
        assert_eq!(ended.exit_code(), code);
        assert_eq!(
            ended.result.unwrap_err().to_string(),
            "it cannot be; try something else"
        );
        assert_eq!(bench.store().list().unwrap(), [], "nothing was begun");
    }
}
