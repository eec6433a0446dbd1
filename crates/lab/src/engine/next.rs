//! What comes next: a pure function of the plan and of the attempts made so far.
//!
//! Knows no clock, no file and no target. Going on after a signal, a crash, a reboot or a power
//! cut is this function: the store's attempts are its only memory.
//!
//! - A run is finished by its first attempt that was not interrupted. A finished run is never
//!   done again: a failed one is recorded and stays failed.
//! - A block with a tainted measured run is *incomplete*: a further complete block is run for
//!   it after the planned ones, and a further one for that one if it is incomplete as well, up
//!   to the limit for each planned block. Further blocks are taken in the order in which the
//!   blocks that need them were run.
//! - A warm-up run warms up for the measured run of its treatment in its boot. It is not
//!   repeated, whatever came of it, unless the session that it ran in ended before the measured
//!   run was finished: then it warms up again, because the machine has cooled down meanwhile.
//! - The once-per-treatment steps are done once in each session: before the first run of a
//!   treatment in it, and at its end.

use std::collections::{BTreeMap, VecDeque};

use knobstat_data::Experiment;
use knobstat_data::experiment::{FactorKind, OnFailure};
use knobstat_data::observation::Attempt;
use knobstat_data::plan::{Boot, Plan, PlannedRun};
use knobstat_data::words::{AttemptId, Setting};

use super::course::Course;

/// What an experiment has laid down for its whole course.
pub struct Schedule<'a> {
    /// The plan, with unavailable cells struck out.
    pub plan: &'a Plan,
    /// How many further blocks an incomplete planned block may cause.
    pub max_repeats: u32,
    /// What a failed run does.
    pub on_failure: OnFailure,
    /// When to end other than after the planned blocks.
    pub stop: Option<StopRule<'a>>,
    /// Whether the target is booted anew for a boot with settings of its own.
    pub reboots: bool,
    /// The settings that every boot has, beside its own; where there are any, every boot of the
    /// plan is one of its own.
    pub held: Vec<Setting>,
}

/// Decides between blocks whether enough is known.
pub struct StopRule<'a> {
    /// It is not asked before this many blocks are finished.
    pub min_blocks: usize,
    /// No more blocks than this, repeats of incomplete ones aside.
    pub max_blocks: usize,
    /// Whether these attempts suffice.
    pub enough: &'a dyn Fn(&[Attempt]) -> bool,
}

impl<'a> Schedule<'a> {
    /// The schedule of an experiment; `enough` judges where its design has a stop rule.
    pub fn of(
        experiment: &Experiment,
        plan: &'a Plan,
        reboots: bool,
        enough: &'a dyn Fn(&[Attempt]) -> bool,
    ) -> Self {
        let design = &experiment.design;
        Self {
            plan,
            max_repeats: design.max_repeats,
            on_failure: design.on_failure,
            reboots,
            held: held(experiment).cloned().collect(),
            stop: design.stop.as_ref().map(|stop| StopRule {
                min_blocks: stop.min_replicates as usize,
                max_blocks: stop.max_replicates as usize,
                enough,
            }),
        }
    }
}

/// The settings that a file holds and that only a boot brings about.
fn held(experiment: &Experiment) -> impl Iterator<Item = &Setting> {
    let fixed = experiment.fixed.iter();
    fixed
        .filter(|fixed| fixed.scope.needs_boot())
        .map(|fixed| &fixed.setting)
}

/// Whether an experiment wants anything that only a boot brings about.
pub(super) fn needs_boots(experiment: &Experiment) -> bool {
    let mut kinds = experiment.factors.iter().map(|factor| factor.kind);
    held(experiment).next().is_some()
        || kinds.any(|kind| matches!(kind, FactorKind::Knob(scope) if scope.needs_boot()))
}

/// The session under way, as far as it decides what comes next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionState {
    /// What the session is good for: absent before one was opened.
    pub boot: Option<BootKey>,
    /// The treatments whose once-per-treatment step was done in this session.
    pub set_up: Vec<usize>,
}

/// What a session is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootKey {
    /// Every boot that asks for nothing: the machine as it is.
    AsItIs,
    /// This boot of this block alone.
    Own {
        /// The block's index.
        block: usize,
        /// The boot's index within it.
        boot: usize,
    },
}

impl BootKey {
    fn of(boot: &Boot, block: usize, schedule: &Schedule) -> Self {
        let is_ordinary = boot.settings.is_empty() && schedule.held.is_empty();
        if is_ordinary || !schedule.reboots {
            Self::AsItIs
        } else {
            Self::Own {
                block,
                boot: boot.index,
            }
        }
    }
}

/// A run to be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The run, in its place.
    pub run: PlannedRun,
    /// Which attempt at it this is, from 1.
    pub attempt: u32,
    /// Why it is executed.
    pub why: Why,
}

