//! `knobstat try`: an experiment without a file.

use std::path::Path;

use knobstat_data::Experiment;
use knobstat_data::experiment::{TryError, TryRequest};

use super::run;
use crate::arguments::{Global, Try};
use crate::confirm;
use crate::front;
use crate::output;
use crate::trouble::Trouble;
use crate::vocabulary::vocabulary;

/// Makes the experiment that the command line asks for and does with it what is asked.
pub fn run(arguments: &Try, global: &Global) -> Result<u8, Trouble> {
    let request = request(arguments);
    let vocabulary = vocabulary(&front::root(global)?);
    let (experiment, source) =
        Experiment::from_try(&request, &vocabulary).map_err(|error| match error {
            TryError::Experiment(diagnostics) => {
                Trouble::request(diagnostics.render(output::colour_of_messages()), "")
            }
            other => Trouble::request(other.to_string(), ""),
        })?;
    if arguments.check {
        confirm::ask_to_look(&experiment, false)?;
        return run::check(experiment, source, Path::new(""), &arguments.how, global);
    }
    confirm::ask_to_turn(&experiment, arguments.how.yes, global.root.is_some())?;
    run::carry_out(experiment, source, Path::new(""), &arguments.how, global)
}

fn request(arguments: &Try) -> TryRequest {
    let steps = &arguments.steps;
    TryRequest {
        name: arguments.name.clone(),
        factors: arguments.factors.clone(),
        replicates: Some(arguments.replicates),
        seed: arguments.seed,
        cpus: arguments.cpus.clone(),
        shell: arguments.shell,
        warmup_runs: arguments.warmup,
        setup: steps.setup.clone(),
        prepare: steps.prepare.clone(),
        cleanup: steps.cleanup.clone(),
        teardown: steps.teardown.clone(),
        timeout: arguments.timeout.clone(),
        allowed_exit: arguments.allowed_exit.clone(),
        margin: arguments.margin.clone(),
        command: arguments.command.clone(),
    }
}
