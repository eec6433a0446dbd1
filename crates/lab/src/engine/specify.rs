//! From the plan to the machine: what one run needs, in the words of the seam.

use knobstat_data::Experiment;
use knobstat_data::messages::RunSpec;
use knobstat_data::words::{RunId, Setting, Treatment};

use super::error::EngineError;

/// What a run of a treatment needs.
pub(super) fn run_spec(
    experiment: &Experiment,
    run: &RunId,
    treatment: &Treatment,
    knobs_changed: bool,
) -> Result<RunSpec, EngineError> {
    Ok(RunSpec {
        run: run.clone(),
        workload: experiment.workload.kind.clone(),
        parameters: experiment.parameters_for(treatment)?,
        metrics: experiment.workload.metrics.clone(),
        knobs: experiment.knob_settings(treatment),
        settle: experiment.design.settle.before_run(knobs_changed),
        knobs_changed,
        cool_below: experiment.design.cool_below,
    })
}

/// The settings of a treatment that can be turned now; the others are those of the boot.
pub(super) fn turnable(experiment: &Experiment, treatment: &Treatment) -> Vec<Setting> {
    let mut settings = experiment.knob_settings(treatment);
    settings.retain(|setting| !is_of_the_boot(experiment, setting));
    settings
}

/// The settings of a treatment that only a boot brings about.
pub(super) fn of_the_boot(experiment: &Experiment, treatment: &Treatment) -> Vec<Setting> {
    let mut settings = experiment.knob_settings(treatment);
    settings.retain(|setting| is_of_the_boot(experiment, setting));
    settings
}

fn is_of_the_boot(experiment: &Experiment, setting: &Setting) -> bool {
    let scope = experiment.scope(&setting.factor);
    scope.is_some_and(|scope| scope.needs_boot())
}

/// Every setting that an experiment can want: what is fixed, and each level of each knob.
pub(super) fn wanted(experiment: &Experiment) -> Vec<Setting> {
    let of_factors = experiment
        .factors
        .iter()
        .filter(|factor| factor.kind.is_knob())
        .flat_map(|factor| {
            factor
                .levels
                .iter()
                .map(|level| Setting::new(&factor.name, level.clone()))
        });
    let held = experiment.fixed.iter().map(|fixed| fixed.setting.clone());
    held.chain(of_factors).collect()
}
