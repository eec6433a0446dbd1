//! Every course that a small experiment can take: whatever the outcomes and wherever it is
//! interrupted, each run is done exactly once, in the order of the plan, and it ends.

use std::collections::{BTreeMap, HashSet};

use crate::outcomes::{failed, tainted};
use crate::support::{attempt, experiment, factor, id};
use knobstat_data::Attempt;
use knobstat_data::experiment::OnFailure;
use knobstat_data::observation::Outcome;
use knobstat_data::plan::{self, Plan};
use knobstat_data::vocabulary::Scope;
use knobstat_data::words::{RunId, Setting};
use knobstat_lab::engine::course::Course;
use knobstat_lab::engine::next::{
    BootKey, Schedule, SessionState, Step, StopRule, Why, next, remaining,
};

/// A schedule without a stop rule.
fn schedule(plan: &Plan, max_repeats: u32) -> Schedule<'_> {
    Schedule {
        plan,
        max_repeats,
        on_failure: OnFailure::Continue,
        reboots: true,
        held: Vec::new(),
        stop: None,
    }
}

/// An experiment under way, as the loop around `next` sees it.
#[derive(Clone, Default)]
struct Lab {
    course: Course,
    state: SessionState,
    /// The number of the session that each attempt was made in.
    sessions: Vec<usize>,
    session: usize,
    settings: Vec<Setting>,
    set_up_in_session: HashSet<usize>,
}

impl Lab {
    /// Does everything up to the next run, and says which that is; nothing at the end.
    fn up_to_a_run(
        &mut self,
        schedule: &Schedule,
    ) -> Result<knobstat_lab::engine::next::Cell, Step> {
        loop {
            match next(schedule, &self.course, &self.state) {
                Step::Open { key, settings } => {
                    assert!(self.state.set_up.is_empty(), "a session ends torn down");
                    assert_ne!(self.state.boot, Some(key), "no session is opened twice");
                    self.state = SessionState {
                        boot: Some(key),
                        set_up: Vec::new(),
                    };
                    self.settings = settings;
                    self.begin_session();
                }
                Step::SetUp(cell) => {
                    let first = self.set_up_in_session.insert(cell.run.treatment);
                    assert!(first, "a treatment is set up once in a session");
                    self.state.set_up.push(cell.run.treatment);
                }
                Step::TearDown { treatment } => {
                    assert!(self.state.set_up.contains(&treatment));
                    self.state.set_up.retain(|&other| other != treatment);
                }
                Step::Run(cell) => {
                    assert!(self.state.set_up.contains(&cell.run.treatment));
                    return Ok(cell);
                }
                end => {
                    assert!(self.state.set_up.is_empty(), "everything is torn down");
                    return Err(end);
                }
            }
        }
    }

    fn begin_session(&mut self) {
        self.session += 1;
        self.course.begin_session();
        self.set_up_in_session.clear();
    }

    fn record(&mut self, run: &plan::PlannedRun, outcome: Outcome) {
        let is_interrupted = outcome == Outcome::Interrupted;
        let sequence = self.course.attempts().len() as u64;
        self.course.record(attempt(run, sequence, outcome));
        self.sessions.push(self.session);
        if is_interrupted {
            self.end_session();
        }
    }

    /// The process is gone, and another goes on from what is in the store.
    fn end_session(&mut self) {
        self.course = Course::of(self.course.attempts().iter().cloned());
        self.state = SessionState::default();
        self.settings.clear();
    }
}

/// Walks every course: each run ends in every way, as long as interruptions are left.
struct Explorer<'a> {
    schedule: Schedule<'a>,
    outcomes: Vec<Outcome>,
    courses: u64,
    visited: u64,
}