/// Why a run is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It was planned.
    Planned,
    /// It belongs to a further block, because runs of this one were tainted.
    Repeat {
        /// The incomplete block.
        of_block: usize,
    },
    /// An earlier attempt was interrupted.
    Interrupted,
    /// A warm-up whose measured run did not follow in the same session.
    WarmUpAgain,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// End the session under way, if there is one, and open one on a boot with these settings.
    Open {
        /// What the session will be good for.
        key: BootKey,
        /// The settings of the boot.
        settings: Vec<Setting>,
    },
    /// Do the once-per-treatment step before the first run of a treatment in this session.
    SetUp(Cell),
    /// Execute a run.
    Run(Cell),
    /// Do the once-per-treatment step after the last run of a treatment in this session.
    TearDown {
        /// The treatment's index in the plan.
        treatment: usize,
    },
    /// All is done.
    Done,
    /// A run failed, and the experiment asked to stop then.
    Stopped {
        /// The attempt that failed.
        failed: AttemptId,
    },
}

/// What comes next, given the course so far.
pub fn next(schedule: &Schedule, course: &Course, session: &SessionState) -> Step {
    let (boot, cell) = match wanted(schedule, course) {
        Wanted::Run { boot, cell } => (boot, cell),
        Wanted::End(end) => return tear_down(session).unwrap_or(end),
    };
    let key = BootKey::of(&boot, cell.run.block, schedule);
    if session.boot != Some(key) {
        let settings = match key {
            BootKey::AsItIs => Vec::new(),
            BootKey::Own { .. } => [boot.settings, schedule.held.clone()].concat(),
        };
        return tear_down(session).unwrap_or(Step::Open { key, settings });
    }
    if session.set_up.contains(&cell.run.treatment) {
        Step::Run(cell)
    } else {
        Step::SetUp(cell)
    }
}

/// How many runs of each treatment are still to be done, warm-up runs included, as far as it is
/// known: taints to come are not foreseen, and a stop rule may be content earlier.
pub fn remaining(schedule: &Schedule, course: &Course) -> BTreeMap<usize, u64> {
    let mut runs = BTreeMap::new();
    let mut untouched_blocks = 0;
    let mut walk = Walk::new(schedule, course);
    loop {
        untouched_blocks += walk.skip_untouched();
        let Some(visit) = walk.next() else { break };
        if !course.has_begun(visit.block) {
            untouched_blocks += 1;
        } else if !visit.finished {
            for boot in &schedule.plan.block(visit.block).boots {
                for run in boot.runs.iter().filter(|run| to_do(course, boot, run)) {
                    *runs.entry(run.treatment).or_default() += 1;
                }
            }
        }
    }
    for (treatment, _) in schedule.plan.participating() {
        *runs.entry(treatment).or_default() +=
            untouched_blocks * (u64::from(schedule.plan.warmup_runs) + 1);
    }
    runs
}

/// How many boots are still to come after the one under way, as far as it is known.
pub fn remaining_boots(schedule: &Schedule, course: &Course, session: &SessionState) -> u64 {
    let is_ordinary = schedule.plan.boot_factors.is_empty() && schedule.held.is_empty();
    if is_ordinary || !schedule.reboots {
        return 0;
    }
    let boots_of = |block: usize| {
        let boots = schedule.plan.block(block).boots.into_iter();
        boots.filter(move |boot| {
            let key = BootKey::of(boot, block, schedule);
            session.boot != Some(key) && boot.runs.iter().any(|run| to_do(course, boot, run))
        })
    };
    let mut untouched_blocks = 0;
    let mut boots = 0;
    let mut last = None;
    let mut walk = Walk::new(schedule, course);
    loop {
        untouched_blocks += walk.skip_untouched();
        let Some(visit) = walk.next() else { break };
        last = Some(visit.block);
        if !visit.finished {
            boots += boots_of(visit.block).count() as u64;
        }
    }
    // Every block has the same boots, in an order of its own.
    let in_each = schedule.plan.block(last.unwrap_or(0)).boots.len() as u64;
    // The first boot of a block is under way before any of the block was attempted.
    let is_untouched = |block| !course.has_begun(block);
    let under_way = match session.boot {
        Some(BootKey::Own { block, .. }) if is_untouched(block) => 1,
        _ => 0,
    };
    (boots + untouched_blocks * in_each).saturating_sub(under_way)
}

