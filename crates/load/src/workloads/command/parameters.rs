//! From a command's parameters to its launch.

use knobstat_data::{Parameters, Value};

use crate::launch::{Command, Identity, Launch, Output, Stream};
use crate::parameters::{self, ParameterError};

/// What is to be started for these parameters.
pub(super) fn launch(parameters: &Parameters) -> Result<Launch, ParameterError> {
    let command = command(parameters, "command")?
        .ok_or_else(|| ParameterError::missing("command", "a command"))?;
    let mut launch = Launch::new(command);
    launch.prepare = self::command(parameters, "prepare")?;
    launch.cleanup = self::command(parameters, "cleanup")?;
    launch.set_up = self::command(parameters, "setup")?;
    launch.tear_down = self::command(parameters, "teardown")?;
    launch.working_directory = parameters::text(parameters, "working_directory")?;
    launch.environment = environment(parameters)?;
    launch.cpus = parameters::cpus(parameters, "cpus")?;
    launch.priority = parameters::priority(parameters, "priority")?;
    if let Some(user) = parameters::text(parameters, "user")? {
        launch.identity = Identity::Named(user);
    }
    launch.timeout = parameters::duration(parameters, "timeout")?;
    if let Some(codes) = parameters::integers(parameters, "allowed_exit")? {
        launch.allowed_exit = codes;
    }
    launch.input = stream(parameters, "input")?;
    launch.output = output(parameters)?;
    Ok(launch)
}

/// A command or a step: words are a program and its arguments; a whole text is a shell's.
fn command(parameters: &Parameters, name: &str) -> Result<Option<Command>, ParameterError> {
    let Some(value) = parameters.get(name) else {
        return Ok(None);
    };
    let unfit = || ParameterError::unfit(name, "a command", value);
    let words: Vec<String> = match value {
        Value::Text(line) => return Ok(Some(through_shell([line.clone()]))),
        Value::List(items) => items
            .iter()
            .map(|item| match item {
                Value::Text(word) => Ok(word.clone()),
                _ => Err(unfit()),
            })
            .collect::<Result<_, _>>()?,
        _ => return Err(unfit()),
    };
    if words.iter().any(|word| word.contains('\0')) {
        return Err(ParameterError::unfit(
            name,
            "a command without zero bytes",
            value,
        ));
    }
    let mut words = words.into_iter();
    let first = words.next().filter(|word| !word.is_empty());
    let first = first.ok_or_else(unfit)?;
    if parameters::boolean(parameters, "shell")? == Some(true) {
        return Ok(Some(through_shell(std::iter::once(first).chain(words))));
    }
    Ok(Some(Command::Program {
        name: first,
        arguments: words.collect(),
    }))
}

/// `sh -c LINE`; further words become the line's `$1`, `$2`, ….
fn through_shell(words: impl IntoIterator<Item = String>) -> Command {
    let mut words = words.into_iter();
    let mut arguments = vec!["-c".to_owned()];
    arguments.extend(words.next());
    let mut words = words.peekable();
    if words.peek().is_some() {
        arguments.push("sh".to_owned());
        arguments.extend(words);
    }
    Command::Program {
        name: "sh".to_owned(),
        arguments,
    }
}

fn environment(parameters: &Parameters) -> Result<Vec<(String, String)>, ParameterError> {
    let variables = parameters::texts(parameters, "environment")?.unwrap_or_default();
    for (name, value) in &variables {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(ParameterError {
                name: "environment".to_owned(),
                expected: "names without \"=\" and values without zero bytes".to_owned(),
                found: format!("it has {name:?} = {value:?}"),
            });
        }
    }
    Ok(variables)
}

fn stream(parameters: &Parameters, name: &str) -> Result<Stream, ParameterError> {
    let Some(text) = parameters::text(parameters, name)? else {
        return Ok(Stream::Null);
    };
    match text.as_str() {
        "null" => Ok(Stream::Null),
        "inherit" => Ok(Stream::Inherit),
        other => match other.strip_prefix("file:") {
            Some(path) if !path.is_empty() && !path.contains('\0') => {
                Ok(Stream::File(path.to_owned()))
            }
            _ => Err(ParameterError::unfit(
                name,
                "\"null\", \"file:PATH\" or \"inherit\"",
                &Value::Text(text),
            )),
        },
    }
}

