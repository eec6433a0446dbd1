//! `knobstat completions`: completions for a shell.

use clap::CommandFactory;

use crate::arguments::{Arguments, Completions};
use crate::output;
use crate::trouble::Trouble;

/// Prints the completions.
pub fn run(arguments: &Completions) -> Result<(), Trouble> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "knobstat",
        &mut script,
    );
    output::result(&String::from_utf8_lossy(&script))
}
