//! What root's rights are not lent to without being asked: settings outside the catalogue, and
//! commands of an experiment file. `kernel.core_pattern` is root's shell.
//!
//! A file that only root can write has been read by root; anything else needs a yes.

use std::fs::Metadata;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::MetadataExt;

use knobstat_data::Experiment;
use knobstat_data::experiment::TargetChoice;
use knobstat_sys::user;

use crate::output;
use crate::trouble::Trouble;

/// The names of settings that say where they are, and are in no catalogue.
const OUTSIDE: [&str; 3] = ["sysctl:", "sysfs:", "irq:"];

/// Write permission of the group and of others.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Whether only root can have written a file.
pub fn is_roots(file: &Metadata) -> bool {
    file.uid() == 0 && file.mode() & WRITABLE_BY_OTHERS == 0
}

/// Asks where turning the knobs of an experiment would lend root's rights to something that the
/// catalogue does not know. Settings of a laid-out tree are files of a tree, but commands are
/// commands everywhere.
///
/// # Errors
/// When the answer is no, or nobody is there to give one.
pub fn ask_to_turn(
    experiment: &Experiment,
    is_trusted: bool,
    laid_out: bool,
) -> Result<(), Trouble> {
    let mut unfamiliar = commands(experiment);
    if !laid_out {
        unfamiliar.extend(outside(experiment));
    }
    ask(experiment, &unfamiliar, is_trusted)
}

/// The same where knobs are only read: that runs their `get` commands.
///
/// # Errors
/// When the answer is no, or nobody is there to give one.
pub fn ask_to_look(experiment: &Experiment, is_trusted: bool) -> Result<(), Trouble> {
    ask(experiment, &commands(experiment), is_trusted)
}

fn ask(experiment: &Experiment, unfamiliar: &[String], is_trusted: bool) -> Result<(), Trouble> {
    let is_here = matches!(experiment.target, TargetChoice::Local);
    if is_trusted || !is_here || !user::is_root() || unfamiliar.is_empty() {
        return Ok(());
    }
    let list = unfamiliar.join(", ");
    if io::stdin().is_terminal() && io::stderr().is_terminal() && agrees(&list) {
        return Ok(());
    }
    Err(Trouble::request(
        format!("root's rights are asked for outside the catalogue of knobs: {list}"),
        "Read what it does, then give --yes, or let the experiment file be one that only root can write.",
    ))
}

/// Settings by their place.
fn outside(experiment: &Experiment) -> Vec<String> {
    let factors = experiment.factors.iter().map(|factor| &factor.name);
    let fixed = experiment.fixed.iter().map(|fixed| &fixed.setting.factor);
    factors
        .chain(fixed)
        .filter(|name| OUTSIDE.iter().any(|prefix| name.starts_with(prefix)))
        .cloned()
        .collect()
}

/// Commands of the file's own knobs.
fn commands(experiment: &Experiment) -> Vec<String> {
    experiment
        .own_knobs
        .iter()
        .map(|knob| format!("the commands of {} (`{}`)", knob.name, knob.set.join(" ")))
        .collect()
}

fn agrees(list: &str) -> bool {
    output::message(&format!(
        "knobstat: root's rights are asked for outside the catalogue of knobs: {list}"
    ));
    let mut error = io::stderr();
    // Nobody to ask is nobody to agree.
    if write!(error, "Go on? [y/N] ")
        .and_then(|()| error.flush())
        .is_err()
    {
        return false;
    }
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).is_ok()
        && ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str())
}
