//! Before anything is touched: what the machine is, which cells it cannot take, and whether this
//! experiment was begun before.

use std::collections::BTreeMap;

use knobstat_data::experiment::Unavailable;
use knobstat_data::messages::{Availability, Describe, Description, SettingState};
use knobstat_data::plan::{self, Plan};
use knobstat_data::record::Omission;
use knobstat_data::words::{ExperimentId, RequestId, Treatment};
use knobstat_data::{Experiment, Machine, Record};

use super::cells::Cells;
use super::conversation::Conversation;
use super::course::Course;
use super::error::EngineError;
use super::estimate::{self, Estimate, Pace};
use super::next::{Schedule, SessionState, needs_boots, remaining, remaining_boots};
use super::specify;
use super::world::World;
use crate::store::Store;
use crate::target::{Opened, Target};

/// What is to be carried out.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The experiment.
    pub experiment: Experiment,
    /// The text of its file.
    pub source: String,
    /// Start anew even where the same request is unfinished.
    pub anew: bool,
    /// Put back values that somebody else wrote as well.
    pub overwrite_others: bool,
}

/// An experiment that can be carried out now; nothing was touched yet, and dropping it touches
/// nothing.
pub struct Prepared<'t> {
    pub(super) target: &'t mut dyn Target,
    /// The session that described the machine; it has not begun.
    pub(super) session: Option<Conversation>,
    pub(super) assignment: Assignment,
    pub(super) description: Description,
    /// Everything but its attempts, which are in the course.
    pub(super) record: Record,
    pub(super) course: Course,
    /// Whether the store has the experiment already.
    pub(super) is_known: bool,
    /// What changed of the machine since the experiment began.
    pub(super) changes: Vec<String>,
}

/// Asks the machine what it is, draws the plan, strikes out what the machine cannot take, and
/// finds out in the store, where there is one, whether the experiment goes on from an earlier
/// beginning.
///
/// # Errors
/// When the machine cannot be reached, lacks what the experiment insists on, or the store cannot
/// be read.
pub fn prepare<'t>(
    assignment: Assignment,
    target: &'t mut dyn Target,
    store: Option<&Store>,
    world: &mut dyn World,
) -> Result<Prepared<'t>, EngineError> {
    let experiment = &assignment.experiment;
    let Opened::Session(session) = target.open(&[])? else {
        return Err(EngineError::Unexpected {
            asked: "open a session as it is",
            answered: "that it is rebooting".to_owned(),
        });
    };
    let mut session = Conversation::new(session);
    let cells = Cells::of(experiment)?;
    let description = session.describe(describe(experiment, &cells)?)?;
    if let Some(first) = description.hindrances.first() {
        return Err(EngineError::Refused(first.clone()));
    }
    let mut lacking = lacking(&description.settings);
    lacking.extend(cells.omissions(experiment, &description.lacking_cells));

    let request = RequestId::of(&experiment.canonical(), &description.machine.id);
    let known = match store {
        Some(store) if !assignment.anew => store.find_unfinished(&request)?,
        _ => None,
    };
    let is_known = known.is_some();
    // In the midst of its boots a machine is not as it was at the beginning: each run finds out
    // by itself whether its settings can be had.
    let is_in_a_boot = is_known && target.reboots() && needs_boots(experiment);
    if !is_in_a_boot {
        refuse_unavailable(experiment, &lacking)?;
    }
    let mut record = match (known, store) {
        (Some(id), Some(store)) => store.record(&id)?,
        _ => {
            let omitted = lacking.clone();
            let mut record = draw_record(&assignment, &description, request, world)?;
            record.plan.strike(&omitted);
            cells.strike(&mut record.plan, &description.lacking_cells);
            strike_boots(&mut record.plan, experiment, target);
            if record.plan.participating().next().is_none() {
                return Err(EngineError::NothingLeft(omitted));
            }
            record.omitted = omitted;
            record
        }
    };
    if is_known && !is_in_a_boot {
        refuse_lost_levels(&record, lacking)?;
    }
    let changes = if is_known {
        changes(&record.machine, &description.machine, is_in_a_boot)
    } else {
        Vec::new()
    };
    let course = Course::of(std::mem::take(&mut record.attempts));
    Ok(Prepared {
        target,
        session: Some(session),
        assignment,
        description,
        record,
        course,
        is_known,
        changes,
    })
}

