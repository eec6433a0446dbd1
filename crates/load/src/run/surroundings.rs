//! Where processes are started: directory, environment, users, and how a program is found.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use knobstat_data::ExperimentId;
use knobstat_sys::spawn::{self, Lookup, Prepared, Settings, find_program};
use knobstat_sys::user::User;

use super::environment::Environment;
use super::process::SIGNAL_OF_PARENTS_DEATH;
use super::{MARK, identity};
use crate::launch::{Command, Launch};

/// What is the same for every process of an experiment.
pub(super) struct Surroundings {
    /// The experiment that every process is marked with.
    pub(super) experiment: ExperimentId,
    /// What is inherited.
    pub(super) environment: Environment,
    /// The user behind `sudo`.
    pub(super) invoking: Option<User>,
    /// Where the harness is.
    pub(super) directory: PathBuf,
    /// This program.
    pub(super) itself: PathBuf,
}

impl Surroundings {
    /// Where and as whom the processes of a launch run.
    pub(super) fn place(&self, launch: &Launch) -> Result<Place, String> {
        let user = identity::resolve(&launch.identity, self.invoking.as_ref())?;
        let directory = match &launch.working_directory {
            Some(directory) => self.directory.join(directory),
            None => self.directory.clone(),
        };
        let mut environment = self.environment.clone();
        if let Some(user) = &user {
            environment.become_users(user);
        }
        for (name, value) in &launch.environment {
            environment.set(name, value);
        }
        environment.set(MARK, self.experiment.as_str());
        Ok(Place {
            is_here: user.is_none() && directory == self.directory,
            user,
            directory,
            environment,
        })
    }

    /// A command, ready to be started there.
    pub(super) fn prepare<'a>(
        &self,
        command: &Command,
        place: &Place,
        settings: Settings<'a>,
    ) -> Result<Prepared<'a>, String> {
        let (executable, name, arguments) = match command {
            Command::Itself { arguments } => {
                (self.itself.clone(), OsString::from("knobstat"), arguments)
            }
            Command::Program { name, arguments } => {
                let path = place.environment.get("PATH");
                let executable = match find_program(OsStr::new(name), path, &place.directory) {
                    Lookup::Found(path) => path,
                    Lookup::Missing => return Err(format!("there is no program {name}")),
                    Lookup::NotExecutable(path) => {
                        return Err(format!("{} is not executable", path.display()));
                    }
                    Lookup::NoInterpreter {
                        script,
                        interpreter,
                    } => {
                        return Err(format!(
                            "{} needs {}, which is not there",
                            script.display(),
                            interpreter.display()
                        ));
                    }
                };
                (executable, OsString::from(name), arguments)
            }
        };
        let arguments = std::iter::once(name)
            .chain(arguments.iter().map(OsString::from))
            .collect();
        let program = spawn::Program {
            executable,
            arguments,
            environment: place.environment.words(),
        };
        Prepared::new(program, settings).map_err(|error| error.to_string())
    }
}

/// Where and as whom a process runs.
pub(super) struct Place {
    pub(super) user: Option<User>,
    pub(super) directory: PathBuf,
    pub(super) environment: Environment,
    /// Whether a process is there without entering it, with the harness's own rights.
    is_here: bool,
}

impl Place {
    /// The settings that every process of an experiment has.
    pub(super) fn settings<'a>(&self) -> Settings<'a> {
        Settings {
            working_directory: (!self.is_here).then(|| self.directory.clone()),
            own_group: true,
            parent_death_signal: Some(SIGNAL_OF_PARENTS_DEATH),
            credentials: self.user.as_ref().map(|user| user.credentials.clone()),
            ..Settings::default()
        }
    }
}
