//! Reboots of this machine for an experiment: the consent, how the program is started again
//! afterwards, and what is said of it.

use std::env;
use std::path::{Path, PathBuf};

use knobstat_data::Experiment;
use knobstat_data::experiment::TargetChoice;
use knobstat_data::messages::{BootLoader, MayReboot, Resume};
use knobstat_data::words::{ExperimentId, sha256};
use knobstat_lab::engine::{Ended, Finish};
use knobstat_lab::store::Store;
use knobstat_lab::target::Target;
use knobstat_lab::targets::Reboots;
use knobstat_sys::durable;
use knobstat_sys::root::Root;

use crate::arguments::{Global, How, RebootBy};
use crate::front;
use crate::output;
use crate::trouble::{Exit, Trouble};

/// Where systemd has units that an administrator wrote.
const UNITS: &str = "/etc/systemd/system";

/// The consent to reboot that was given, with what it takes to go on with an experiment of this
/// content.
///
/// # Errors
/// When the experiment runs on another machine, or the program was started by words that are no
/// text.
pub fn consent(
    how: &How,
    experiment: &Experiment,
    source: &str,
) -> Result<Option<Reboots>, Trouble> {
    let Some(by) = how.reboot else {
        return Ok(None);
    };
    if experiment.target != TargetChoice::Local {
        return Err(Trouble::request(
            "--reboot reboots this machine, and the experiment runs on another one",
            "Leave --reboot out: a guest is booted anew without it.",
        ));
    }
    let may = MayReboot {
        by: match by {
            RebootBy::Any => None,
            RebootBy::Grub => Some(BootLoader::Grub),
            RebootBy::SystemdBoot => Some(BootLoader::SystemdBoot),
            RebootBy::Kexec => Some(BootLoader::Kexec),
        },
    };
    let words = env::args_os()
        .skip(1)
        .map(std::ffi::OsString::into_string)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|word| no_text(&word.display().to_string()))?;
    let directory = env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let directory = directory
        .into_os_string()
        .into_string()
        .map_err(|directory| no_text(&directory.display().to_string()))?;
    Ok(Some(Reboots {
        may,
        resume: Resume {
            arguments: arguments(words, &sha256(source)),
            directory,
            environment: env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
        },
    }))
}

fn no_text(word: &str) -> Trouble {
    Trouble::request(
        format!("\"{word}\" is no text, and the program is started by it again after a reboot"),
        "Name files and directories in UTF-8.",
    )
}

/// The words by which the program is started again: it does not begin anew, what was agreed to is
/// agreed to, and what is not the same any more is not gone on with.
fn arguments(words: Vec<String>, content: &str) -> Vec<String> {
    let end = words.iter().position(|word| word == "--");
    let (ours, of_the_command) = words.split_at(end.unwrap_or(words.len()));
    let is_once = |word: &&String| !["--new", "--yes"].contains(&word.as_str());
    let mut arguments: Vec<String> = ours.iter().filter(is_once).cloned().collect();
    arguments.push("--yes".to_owned());
    arguments.push(format!("--unchanged={content}"));
    arguments.extend_from_slice(of_the_command);
    arguments
}

/// Refuses to go on with what is not what was agreed to.
///
/// # Errors
/// When the experiment has another content than it had.
pub fn refuse_another_content(how: &How, source: &str) -> Result<(), Trouble> {
    match &how.unchanged {
        Some(content) if *content != sha256(source) => Err(Trouble::request(
            "the experiment file was changed since the machine was rebooted for it",
            "Put it back as it was, or end the experiment's boots with `knobstat restore`.",
        )),
        _ => Ok(()),
    }
}

/// Refuses to reboot where what is needed afterwards would be gone.
///
/// # Errors
/// When the store or the file is in memory alone.
pub fn refuse_volatile_places(file: &Path, global: &Global) -> Result<(), Trouble> {
    if global.root.is_some() {
        return Ok(());
    }
    let store = front::store_path(global)?;
    let places = [
        ("the store", store.as_path()),
        ("the experiment file", file),
    ];
    for (what, path) in places {
        let is_named = !path.as_os_str().is_empty();
        if is_named && durable::is_in_memory(path) {
            return Err(Trouble::request(
                format!(
                    "{what} {} is in memory, which a reboot clears",
                    path.display()
                ),
                "Put it on a disk.",
            ));
        }
    }
    Ok(())
}

/// What is going to happen.
pub fn announcement(boots: usize) -> String {
    format!(
        "this machine will be rebooted at least {} times; whatever else runs on it ends each time \
         (`knobstat restore` ends the experiment's boots)",
        boots + 1
    )
}

/// Ends the boots of an experiment that was finished when the machine was rebooted last.
///
/// # Errors
/// When it was not finished, and is not to be found either.
pub fn conclude_finished(id: &str, target: &mut dyn Target, store: &Store) -> Result<u8, Trouble> {
    let lost = || {
        Trouble::request(
            format!("the experiment {id} that the machine was rebooted for is not in the store"),
            "Put the store back where it was, or end the experiment's boots with `knobstat restore`.",
        )
    };
    let known: ExperimentId = id.parse().map_err(|_| lost())?;
    let record = store.record(&known).map_err(|_| lost())?;
    if record.finished.is_none() {
        return Err(lost());
    }
    let sentences = target
        .end_boots()
        .map_err(|error| Trouble::new(Exit::NotPutBack, error.to_string(), ""))?;
    output::message(&format!("knobstat: experiment {id} is finished"));
    for sentence in sentences {
        output::message(&format!("knobstat: {sentence}"));
    }
    Ok(0)
}

/// Says what becomes of an experiment that is not done yet.
pub fn say_how_it_goes_on(ended: &Ended, root: &Root) {
    match ended.result {
        Ok(Finish::Suspended) if !root.exists(UNITS) => output::message(
            "knobstat: this machine has no systemd: have its init start `knobstat resume` at every boot.",
        ),
        Ok(Finish::Interrupted { .. }) => output::message(
            "knobstat: the next boot continues it as well; `knobstat restore` ends that.",
        ),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_started_again_by_what_was_agreed_to() {
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        assert_eq!(
            arguments(words("run --new a.toml --reboot=kexec"), "ab"),
            words("run a.toml --reboot=kexec --yes --unchanged=ab")
        );
        assert_eq!(
            arguments(
                words("try -k a=1,2 --yes --reboot -- make --new -- x"),
                "ab"
            ),
            words("try -k a=1,2 --reboot --yes --unchanged=ab -- make --new -- x")
        );
    }
}