/// Where a metric is read from the output, the output has to be something that can be read.
fn output(parameters: &Parameters) -> Result<Output, ParameterError> {
    let output = stream(parameters, "output")?;
    let read = match parameters.get("metrics") {
        Some(Value::Table(metrics)) => !metrics.is_empty(),
        _ => false,
    };
    match output {
        output if !read => Ok(Output::Stream(output)),
        Stream::Null => Ok(Output::Captured),
        Stream::File(path) => Ok(Output::ReadFile(path)),
        Stream::Inherit => Err(ParameterError {
            name: "output".to_owned(),
            expected: "\"null\" or \"file:PATH\" where a metric is read from the output".to_owned(),
            found: "it is \"inherit\"".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use knobstat_data::Priority;

    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn words(words: &[&str]) -> Value {
        Value::List(words.iter().copied().map(text).collect())
    }

    fn with(pairs: &[(&str, Value)]) -> Parameters {
        let mut parameters = Parameters::from([("command".to_owned(), words(&["true"]))]);
        for (name, value) in pairs {
            parameters.insert((*name).to_owned(), value.clone());
        }
        parameters
    }

    #[test]
    fn every_key_reaches_the_launch() {
        let launch = launch(&with(&[
            ("command", words(&["make", "-j2"])),
            ("prepare", words(&["make", "clean"])),
            ("cleanup", words(&["rm", "log"])),
            ("setup", words(&["tar", "xf", "source"])),
            ("teardown", words(&["rm", "-r", "source"])),
            ("working_directory", text("/srv")),
            (
                "environment",
                Value::Table(BTreeMap::from([("LANG".to_owned(), text("C"))])),
            ),
            ("cpus", Value::Cpus("2-5".parse().unwrap())),
            ("priority", Value::Priority(Priority::Nice(-5))),
            ("user", text("nobody")),
            ("timeout", Value::Duration(Duration::from_secs(9))),
            ("allowed_exit", Value::List(vec![Value::Integer(3)])),
            ("input", text("file:/etc/hostname")),
            ("output", text("inherit")),
        ]))
        .unwrap();
        let program = |name: &str, arguments: &[&str]| Command::Program {
            name: name.to_owned(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        };
        assert_eq!(
            launch,
            Launch {
                command: program("make", &["-j2"]),
                working_directory: Some("/srv".to_owned()),
                environment: vec![("LANG".to_owned(), "C".to_owned())],
                cpus: Some("2-5".parse().unwrap()),
                priority: Some(Priority::Nice(-5)),
                identity: Identity::Named("nobody".to_owned()),
                timeout: Some(Duration::from_secs(9)),
                allowed_exit: vec![3],
                input: Stream::File("/etc/hostname".to_owned()),
                output: Output::Stream(Stream::Inherit),
                set_up: Some(program("tar", &["xf", "source"])),
                prepare: Some(program("make", &["clean"])),
                cleanup: Some(program("rm", &["log"])),
                tear_down: Some(program("rm", &["-r", "source"])),
            }
        );
    }

    #[test]
    fn a_shell_line_goes_to_a_shell_and_nothing_else_does() {
        let shell = [
            ("shell", Value::Boolean(true)),
            ("command", text("a | b")),
            ("prepare", words(&["echo \"$1\"", "c d"])),
        ];
        let launch = launch(&with(&shell)).unwrap();
        let sh = |arguments: &[&str]| Command::Program {
            name: "sh".to_owned(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        };
        assert_eq!(launch.command, sh(&["-c", "a | b"]));
        assert_eq!(
            launch.prepare,
            Some(sh(&["-c", "echo \"$1\"", "sh", "c d"]))
        );
    }

    #[test]
    fn output_that_metrics_are_read_from_is_kept() {
        let metrics = Value::Table(BTreeMap::from([(
            "speed".to_owned(),
            Value::Table(BTreeMap::from([("regex".to_owned(), text("(\\d+)"))])),
        )]));
        let output = |sink: &str| {
            launch(&with(&[
                ("metrics", metrics.clone()),
                ("output", text(sink)),
            ]))
            .map(|launch| launch.output)
        };
        assert_eq!(output("null"), Ok(Output::Captured));
        assert_eq!(output("file:log"), Ok(Output::ReadFile("log".to_owned())));
        assert!(output("inherit").is_err());
    }

    #[test]
    fn what_no_process_can_be_made_of_is_refused() {
        for (name, value) in [
            ("command", words(&[])),
            ("command", words(&[""])),
            ("command", words(&["a\0b"])),
            ("command", Value::Integer(3)),
            ("prepare", Value::List(vec![Value::Integer(3)])),
            ("input", text("pipe")),
            ("output", text("file:")),
            (
                "environment",
                Value::Table(BTreeMap::from([("A=B".to_owned(), text("c"))])),
            ),
        ] {
            let error = launch(&with(&[(name, value.clone())])).unwrap_err();
            assert_eq!(error.name, name, "{value:?}");
        }
        assert!(launch(&Parameters::new()).is_err());
    }
}