/// The measured runs of a boot that are still to be done.
pub(super) fn runs_of(schedule: &Schedule, course: &Course, key: BootKey) -> Vec<Cell> {
    let BootKey::Own { block, boot } = key else {
        return Vec::new();
    };
    let block = schedule.plan.block(block);
    let found = block.boots.iter().find(|found| found.index == boot);
    let runs = found.into_iter().flat_map(|boot| &boot.runs);
    runs.filter(|run| run.warmup.is_none() && !course.is_finished(&run.id))
        .map(|run| Cell {
            attempt: course.attempts_at(&run.id) + 1,
            why: Why::Planned,
            run: run.clone(),
        })
        .collect()
}

/// The step that precedes the end of a session, while there is one to be taken.
fn tear_down(session: &SessionState) -> Option<Step> {
    session
        .set_up
        .first()
        .map(|&treatment| Step::TearDown { treatment })
}

/// The next run, or the end.
enum Wanted {
    Run { boot: Boot, cell: Cell },
    End(Step),
}

fn wanted(schedule: &Schedule, course: &Course) -> Wanted {
    if schedule.on_failure == OnFailure::Stop
        && let Some(failed) = course.first_failed()
    {
        let failed = failed.clone();
        return Wanted::End(Step::Stopped { failed });
    }
    for visit in Walk::new(schedule, course) {
        if visit.finished {
            continue;
        }
        if !course.has_begun(visit.block)
            && let Some(stop) = &schedule.stop
            && visit.block >= stop.min_blocks
            && (stop.enough)(course.attempts())
        {
            break;
        }
        for boot in schedule.plan.block(visit.block).boots {
            if let Some(run) = boot.runs.iter().find(|run| to_do(course, &boot, run)) {
                let cell = Cell {
                    attempt: course.attempts_at(&run.id) + 1,
                    why: why(course, run, visit.repeats),
                    run: run.clone(),
                };
                return Wanted::Run { boot, cell };
            }
        }
    }
    Wanted::End(Step::Done)
}

fn to_do(course: &Course, boot: &Boot, run: &PlannedRun) -> bool {
    if run.warmup.is_none() {
        return !course.is_finished(&run.id);
    }
    let measured_is_to_do = boot.runs.iter().any(|other| {
        other.warmup.is_none() && other.treatment == run.treatment && !course.is_finished(&other.id)
    });
    measured_is_to_do && !course.is_finished_in_session(&run.id)
}

fn why(course: &Course, run: &PlannedRun, repeats: Option<usize>) -> Why {
    if run.warmup.is_some() && course.is_finished(&run.id) {
        Why::WarmUpAgain
    } else if course.attempts_at(&run.id) > 0 {
        Why::Interrupted
    } else if let Some(of_block) = repeats {
        Why::Repeat { of_block }
    } else {
        Why::Planned
    }
}

/// Every block in the order in which they are run: the planned ones, then a further one for each
/// block that is known to be incomplete by the time it is asked for.
struct Walk<'a> {
    schedule: &'a Schedule<'a>,
    course: &'a Course,
    index: usize,
    planned: usize,
    runs_per_block: usize,
    waiting: VecDeque<Incomplete>,
}

/// A block in the order in which blocks are run.
struct Visit {
    block: usize,
    /// Whether all of its measured runs are finished.
    finished: bool,
    /// The incomplete block that it is run for, where it is a further one.
    repeats: Option<usize>,
}

/// A block with a tainted run, waiting for its further block.
struct Incomplete {
    block: usize,
    /// Which further block of its planned one that will be, from 1.
    repeat: u32,
}

impl<'a> Walk<'a> {
    fn new(schedule: &'a Schedule<'a>, course: &'a Course) -> Self {
        let planned = match &schedule.stop {
            Some(stop) => stop.max_blocks,
            None => schedule.plan.replicates as usize,
        };
        Self {
            schedule,
            course,
            index: 0,
            planned,
            runs_per_block: schedule.plan.participating().count(),
            waiting: VecDeque::new(),
        }
    }

    /// Passes over the planned blocks that follow the last one begun, and says how many.
    fn skip_untouched(&mut self) -> u64 {
        let skipped = if self.index >= self.course.end_of_blocks() {
            self.planned.saturating_sub(self.index)
        } else {
            0
        };
        self.index += skipped;
        skipped as u64
    }
}

impl Iterator for Walk<'_> {
    type Item = Visit;

    fn next(&mut self) -> Option<Visit> {
        let reason = if self.index < self.planned {
            None
        } else {
            Some(self.waiting.pop_front()?)
        };
        let block = self.index;
        self.index += 1;
        let repeats = reason.as_ref().map_or(0, |incomplete| incomplete.repeat);
        if repeats < self.schedule.max_repeats && self.course.is_tainted(block) {
            self.waiting.push_back(Incomplete {
                block,
                repeat: repeats + 1,
            });
        }
        Some(Visit {
            block,
            finished: self.course.finished_measured_runs(block) >= self.runs_per_block,
            repeats: reason.map(|incomplete| incomplete.block),
        })
    }
}
