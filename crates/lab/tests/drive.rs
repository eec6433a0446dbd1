//! The loop against a machine in memory: what is asked in which order, what is kept, and how it
//! ends.

#[path = "drive/boots.rs"]
mod boots;
#[path = "support/fake.rs"]
mod fake;
mod support;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use fake::{Act, FakeTarget, FakeWorld, refusal};
use knobstat_data::experiment::{FixedKnob, OnFailure, Unavailable};
use knobstat_data::messages::{MissingProgram, RefusalKind, Restoration, RestoreFailure};
use knobstat_data::observation::{Attempt, Failure, Outcome};
use knobstat_data::vocabulary::Scope;
use knobstat_data::words::{RunId, Setting, Treatment};
use knobstat_data::{Experiment, RunResult};
use knobstat_lab::engine::{
    Assignment, Ended, EngineError, Estimate, Finish, Means, Progress, RunBegins, Silent, prepare,
};
use knobstat_lab::store::Store;
use support::{experiment, factor, failed, full_result, tainted};

/// A store, a machine, and how often the program was started on them.
struct Bench {
    directory: tempfile::TempDir,
    target: FakeTarget,
    starts: u64,
}

impl Bench {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            target: FakeTarget::default(),
            starts: 0,
        }
    }

    fn store(&self) -> Store {
        Store::open(&self.directory.path().join("store.db"), None).unwrap()
    }

    fn script(&self, acts: impl IntoIterator<Item = Act>) {
        self.target.machine.borrow_mut().script = acts.into_iter().collect();
    }

    /// Starts the program on an experiment.
    fn start(&mut self, experiment: &Experiment) -> Result<Ended, EngineError> {
        self.start_told(experiment, &mut Silent)
    }

    fn start_told(
        &mut self,
        experiment: &Experiment,
        progress: &mut dyn Progress,
    ) -> Result<Ended, EngineError> {
        self.starts += 1;
        let mut world = FakeWorld::new(self.starts);
        let mut store = self.store();
        let signal = self.target.signal.clone();
        let prepared = prepare(
            assignment(experiment),
            &mut self.target,
            Some(&store),
            &mut world,
        )?;
        Ok(prepared.drive(Means {
            store: &mut store,
            progress,
            interrupt: &signal,
            world: &mut world,
            enough: &|_| false,
        }))
    }

    fn log(&self) -> Vec<String> {
        self.target.machine.borrow().log.clone()
    }
}

fn assignment(experiment: &Experiment) -> Assignment {
    Assignment {
        experiment: experiment.clone(),
        source: "the file".to_owned(),
        anew: false,
        overwrite_others: false,
    }
}

fn end(outcome: Outcome) -> Act {
    Act::End(outcome)
}

fn complete() -> Finish {
    Finish::Complete {
        failed_runs: 0,
        failed_steps: 0,
    }
}

/// The measured runs that were finished, in the order of execution.
fn finished(attempts: &[Attempt]) -> Vec<RunId> {
    attempts
        .iter()
        .filter(|attempt| {
            attempt.warmup.is_none() && attempt.result.outcome != Outcome::Interrupted
        })
        .map(|attempt| attempt.run.clone())
        .collect()
}

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
    let seen = Rc::new(std::cell::RefCell::new(Vec::new()));
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
    struct Tired(fake::Signal);
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
fn missing_programs_and_a_busy_machine_are_found_before_anything_is_touched() {
    let experiment = experiment(&["tsc", "hpet"], 1, 0);
    for (not_executable, code) in [(false, 127), (true, 126)] {
        let mut bench = Bench::new();
        bench.target.machine.borrow_mut().missing = vec![MissingProgram {
            name: "nosuch".to_owned(),
            not_executable,
        }];
        let error = bench.start(&experiment).unwrap_err();
        assert_eq!(error.exit_code(), code);
        assert!(error.to_string().contains("\"nosuch\""), "{error}");
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

#[test]
fn each_boot_has_a_session_with_its_settings() {
    let mut bench = Bench::new();
    let mut experiment = experiment(&["tsc", "hpet"], 1, 0);
    experiment
        .factors
        .insert(0, factor("hz", &["250", "1000"], Scope::Build));
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
    let mut experiment = experiment(&["tsc", "hpet"], 1, 0);
    experiment
        .factors
        .insert(0, factor("hz", &["250", "1000"], Scope::Build));
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