impl Prepared<'_> {
    /// The experiment's record, without its attempts.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// What the machine said of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Whether this goes on from an earlier beginning, and how many attempts were made then.
    pub fn continues(&self) -> Option<usize> {
        self.is_known.then(|| self.course.attempts().len())
    }

    /// How many runs are still to be done, warm-up runs included; at most, where the experiment
    /// has a stop rule.
    pub fn runs(&self) -> u64 {
        self.remaining().values().sum()
    }

    /// How many boots the planned blocks have for settings that only a boot brings about.
    pub fn boots(&self) -> usize {
        if !self.target.reboots() || !needs_boots(&self.record.experiment) {
            return 0;
        }
        let blocks = self.record.plan.blocks();
        blocks.map(|block| block.boots.len()).sum()
    }

    /// How long they will take.
    ///
    /// # Errors
    /// When a treatment does not make parameters for the workload.
    pub fn estimate(&self) -> Result<Estimate, EngineError> {
        let remaining = self.remaining();
        let experiment = &self.assignment.experiment;
        let bounded = |estimate: Estimate| match experiment.design.stop {
            Some(_) => estimate.at_most(),
            None => estimate,
        };
        let mut pace = Pace::of(self.course.attempts());
        if let Some(took) = self.target.boot_takes() {
            pace.saw_boot(took);
        }
        let schedule = self.schedule();
        let boots = remaining_boots(&schedule, &self.course, &SessionState::default());
        if let Some(left) = pace.left(&remaining, boots) {
            return Ok(bounded(Estimate::About(left)));
        }
        let mut runs = Vec::new();
        for (treatment, count) in remaining {
            let treatment = &self.record.plan.treatments[treatment].treatment;
            runs.push((count, experiment.parameters_for(treatment)?));
        }
        Ok(bounded(estimate::beforehand(
            runs.iter().map(|(count, parameters)| (*count, parameters)),
            experiment.design.settle.before_run(true),
            pace.boots_take(boots),
        )))
    }

    fn remaining(&self) -> BTreeMap<usize, u64> {
        remaining(&self.schedule(), &self.course)
    }

    fn schedule(&self) -> Schedule<'_> {
        Schedule::of(
            &self.record.experiment,
            &self.record.plan,
            self.target.reboots(),
            &|_| false,
        )
    }
}

/// What a session on any boot of the experiment is asked first.
pub(super) fn describe(experiment: &Experiment, cells: &Cells) -> Result<Describe, EngineError> {
    let excluded = |treatment: &Treatment| {
        let mut partial = experiment.design.exclude.iter();
        partial.any(|partial| treatment.agrees_with(partial))
    };
    let mut treatments = plan::full_factorial(&experiment.factors);
    treatments.retain(|treatment| !excluded(treatment));
    Ok(Describe {
        own_knobs: experiment.own_knobs.clone(),
        wanted: specify::wanted(experiment),
        starts: experiment.starts(&treatments)?,
        workload: cells.wanted(&experiment.workload.kind),
        may_reboot: None,
    })
}

fn lacking(settings: &[SettingState]) -> Vec<Omission> {
    settings
        .iter()
        .filter_map(|state| match &state.availability {
            Availability::Available => None,
            Availability::Unavailable { reason, remedy } => Some(Omission {
                factor: state.setting.factor.clone(),
                level: state.setting.level.clone(),
                reason: reason.clone(),
                remedy: remedy.clone(),
            }),
        })
        .collect()
}

