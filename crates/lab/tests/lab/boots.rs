//! The loop on a machine that is booted for its runs: boots that do not come up, and machines
//! that go away in the middle of a run.

use std::time::Duration;

use knobstat_data::Experiment;
use knobstat_data::experiment::OnFailure;
use knobstat_data::observation::{Attempt, Failure, Outcome};
use knobstat_data::vocabulary::Scope;
use knobstat_data::words::Setting;
use knobstat_lab::engine::{Assignment, Ended, Finish, Means, Progress, RunBegins, prepare};
use knobstat_lab::store::Store;

use crate::fake::{Act, FakeTarget, FakeWorld};
use crate::support::{experiment, factor};

/// Who is told of boots and of how long is left.
#[derive(Default)]
struct Onlooker {
    boots: Vec<String>,
    left: Vec<Option<Duration>>,
    warnings: Vec<String>,
}

impl Progress for Onlooker {
    fn opens(&mut self, settings: &[Setting]) {
        let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
        self.boots.push(settings.join(" "));
    }

    fn run_begins(&mut self, run: &RunBegins) {
        self.left.push(run.left);
    }

    fn warning(&mut self, sentence: &str) {
        self.warnings.push(sentence.to_owned());
    }
}

/// Two tick rates, two clock sources.
fn two_boots(replicates: u32) -> Experiment {
    let mut experiment = experiment(&["tsc", "hpet"], replicates, 0);
    let hz = factor("hz", &["250", "1000"], Scope::Build);
    experiment.factors.insert(0, hz);
    experiment
}

fn start(target: &mut FakeTarget, experiment: &Experiment) -> (Ended, Onlooker) {
    let mut store = Store::in_memory().unwrap();
    let mut world = FakeWorld::new(1);
    let mut onlooker = Onlooker::default();
    let signal = target.signal.clone();
    let assignment = Assignment {
        experiment: experiment.clone(),
        source: "the file".to_owned(),
        anew: false,
        overwrite_others: false,
    };
    let ended = prepare(assignment, target, Some(&store), &mut world)
        .unwrap()
        .drive(Means {
            store: &mut store,
            progress: &mut onlooker,
            interrupt: &signal,
            world: &mut world,
            enough: &|_| false,
        });
    let kept = store.record(&ended.record.id).unwrap();
    assert_eq!(kept.attempts, ended.record.attempts);
    (ended, onlooker)
}

fn outcomes(attempts: &[Attempt]) -> Vec<&'static str> {
    let outcomes = attempts.iter();
    outcomes
        .map(|attempt| attempt.result.outcome.word())
        .collect()
}

fn failing(target: &FakeTarget, boots: &[(&str, usize)]) {
    let each = boots.iter();
    target.machine.borrow_mut().failing_boots = each
        .flat_map(|(settings, times)| vec![(*settings).to_owned(); *times])
        .collect();
}

#[test]
fn boots_are_drawn_anew_for_every_block_and_their_runs_stay_together() {
    let mut target = FakeTarget::default();
    let (ended, onlooker) = start(&mut target, &two_boots(12));
    let boots: Vec<Vec<&String>> = onlooker
        .boots
        .chunks(2)
        .map(|two| two.iter().collect())
        .collect();
    assert_eq!(boots.len(), 12);
    for block in &boots {
        assert_ne!(block[0], block[1], "each boot comes once in a block");
    }
    assert!(boots.iter().any(|block| block[0] == "hz=250"));
    assert!(boots.iter().any(|block| block[0] == "hz=1000"));
    // Runs follow their boot and no other.
    let mut booted = String::new();
    for entry in &target.machine.borrow().log {
        if let Some(settings) = entry.strip_prefix("open ") {
            booted = settings.to_owned();
        } else if let Some(knobs) = entry.strip_prefix("run ") {
            assert!(
                knobs.split(' ').any(|knob| knob == booted),
                "{knobs} in {booted}"
            );
        }
    }
    assert_eq!(ended.exit_code(), 0);
}

#[test]
fn levels_that_no_boot_has_together_are_left_out_of_the_plan() {
    let mut target = FakeTarget::default();
    let mut experiment = two_boots(2);
    let kernel = factor("kernel", &["a", "b"], Scope::Build);
    experiment.factors.insert(1, kernel);
    target.machine.borrow_mut().impossible_boots = vec!["hz=1000 kernel=a".to_owned()];
    let (ended, onlooker) = start(&mut target, &experiment);
    assert_eq!(ended.exit_code(), 0);
    let plan = &ended.record.plan;
    for planned in &plan.treatments {
        let level = |name: &str| planned.treatment.level(name).unwrap().to_string();
        let is_impossible = level("hz") == "1000" && level("kernel") == "a";
        let reason = planned.omitted.as_deref();
        let expected = is_impossible.then_some("no kernel has both; exclude that combination");
        assert_eq!(reason, expected, "{}", planned.treatment);
    }
    // Three boots in each of two blocks.
    assert_eq!(onlooker.boots.len(), 6);
    assert!(!onlooker.boots.contains(&"hz=1000 kernel=a".to_owned()));
    let caveats = knobstat_analysis::analyse(&ended.record).caveats;
    let told = caveats
        .iter()
        .find(|caveat| caveat.kind == "omitted-combinations")
        .unwrap();
    for part in [
        "hz=1000 kernel=a clocksource=tsc and hz=1000 kernel=a clocksource=hpet",
        "(no kernel has both; exclude that combination)",
    ] {
        assert!(told.sentence.contains(part), "{}", told.sentence);
    }
}

