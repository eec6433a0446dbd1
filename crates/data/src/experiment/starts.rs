//! The programs that an experiment starts, so that a missing one is found before any setting is
//! touched.

use super::{Experiment, ParametersError};
use crate::messages::Program;
use crate::words::{Parameters, Treatment, Value};

/// What runs a command that is one text.
const SHELL: &str = "sh";

impl Experiment {
    /// Every program that the workload's commands start in these treatments, each once, in the
    /// order in which it is first needed.
    ///
    /// # Errors
    /// When a treatment is not one of this experiment.
    pub fn programs<'t>(
        &self,
        treatments: impl IntoIterator<Item = &'t Treatment>,
    ) -> Result<Vec<Program>, ParametersError> {
        let mut programs: Vec<Program> = Vec::new();
        if self.workload.commands.is_empty() {
            return Ok(programs);
        }
        for treatment in treatments {
            let parameters = self.parameters_for(treatment)?;
            for program in self.programs_of(&parameters) {
                if !programs.contains(&program) {
                    programs.push(program);
                }
            }
        }
        Ok(programs)
    }

    fn programs_of(&self, parameters: &Parameters) -> Vec<Program> {
        let working_directory = match parameters.get("working_directory") {
            Some(Value::Text(directory)) => Some(directory.clone()),
            _ => None,
        };
        let path = match parameters.get("environment") {
            Some(Value::Table(variables)) => match variables.get("PATH") {
                Some(Value::Text(path)) => Some(path.clone()),
                _ => None,
            },
            _ => None,
        };
        let shell = parameters.get("shell") == Some(&Value::Boolean(true));
        self.workload
            .commands
            .iter()
            .filter_map(|name| parameters.get(name))
            .filter_map(|command| match command {
                _ if shell => Some(SHELL.to_owned()),
                Value::Text(_) => Some(SHELL.to_owned()),
                Value::List(words) => match words.first() {
                    Some(Value::Text(program)) => Some(program.clone()),
                    _ => None,
                },
                _ => None,
            })
            .map(|name| Program {
                name,
                working_directory: working_directory.clone(),
                path: path.clone(),
            })
            .collect()
    }
}
