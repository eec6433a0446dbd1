//! Reading a workload's parameters by name and kind.
//!
//! The experiment file was checked against the schema long before; a parameter of another kind
//! here means that the two sides of the seam disagree, and is an error in words, never a panic.

use std::time::Duration;

use knobstat_data::{CpuList, Parameters, Priority, Value};
use thiserror::Error;

/// A parameter that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the parameter \"{name}\" of the workload should be {expected}, but {found}")]
pub struct ParameterError {
    /// The parameter.
    pub name: String,
    /// What it should be.
    pub expected: String,
    /// What it is.
    pub found: String,
}

impl ParameterError {
    /// A parameter that is present and of another kind, or of an impossible value.
    pub fn unfit(name: &str, expected: impl Into<String>, found: &Value) -> Self {
        Self {
            name: name.to_owned(),
            expected: expected.into(),
            found: format!("it is {found}"),
        }
    }

    /// A parameter that has to be there.
    pub fn missing(name: &str, expected: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            expected: expected.into(),
            found: "it is missing".to_owned(),
        }
    }
}

macro_rules! readers {
    ($($(#[$doc:meta])* $name:ident: $pattern:pat => $value:expr, $type:ty, $expected:literal;)*) => {
        $($(#[$doc])*
        pub fn $name(parameters: &Parameters, name: &str) -> Result<Option<$type>, ParameterError> {
            match parameters.get(name) {
                None => Ok(None),
                Some($pattern) => Ok(Some($value)),
                Some(other) => Err(ParameterError::unfit(name, $expected, other)),
            }
        })*
    };
}

readers! {
    /// A truth value; absent where the parameter is.
    boolean: Value::Boolean(truth) => *truth, bool, "true or false";
    /// A whole number.
    integer: Value::Integer(whole) => *whole, i64, "a whole number";
    /// A text, or one word of a choice.
    text: Value::Text(text) => text.clone(), String, "a text";
    /// A stretch of time.
    duration: Value::Duration(duration) => *duration, Duration, "a duration";
    /// A number of bytes.
    size: Value::Size(size) => size.0, u64, "a size";
    /// A list of CPUs.
    cpus: Value::Cpus(cpus) => cpus.clone(), CpuList, "a list of CPUs";
    /// A scheduling priority.
    priority: Value::Priority(priority) => *priority, Priority, "a priority";
}

/// A list of whole numbers that fit `i32`.
pub fn integers(parameters: &Parameters, name: &str) -> Result<Option<Vec<i32>>, ParameterError> {
    let Some(value) = parameters.get(name) else {
        return Ok(None);
    };
    let unfit = || ParameterError::unfit(name, "a list of whole numbers", value);
    let Value::List(items) = value else {
        return Err(unfit());
    };
    items
        .iter()
        .map(|item| match item {
            Value::Integer(whole) => i32::try_from(*whole).map_err(|_| unfit()),
            _ => Err(unfit()),
        })
        .collect::<Result<_, _>>()
        .map(Some)
}

/// A table of texts, in the order of the names.
pub fn texts(
    parameters: &Parameters,
    name: &str,
) -> Result<Option<Vec<(String, String)>>, ParameterError> {
    let Some(value) = parameters.get(name) else {
        return Ok(None);
    };
    let unfit = || ParameterError::unfit(name, "a table of texts", value);
    let Value::Table(table) = value else {
        return Err(unfit());
    };
    table
        .iter()
        .map(|(key, item)| match item {
            Value::Text(text) => Ok((key.clone(), text.clone())),
            _ => Err(unfit()),
        })
        .collect::<Result<_, _>>()
        .map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(name: &str, value: Value) -> Parameters {
        Parameters::from([(name.to_owned(), value)])
    }

    #[test]
    fn what_is_absent_is_absent_and_what_is_of_another_kind_is_an_error() {
        assert_eq!(integer(&Parameters::new(), "flows"), Ok(None));
        let flows = parameters("flows", Value::Text("many".to_owned()));
        let error = integer(&flows, "flows").unwrap_err();
        assert!(error.to_string().contains("\"flows\""), "{error}");
    }

    #[test]
    fn exit_codes_that_fit_no_exit_code_are_an_error() {
        let codes = parameters(
            "allowed_exit",
            Value::List(vec![Value::Integer(0), Value::Integer(1 << 40)]),
        );
        assert!(integers(&codes, "allowed_exit").is_err());
    }
}
