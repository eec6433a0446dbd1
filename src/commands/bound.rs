//! `knobstat bound`: another program in this process, which the kernel ends with its parent.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use knobstat_sys::parent;

use crate::arguments::Bound;
use crate::trouble::{Exit, Trouble};

/// Becomes the program; comes back only where it cannot.
pub fn run(arguments: &Bound) -> Result<ExitCode, Trouble> {
    let Some((program, words)) = arguments.command.split_first() else {
        return Err(Trouble::request("there is no program", "Name one."));
    };
    parent::end_with_parent(arguments.parent).map_err(|error| {
        Trouble::new(
            Exit::RunsFailed,
            format!("the process cannot be bound to its parent ({error})"),
            "Start it from the process that it shall end with.",
        )
    })?;
    let error = Command::new(program).args(words).exec();
    Err(Trouble::new(
        Exit::Missing,
        format!("{} cannot be started ({error})", program.display()),
        "Install it, or check its permissions.",
    ))
}
