//! How a built-in workload is started as a process, and how its result comes back.
//!
//! The process is `workload KIND PARAMETERS`: the parameters as JSON in one argument, the result
//! as one JSON object on standard output, `{"result": …}` or `{"error": "…"}`. It can be started
//! by hand in the same way.

use std::ffi::OsString;
use std::io::Write;

use knobstat_data::Parameters;
use knobstat_data::messages::RunSpec;
use knobstat_data::observation::Failure;
use serde_json::{Value, json};

use super::{Ended, find};
use crate::launch::{Command, Identity, Launch, Output};
use crate::parameters::ParameterError;

/// The hidden subcommand by which the program starts itself as a workload.
pub const SUBCOMMAND: &str = "workload";

/// The launch of the built-in workload that `spec` asks for, output captured.
///
/// # Errors
/// Parameters that cannot be written as JSON, such as a number that is not finite.
pub fn launch(spec: &RunSpec) -> Result<Launch, ParameterError> {
    let parameters = serde_json::to_string(&spec.parameters).map_err(|error| ParameterError {
        name: spec.workload.clone(),
        expected: "parameters that can be written down".to_owned(),
        found: error.to_string(),
    })?;
    let mut launch = Launch::new(Command::Itself {
        arguments: vec![SUBCOMMAND.to_owned(), spec.workload.clone(), parameters],
    });
    launch.output = Output::Captured;
    launch.identity = Identity::Harness;
    Ok(launch)
}

/// The result that a built-in workload printed.
///
/// # Errors
/// The reason that it gave for having none, or what is wrong with what it printed.
pub fn result(ended: &Ended) -> Result<Value, Failure> {
    let failure = |reason: String| Failure::Workload { reason };
    let printed = ended.stdout.as_ref().map_err(|why| failure(why.clone()))?;
    let mut object: Value = serde_json::from_slice(printed)
        .map_err(|error| failure(format!("its result cannot be read: {error}")))?;
    if let Some(reason) = reason(&object) {
        return Err(failure(reason));
    }
    match object.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => Err(failure("it printed no result".to_owned())),
    }
}

/// The reason that a built-in workload printed for having no result.
pub fn reason_for_failure(printed: &[u8]) -> Option<String> {
    reason(&serde_json::from_slice(printed).ok()?)
}

fn reason(object: &Value) -> Option<String> {
    Some(object.get("error")?.as_str()?.to_owned())
}

/// Does the work of the built-in workload that the arguments after the subcommand name, prints
/// its result, and returns the process's exit code: 0 done, 1 not done, 2 the arguments are wrong.
pub fn main(arguments: &[OsString]) -> u8 {
    let (printed, code) = match work(arguments) {
        Ok(Ok(result)) => (json!({ "result": result }), 0),
        Ok(Err(reason)) => (json!({ "error": reason }), 1),
        Err(usage) => (json!({ "error": usage }), 2),
    };
    let mut output = std::io::stdout().lock();
    match writeln!(output, "{printed}").and_then(|()| output.flush()) {
        Ok(()) => code,
        Err(_) => 1,
    }
}

/// The outer error is one of the arguments, the inner one of the work.
fn work(arguments: &[OsString]) -> Result<Result<Value, String>, String> {
    let [kind, parameters] = arguments else {
        return Err(format!(
            "{SUBCOMMAND} takes a kind and its parameters as JSON"
        ));
    };
    let work = kind
        .to_str()
        .and_then(find)
        .and_then(|workload| workload.work())
        .ok_or_else(|| format!("there is no built-in workload {kind:?}"))?;
    let parameters: Parameters = parameters
        .to_str()
        .ok_or("the parameters are not UTF-8".to_owned())
        .and_then(|text| serde_json::from_str(text).map_err(|error| error.to_string()))?;
    Ok(work(&parameters))
}

/// A run of a second that ended well and printed this.
#[cfg(test)]
pub(super) fn ended(stdout: &str) -> Ended {
    Ended {
        times: knobstat_data::observation::Times {
            stopwatch: "tsc".to_owned(),
            wall: std::time::Duration::from_secs(1),
            monotonic: std::time::Duration::from_secs(1),
            monotonic_raw: std::time::Duration::from_secs(1),
            boottime: std::time::Duration::from_secs(1),
            cpu: std::time::Duration::ZERO,
        },
        granularity: 1e-9,
        stdout: Ok(stdout.as_bytes().to_vec()),
        stderr: Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_and_a_reason_come_back_as_they_were_printed() {
        assert_eq!(
            result(&ended("{\"result\": {\"sent\": 3}}\n")),
            Ok(json!({ "sent": 3 }))
        );
        assert_eq!(
            result(&ended("{\"error\": \"no such interface\"}")),
            Err(Failure::Workload {
                reason: "no such interface".to_owned()
            })
        );
        assert!(result(&ended("")).is_err());
        assert!(result(&ended("{}")).is_err());
    }

    #[test]
    fn wrong_arguments_are_told_apart_from_work_that_failed() {
        assert!(work(&[]).is_err());
        assert!(work(&["nothing".into(), "{}".into()]).is_err());
        assert!(work(&["command".into(), "{}".into()]).is_err());
    }
}