impl Explorer<'_> {
    fn explore(&mut self, lab: Lab, interruptions: u32) {
        let mut lab = lab;
        assert!(lab.course.attempts().len() < 100, "it ends");
        let cell = match lab.up_to_a_run(&self.schedule) {
            Ok(cell) => cell,
            Err(end) => {
                self.courses += 1;
                return self.check(&lab, &end);
            }
        };
        let earlier = lab.course.attempts().iter();
        let earlier = earlier.filter(|attempt| attempt.run == cell.run.id).count();
        assert_eq!(cell.attempt as usize, earlier + 1);
        self.visited += 1;
        if self.visited % 16 == 1 {
            let left = remaining(&self.schedule, &lab.course).values().sum::<u64>();
            assert_eq!(left, self.runs_left_if_all_goes_well(&lab));
        }
        for outcome in self.outcomes.clone() {
            let mut after = lab.clone();
            after.record(&cell.run, outcome);
            self.explore(after, interruptions);
        }
        if interruptions > 0 {
            let mut interrupted = lab.clone();
            interrupted.record(&cell.run, Outcome::Interrupted);
            self.explore(interrupted, interruptions - 1);
            let mut killed = lab;
            killed.end_session();
            self.explore(killed, interruptions - 1);
        }
    }

    fn runs_left_if_all_goes_well(&self, lab: &Lab) -> u64 {
        let mut lab = lab.clone();
        let mut runs = 0;
        while let Ok(cell) = lab.up_to_a_run(&self.schedule) {
            lab.record(&cell.run, Outcome::Ok);
            runs += 1;
        }
        runs
    }

    fn check(&self, lab: &Lab, end: &Step) {
        let attempts = lab.course.attempts();
        let finished: Vec<&Attempt> = attempts
            .iter()
            .filter(|attempt| attempt.result.outcome != Outcome::Interrupted)
            .collect();
        let measured: Vec<&RunId> = finished
            .iter()
            .filter(|attempt| attempt.warmup.is_none())
            .map(|attempt| &attempt.run)
            .collect();
        let blocks = self.blocks_expected(&finished);
        let planned: Vec<RunId> = (0..blocks)
            .flat_map(|block| self.schedule.plan.block(block).boots)
            .flat_map(|boot| boot.runs)
            .filter(|run| run.warmup.is_none())
            .map(|run| run.id)
            .collect();
        match end {
            Step::Done => assert_eq!(measured, planned.iter().collect::<Vec<_>>()),
            Step::Stopped { failed } => {
                assert_eq!(self.schedule.on_failure, OnFailure::Stop);
                assert_eq!(failed, &attempts[attempts.len() - 1].id);
                assert!(planned.iter().collect::<Vec<_>>().starts_with(&measured));
            }
            other => panic!("{other:?} is no end"),
        }
        self.check_warmups(lab);
    }

    /// How many blocks there must be: further ones come in generations, each as many as there
    /// were incomplete blocks in the one before.
    fn blocks_expected(&self, finished: &[&Attempt]) -> usize {
        let is_incomplete = |block: usize| {
            finished.iter().any(|attempt| {
                attempt.block == block
                    && attempt.warmup.is_none()
                    && matches!(attempt.result.outcome, Outcome::Tainted(_))
            })
        };
        let mut end = self.schedule.plan.replicates as usize;
        let mut generation = 0..end;
        for _ in 0..self.schedule.max_repeats {
            let incomplete = generation.filter(|&block| is_incomplete(block)).count();
            generation = end..end + incomplete;
            end += incomplete;
        }
        end
    }

    /// Before each measured run its warm-ups were finished in the same session, once each.
    fn check_warmups(&self, lab: &Lab) {
        let mut warm: BTreeMap<(usize, usize, usize), Vec<u32>> = BTreeMap::new();
        for (attempt, &session) in lab.course.attempts().iter().zip(&lab.sessions) {
            let key = (session, attempt.block, attempt.treatment);
            match attempt.warmup {
                _ if attempt.result.outcome == Outcome::Interrupted => {}
                Some(index) => warm.entry(key).or_default().push(index),
                None => {
                    let expected: Vec<u32> = (0..self.schedule.plan.warmup_runs).collect();
                    let found = warm.get(&key).cloned().unwrap_or_default();
                    assert_eq!(found, expected, "warm before {key:?}");
                }
            }
        }
    }
}

fn explore(schedule: Schedule, outcomes: Vec<Outcome>, interruptions: u32) -> u64 {
    let mut explorer = Explorer {
        schedule,
        outcomes,
        courses: 0,
        visited: 0,
    };
    explorer.explore(Lab::default(), interruptions);
    explorer.courses
}

fn every_outcome() -> Vec<Outcome> {
    vec![Outcome::Ok, tainted(), failed()]
}

#[test]
fn every_course_of_two_blocks_does_each_run_once_and_in_order() {
    let plan = plan::draw(&experiment(&["tsc", "hpet"], 2, 0), &id(1), 2007);
    // Without a taint 2^4 courses, with one in every block 3^4 more for each of them.
    let courses = explore(schedule(&plan, 1), every_outcome(), 0);
    assert_eq!(courses, 16 + 2 * 4 * 5 * 9 + 25 * 81);
    explore(schedule(&plan, 1), vec![Outcome::Ok, tainted()], 1);
}

#[test]
fn every_course_of_one_block_ends_after_the_repeats_allowed() {
    let plan = plan::draw(&experiment(&["tsc", "hpet"], 1, 0), &id(1), 2007);
    for max_repeats in 0..=3 {
        explore(schedule(&plan, max_repeats), every_outcome(), 1);
    }
    let courses = explore(schedule(&plan, 0), every_outcome(), 0);
    assert_eq!(courses, 9);
}

#[test]
fn every_course_with_warm_ups_warms_up_in_the_same_session() {
    let plan = plan::draw(&experiment(&["tsc", "hpet"], 1, 1), &id(1), 2007);
    explore(schedule(&plan, 1), vec![Outcome::Ok, tainted()], 1);
    let plan = plan::draw(&experiment(&["tsc"], 1, 2), &id(1), 2007);
    explore(schedule(&plan, 0), vec![Outcome::Ok, failed()], 2);
}