#[test]
fn a_boot_that_hangs_once_is_tried_again_and_that_is_kept() {
    let mut target = FakeTarget::default();
    failing(&target, &[("hz=1000", 2)]);
    let (ended, onlooker) = start(&mut target, &two_boots(2));
    assert_eq!(ended.exit_code(), 0);
    assert_eq!(outcomes(&ended.record.attempts), ["ok"; 8]);
    assert_eq!(onlooker.warnings.len(), 2);
    let notes: Vec<&String> = ended
        .record
        .attempts
        .iter()
        .flat_map(|attempt| &attempt.result.notes)
        .collect();
    assert_eq!(notes.len(), 2);
    assert!(
        notes[0].contains("boot: attempt 1 of 3 with hz=1000 failed: it hung"),
        "{notes:?}"
    );
}

#[test]
fn a_boot_that_never_comes_up_fails_its_runs_and_the_others_go_on() {
    let mut target = FakeTarget::default();
    // It is tried three times, and once in each later block.
    failing(&target, &[("hz=1000", 3 + 1)]);
    let (ended, onlooker) = start(&mut target, &two_boots(2));
    let Ok(Finish::Complete { failed_runs, .. }) = ended.result else {
        panic!("{:?}", ended.result);
    };
    assert_eq!(failed_runs, 4);
    assert_eq!(onlooker.warnings.len(), 4);
    for attempt in &ended.record.attempts {
        let treatment = &ended.record.plan.treatments[attempt.treatment].treatment;
        let is_slow = treatment.level("hz").unwrap().to_string() == "1000";
        match &attempt.result.outcome {
            Outcome::Failed(Failure::Boot { reason }) => {
                assert!(is_slow && reason.contains("logo"), "{treatment}: {reason}");
            }
            outcome => assert_eq!((outcome, is_slow), (&Outcome::Ok, false), "{treatment}"),
        }
    }
    assert!(target.machine.borrow().failing_boots.is_empty());
}

#[test]
fn the_first_failed_boot_ends_an_experiment_that_asks_for_it() {
    let mut target = FakeTarget::default();
    failing(&target, &[("hz=250", 3), ("hz=1000", 3)]);
    let mut experiment = two_boots(2);
    experiment.design.on_failure = OnFailure::Stop;
    let (ended, _) = start(&mut target, &experiment);
    assert!(matches!(ended.result, Ok(Finish::Stopped { .. })));
}

#[test]
fn a_run_that_takes_the_machine_with_it_is_tried_again_and_then_fails() {
    let mut target = FakeTarget::default();
    target.machine.borrow_mut().script = [Act::Lost, Act::Lost, Act::Lost].into();
    let (ended, onlooker) = start(&mut target, &two_boots(1));
    assert_eq!(
        outcomes(&ended.record.attempts),
        ["interrupted", "interrupted", "failed", "ok", "ok", "ok"]
    );
    assert_eq!(ended.restoration, Default::default());
    assert!(
        onlooker.warnings[0].contains("the guest ended"),
        "{:?}",
        onlooker.warnings
    );
    // One boot for each try, and one for the rest of that boot.
    assert_eq!(onlooker.boots.len(), 5);
    assert_eq!(ended.exit_code(), 1);
}

#[test]
fn the_time_that_is_left_knows_of_boots() {
    struct Slow(FakeTarget);
    impl knobstat_lab::target::Target for Slow {
        fn open(
            &mut self,
            boot: &[Setting],
        ) -> Result<knobstat_lab::target::Opened, knobstat_lab::target::TargetError> {
            self.0.open(boot)
        }
        fn boot_takes(&self) -> Option<Duration> {
            Some(Duration::from_secs(1000))
        }
    }
    let mut target = Slow(FakeTarget::default());
    let mut store = Store::in_memory().unwrap();
    let mut world = FakeWorld::new(1);
    let mut onlooker = Onlooker::default();
    let signal = target.0.signal.clone();
    let assignment = Assignment {
        experiment: two_boots(3),
        source: "the file".to_owned(),
        anew: false,
        overwrite_others: false,
    };
    let prepared = prepare(assignment, &mut target, Some(&store), &mut world).unwrap();
    prepared.drive(Means {
        store: &mut store,
        progress: &mut onlooker,
        interrupt: &signal,
        world: &mut world,
        enough: &|_| false,
    });
    let boots: Vec<u64> = onlooker
        .left
        .iter()
        .skip(1)
        .map(|left| left.unwrap().as_secs() / 1000)
        .collect();
    assert_eq!(boots, [5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0]);
}
