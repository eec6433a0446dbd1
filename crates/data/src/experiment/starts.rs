//! The commands that an experiment starts, and what each needs for that, so that what a machine
//! lacks is found before any setting is touched.

use super::{Experiment, ParametersError};
use crate::messages::PlannedStart;
use crate::words::{Parameters, Treatment, Value};

/// What runs a command that is one text.
const SHELL: &str = "sh";

/// How a stream that is a file is written.
const FILE: &str = "file:";

impl Experiment {
    /// Every command that the workload starts in these treatments, each once, in the order in
    /// which it is first needed.
    ///
    /// # Errors
    /// When a treatment is not one of this experiment.
    pub fn starts<'t>(
        &self,
        treatments: impl IntoIterator<Item = &'t Treatment>,
    ) -> Result<Vec<PlannedStart>, ParametersError> {
        let mut starts: Vec<PlannedStart> = Vec::new();
        if self.workload.commands.is_empty() {
            return Ok(starts);
        }
        for treatment in treatments {
            let parameters = self.parameters_for(treatment)?;
            for start in self.starts_of(&parameters) {
                if !starts.contains(&start) {
                    starts.push(start);
                }
            }
        }
        Ok(starts)
    }

    fn starts_of(&self, parameters: &Parameters) -> Vec<PlannedStart> {
        let names = self.workload.commands.iter();
        names
            .filter_map(|name| start_of(name, parameters))
            .collect()
    }
}

fn start_of(name: &str, parameters: &Parameters) -> Option<PlannedStart> {
    let program = match parameters.get(name)? {
        _ if parameters.get("shell") == Some(&Value::Boolean(true)) => SHELL.to_owned(),
        Value::Text(_) => SHELL.to_owned(),
        Value::List(words) => text(words.first())?.to_owned(),
        _ => return None,
    };
    // The other commands are steps: on any CPU, with no input, and their output is kept.
    let is_measured = name == "command";
    let own = |key: &str| parameters.get(key).filter(|_| is_measured);
    let file = |key: &str| Some(text(own(key))?.strip_prefix(FILE)?.to_owned());
    let path = match parameters.get("environment") {
        Some(Value::Table(variables)) => text(variables.get("PATH")),
        _ => None,
    };
    Some(PlannedStart {
        program,
        working_directory: text(parameters.get("working_directory")).map(str::to_owned),
        path: path.map(str::to_owned),
        user: text(parameters.get("user")).map(str::to_owned),
        cpus: match own("cpus") {
            Some(Value::Cpus(cpus)) => Some(cpus.clone()),
            _ => None,
        },
        input: file("input"),
        output: file("output"),
        follows_steps: steps_before(name)
            .iter()
            .any(|step| parameters.contains_key(*step)),
    })
}

/// The steps that are done before a command of this name.
fn steps_before(name: &str) -> &'static [&'static str] {
    match name {
        "setup" => &[],
        "prepare" => &["setup"],
        _ => &["setup", "prepare"],
    }
}

fn text(value: Option<&Value>) -> Option<&str> {
    match value {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}