#[test]
fn every_course_that_is_to_stop_at_a_failure_stops_at_the_first() {
    let plan = plan::draw(&experiment(&["tsc", "hpet"], 2, 0), &id(1), 2007);
    let schedule = Schedule {
        on_failure: OnFailure::Stop,
        reboots: true,
        held: Vec::new(),
        ..schedule(&plan, 1)
    };
    explore(schedule, every_outcome(), 1);
}

#[test]
fn every_run_of_a_boot_is_executed_on_it() {
    let mut experiment = experiment(&["tsc", "hpet"], 2, 0);
    experiment
        .factors
        .insert(0, factor("hz", &["250", "1000"], Scope::Build));
    let plan = plan::draw(&experiment, &id(1), 2007);
    let schedule = schedule(&plan, 3);
    let mut lab = Lab::default();
    let mut interrupted = false;
    let mut boots = Vec::new();
    while let Ok(cell) = lab.up_to_a_run(&schedule) {
        let key = BootKey::Own {
            block: cell.run.block,
            boot: cell.run.boot,
        };
        assert_eq!(lab.state.boot, Some(key));
        let treatment = &plan.treatments[cell.run.treatment].treatment;
        assert_eq!(lab.settings.len(), 1);
        assert_eq!(treatment.level("hz"), Some(&lab.settings[0].level));
        if boots.last() != Some(&lab.session) {
            boots.push(lab.session);
        }
        let outcome = if interrupted || lab.course.attempts().len() != 2 {
            Outcome::Ok
        } else {
            interrupted = true;
            Outcome::Interrupted
        };
        lab.record(&cell.run, outcome);
    }
    // Two boots in each of two blocks, and one again after the interruption.
    assert_eq!(boots.len(), 5);
    assert_eq!(lab.course.attempts().len(), 9);
}

#[test]
fn the_reason_of_each_run_is_told() {
    let plan = plan::draw(&experiment(&["tsc"], 1, 1), &id(1), 2007);
    let schedule = schedule(&plan, 1);
    let mut lab = Lab::default();
    let script = [
        (Outcome::Ok, None, Why::Planned, 1),
        (Outcome::Interrupted, None, Why::Planned, 1),
        (Outcome::Ok, None, Why::WarmUpAgain, 2),
        (tainted(), None, Why::Interrupted, 2),
        (failed(), Some(1), Why::Repeat { of_block: 0 }, 1),
        (Outcome::Ok, Some(1), Why::Repeat { of_block: 0 }, 1),
    ];
    for (outcome, block, why, attempt) in script {
        let cell = lab.up_to_a_run(&schedule).expect("a run");
        assert_eq!((cell.why, cell.attempt), (why, attempt));
        assert_eq!(cell.run.block, block.unwrap_or(0));
        lab.record(&cell.run, outcome);
    }
    assert_eq!(lab.up_to_a_run(&schedule), Err(Step::Done));
}

#[test]
fn a_stop_rule_is_asked_between_blocks_only() {
    let plan = plan::draw(&experiment(&["tsc", "hpet"], 6, 0), &id(1), 2007);
    let asked_at = std::cell::RefCell::new(Vec::new());
    let enough = |attempts: &[Attempt]| {
        asked_at.borrow_mut().push(attempts.len());
        attempts.len() >= 8
    };
    let schedule = Schedule {
        stop: Some(StopRule {
            min_blocks: 2,
            max_blocks: 40,
            enough: &enough,
        }),
        ..schedule(&plan, 3)
    };
    let mut lab = Lab::default();
    while let Ok(cell) = lab.up_to_a_run(&schedule) {
        // Asked before a block's first run only, though `next` is called at every step.
        lab.record(&cell.run, tainted());
    }
    let mut asked = asked_at.into_inner();
    asked.dedup();
    assert_eq!(asked, [4, 6, 8]);
    assert_eq!(lab.course.attempts().len(), 8);
}

#[test]
fn a_stop_rule_that_is_never_content_ends_at_its_limit() {
    let plan = plan::draw(&experiment(&["tsc", "hpet"], 2, 0), &id(1), 2007);
    let schedule = Schedule {
        stop: Some(StopRule {
            min_blocks: 1,
            max_blocks: 4,
            enough: &|_| false,
        }),
        ..schedule(&plan, 1)
    };
    let mut lab = Lab::default();
    assert_eq!(remaining(&schedule, &lab.course).values().sum::<u64>(), 8);
    let mut first = true;
    while let Ok(cell) = lab.up_to_a_run(&schedule) {
        lab.record(&cell.run, if first { tainted() } else { Outcome::Ok });
        first = false;
    }
    // Four blocks and a further one for the first.
    assert_eq!(lab.course.attempts().len(), 10);
}

#[test]
fn a_huge_plan_is_not_walked_run_by_run() {
    let plan = plan::draw(&experiment(&["tsc", "hpet"], u32::MAX, 1), &id(1), 2007);
    let schedule = schedule(&plan, 3);
    let course = Course::default();
    let left: u64 = remaining(&schedule, &course).values().sum();
    assert_eq!(left, u64::from(u32::MAX) * 4);
    let mut lab = Lab::default();
    assert!(lab.up_to_a_run(&schedule).is_ok());
}
