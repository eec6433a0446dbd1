//! What an experiment file may say, and what it is told when it says something else.

mod accepted;
mod broken;
mod canonical;
mod documentation;
mod fuzz;
mod treatments;
mod tried;
mod vocabulary;

use super::{Diagnostics, Experiment};

/// The experiment of a text under the vocabulary for tests.
fn parse(source: &str) -> Result<Experiment, Diagnostics> {
    Experiment::parse(source, "experiment.toml", &vocabulary::vocabulary())
}

/// The experiment of a text that is right.
fn right(source: &str) -> Experiment {
    parse(source).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}
