//! The parameters of the workload for one treatment: the levels put in their places, the
//! placeholders filled in.

use thiserror::Error;

use super::templates::{self, Piece, TemplateError};
use super::{Experiment, FactorKind};
use crate::words::{Parameters, Treatment, Value};

/// Why a treatment has no parameters. Neither happens to a treatment of the experiment's own
/// plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParametersError {
    /// The treatment leaves a factor out.
    #[error("the treatment \"{treatment}\" has no level of {factor}: give it one")]
    NoLevel {
        /// The factor.
        factor: String,
        /// The treatment.
        treatment: String,
    },
    /// The level is none of the factor's.
    #[error("{factor} has no level \"{level}\" in this experiment: use one of its levels")]
    UnknownLevel {
        /// The factor.
        factor: String,
        /// The level.
        level: String,
    },
    /// A text is no template.
    #[error("the parameter {parameter} is no template: {error}")]
    Template {
        /// The parameter.
        parameter: String,
        /// Why.
        error: TemplateError,
    },
}

impl Experiment {
    /// The workload's parameters for a treatment.
    ///
    /// A level that is put into a word of a command stays in that word, spaces and all; in a
    /// text for `sh -c` it stands as it is.
    ///
    /// # Errors
    /// When the treatment is not one of this experiment.
    pub fn parameters_for(&self, treatment: &Treatment) -> Result<Parameters, ParametersError> {
        let mut parameters = self.workload.parameters.clone();
        for factor in &self.factors {
            if factor.kind != FactorKind::Parameter {
                continue;
            }
            let level = level_of(treatment, &factor.name)?;
            let value = factor
                .levels
                .iter()
                .position(|candidate| candidate == level)
                .and_then(|place| self.workload.varied.get(&factor.name)?.get(place))
                .ok_or_else(|| ParametersError::UnknownLevel {
                    factor: factor.name.clone(),
                    level: level.to_string(),
                })?;
            parameters.insert(factor.name.clone(), value.clone());
        }
        for name in &self.workload.templates {
            if let Some(value) = parameters.get_mut(name) {
                fill(value, name, treatment)?;
            }
        }
        Ok(parameters)
    }
}

fn level_of<'t>(
    treatment: &'t Treatment,
    factor: &str,
) -> Result<&'t crate::words::Level, ParametersError> {
    treatment
        .level(factor)
        .ok_or_else(|| ParametersError::NoLevel {
            factor: factor.to_owned(),
            treatment: treatment.to_string(),
        })
}

/// Fills the placeholders of every text in a value.
fn fill(value: &mut Value, parameter: &str, treatment: &Treatment) -> Result<(), ParametersError> {
    match value {
        Value::Text(text) => {
            let pieces = templates::pieces(text).map_err(|error| ParametersError::Template {
                parameter: parameter.to_owned(),
                error,
            })?;
            let mut filled = String::with_capacity(text.len());
            for piece in pieces {
                match piece {
                    Piece::Text(text) => filled.push_str(&text),
                    Piece::Placeholder(factor) => {
                        filled.push_str(&level_of(treatment, &factor)?.to_string());
                    }
                }
            }
            *text = filled;
        }
        Value::List(items) => {
            for item in items {
                fill(item, parameter, treatment)?;
            }
        }
        Value::Table(table) => {
            for item in table.values_mut() {
                fill(item, parameter, treatment)?;
            }
        }
        _ => {}
    }
    Ok(())
}