/// What is fixed cannot be left out, and a file can say the same of every level.
fn refuse_unavailable(experiment: &Experiment, lacking: &[Omission]) -> Result<(), EngineError> {
    let is_insisted_on = |omission: &&Omission| {
        experiment.design.unavailable == Unavailable::Error
            || experiment.fixed.iter().any(|fixed| {
                fixed.setting.factor == omission.factor && fixed.setting.level == omission.level
            })
    };
    let refused: Vec<Omission> = lacking.iter().filter(is_insisted_on).cloned().collect();
    if refused.is_empty() {
        Ok(())
    } else {
        Err(EngineError::Unavailable(refused))
    }
}

/// The order of a begun experiment is fixed: a level that got lost meanwhile cannot be struck out.
fn refuse_lost_levels(record: &Record, lacking: Vec<Omission>) -> Result<(), EngineError> {
    let takes_part = |omission: &Omission| {
        record
            .plan
            .participating()
            .any(|(_, treatment)| treatment.level(&omission.factor) == Some(&omission.level))
    };
    let levels: Vec<Omission> = lacking.into_iter().filter(takes_part).collect();
    if levels.is_empty() {
        Ok(())
    } else {
        Err(EngineError::NoLongerAvailable {
            experiment: record.id.clone(),
            levels,
        })
    }
}

/// The record of an experiment that begins, with everything in its plan that its file wants.
fn draw_record(
    assignment: &Assignment,
    description: &Description,
    request: RequestId,
    world: &mut dyn World,
) -> Result<Record, EngineError> {
    let experiment = &assignment.experiment;
    let id = ExperimentId::of(&request, world.random().map_err(EngineError::Random)?);
    let seed = match experiment.design.seed {
        Some(seed) => seed,
        None => draw_seed(world)?,
    };
    let plan = plan::draw(experiment, &id, seed);
    if plan.participating().next().is_none() {
        return Err(EngineError::AllExcluded);
    }
    Ok(Record {
        id,
        request,
        experiment: experiment.clone(),
        source: assignment.source.clone(),
        machine: description.machine.clone(),
        plan,
        omitted: Vec::new(),
        started: world.now(),
        finished: None,
        attempts: Vec::new(),
    })
}

/// Strikes out each treatment whose levels no boot has together, though it may have each of them.
fn strike_boots(plan: &mut Plan, experiment: &Experiment, target: &dyn Target) {
    let mut known: BTreeMap<String, Option<String>> = BTreeMap::new();
    for planned in &mut plan.treatments {
        if planned.omitted.is_some() {
            continue;
        }
        let settings = specify::of_the_boot(experiment, &planned.treatment);
        let name = format!("{settings:?}");
        let why_not = known
            .entry(name)
            .or_insert_with(|| target.cannot_boot(&settings));
        planned.omitted.clone_from(why_not);
    }
}

/// A seed that a file can hold: TOML's whole numbers are signed.
fn draw_seed(world: &mut dyn World) -> Result<u64, EngineError> {
    let bits = world.random().map_err(EngineError::Random)?;
    let [a, b, c, d, e, f, g, h, ..] = bits;
    Ok(u64::from_le_bytes([a, b, c, d, e, f, g, h]) >> 1)
}

/// What of a machine is not as it was, in sentences. Its kernel and that one's command line are
/// what boots differ in.
fn changes(then: &Machine, now: &Machine, is_in_a_boot: bool) -> Vec<String> {
    let sentence = |what: &str, then: &Option<String>, now: &Option<String>| {
        let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
        let is_of_the_boot = is_in_a_boot && what.starts_with("kernel");
        (then != now && !is_of_the_boot).then(|| {
            format!(
                "the {what} was {} when the experiment began and is {} now",
                word(then),
                word(now)
            )
        })
    };
    // What follows the kind is measured anew each time.
    let kind = |stopwatch: &Option<String>| {
        let kind = stopwatch.as_deref()?.split(',').next()?;
        Some(kind.to_owned())
    };
    [
        sentence("kernel", &then.kernel, &now.kernel),
        sentence(
            "kernel's command line",
            &then.command_line,
            &now.command_line,
        ),
        sentence("processor", &then.cpu, &now.cpu),
        sentence("list of CPUs online", &then.cpus_online, &now.cpus_online),
        sentence("stopwatch", &kind(&then.stopwatch), &kind(&now.stopwatch)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
