//! The parameters of a workload, read as its schema says. Levels of a factor that is a parameter
//! are read the same way.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::DeValue;

use super::{Reader, Section};
use crate::experiment::quantities::{self, Rate};
use crate::experiment::suggest;
use crate::experiment::templates::{self, TemplateError};
use crate::experiment::values::{self, Fault, quoted};
use crate::experiment::{commands, read::metrics};
use crate::vocabulary::{DefaultValue, ParameterKind, ParameterSchema};
use crate::words::Value;

/// Whether texts of this kind are templates with placeholders, where the workload has any.
pub fn is_template(kind: ParameterKind) -> bool {
    matches!(
        kind,
        ParameterKind::Text
            | ParameterKind::Command
            | ParameterKind::Environment
            | ParameterKind::Stream
    )
}

/// A value checked against its parameter's kind; faults are recorded. `shell` tells whether
/// commands are kept whole.
pub fn read_value(
    reader: &mut Reader<'_>,
    subject: &str,
    kind: ParameterKind,
    value: &DeValue<'_>,
    span: &Range<usize>,
    shell: bool,
) -> Option<Value> {
    let result = match kind {
        ParameterKind::Boolean => values::boolean(value).map(Value::Boolean),
        ParameterKind::Integer(least, most) => {
            values::whole(value, least, most).map(Value::Integer)
        }
        ParameterKind::IntegerNotYet(least, most, later) => values::whole(value, least, later)
            .and_then(|number| {
                if number <= most {
                    Ok(Value::Integer(number))
                } else {
                    Err(Fault::not_yet(
                        &format!("more than {most}"),
                        format!("the most that can be had now is {most}"),
                    ))
                }
            }),
        ParameterKind::Duration => quantities::positive_duration(value).map(Value::Duration),
        ParameterKind::Size(least, most) => quantities::size(value, least, most).map(Value::Size),
        ParameterKind::Rate => quantities::rate(value).map(|rate| match rate {
            Rate::Packets(packets) => Value::PacketRate(packets),
            Rate::Bits(bits) => Value::BitRate(bits),
        }),
        ParameterKind::Choice(words) => {
            values::word(value, words, &[]).map(|word| Value::Text(word.to_owned()))
        }
        ParameterKind::ChoiceOrNamed(words, key) => named_or_choice(value, words, key),
        ParameterKind::ChoiceNotYet(words, later) => choice(value, words, later),
        ParameterKind::Text => values::line(value).map(Value::Text),
        ParameterKind::Command => return command(reader, subject, value, span, shell),
        ParameterKind::Environment => return environment(reader, subject, value, span),
        ParameterKind::Cpus => cpus(value),
        ParameterKind::Priority => priority(value),
        ParameterKind::Integers(least, most) => {
            return integers(reader, subject, value, span, least, most);
        }
        ParameterKind::Stream => stream(value),
        ParameterKind::Metrics => {
            return metrics::read_table(reader, subject, value, span).map(Value::Table);
        }
    };
    reader.check(subject, span, result)
}

/// A parameter's default; nothing where it has none.
pub fn default_value(
    reader: &mut Reader<'_>,
    parameter: &ParameterSchema,
    span: &Range<usize>,
) -> Option<Value> {
    let DefaultValue::Written(written) = parameter.default else {
        return None;
    };
    let mut apart = Reader::new(written);
    let value = DeValue::parse(written).ok().and_then(|value| {
        let (subject, span) = (quoted(parameter.name), value.span());
        let kind = parameter.kind;
        read_value(&mut apart, &subject, kind, value.get_ref(), &span, false)
    });
    if value.is_none() {
        let fault = Fault::new(
            format!(
                "has the default {}, which is not one of its values",
                quoted(written)
            ),
            "in this workload",
            "this is a fault of knobstat itself: give the parameter in the file, and report it",
        );
        reader.fault(&quoted(parameter.name), span, fault);
    }
    value
}

/// Records a fault for every text in a value that is no template, and returns the names in its
/// placeholders.
pub fn placeholders(
    reader: &mut Reader<'_>,
    subject: &str,
    value: &Value,
    span: &Range<usize>,
) -> Vec<String> {
    match value {
        Value::Text(text) => match templates::names(text) {
            Ok(names) => names,
            Err(error) => {
                let fault = Fault::new(
                    format!("is not a template: {error}"),
                    "in here",
                    "write {factor} for a factor's level, and {{ or }} for a brace",
                );
                let place = match &error {
                    TemplateError::NoName(name) => reader.locate(span, &format!("{{{name}}}")),
                    TemplateError::Unclosed | TemplateError::Unopened => reader.locate(span, text),
                };
                reader.fault(subject, &place, fault);
                Vec::new()
            }
        },
        Value::List(items) => items
            .iter()
            .flat_map(|item| placeholders(reader, subject, item, span))
            .collect(),
        Value::Table(table) => table
            .values()
            .flat_map(|item| placeholders(reader, subject, item, span))
            .collect(),
        _ => Vec::new(),
    }
}

/// The words of a command, given as a text or as a list.
pub fn command_words(
    reader: &mut Reader<'_>,
    subject: &str,
    value: &DeValue<'_>,
    span: &Range<usize>,
) -> Option<Vec<String>> {
    if let DeValue::Array(list) = value {
        let mut words = Vec::with_capacity(list.len());
        for word in list.iter() {
            let read = values::text(word.get_ref());
            words.push(reader.check(&format!("a word of {subject}"), &word.span(), read));
        }
        if words.is_empty() {
            let fault = Fault::new("is empty", "no program", "name a program and its arguments");
            reader.fault(subject, span, fault);
            return None;
        }
        return words.into_iter().collect();
    }
    let text = reader.check(subject, span, values::text(value))?;
    match commands::split(&text) {
        Ok(words) => Some(words),
        Err(error) => {
            // The place within the text, where the file has the text letter by letter.
            let whole = reader.locate(span, &text);
            let place = match error.span() {
                Some(part) if whole.len() == text.len() => {
                    whole.start + part.start..whole.start + part.end
                }
                _ => span.clone(),
            };
            let fault = Fault::new(error.to_string(), "here", error.remedy());
            reader.fault(subject, &place, fault);
            None
        }
    }
}

fn command(
    reader: &mut Reader<'_>,
    subject: &str,
    value: &DeValue<'_>,
    span: &Range<usize>,
    shell: bool,
) -> Option<Value> {
    if shell && let DeValue::String(_) = value {
        let text = reader.check(subject, span, values::text(value))?;
        if text.trim().is_empty() {
            let fault = Fault::new("is empty", "no command", "write what `sh -c` is to run");
            reader.fault(subject, span, fault);
            return None;
        }
        return Some(Value::Text(text));
    }
    let words = command_words(reader, subject, value, span)?;
    if words.first().is_some_and(String::is_empty) {
        let fault = Fault::new(
            "begins with an empty word",
            "no program",
            "name a program first",
        );
        reader.fault(subject, span, fault);
        return None;
    }
    Some(Value::List(words.into_iter().map(Value::Text).collect()))
}

fn named_or_choice(value: &DeValue<'_>, words: &[&str], key: &str) -> Result<Value, Fault> {
    let DeValue::Table(table) = value else {
        return values::word(value, words, &[]).map(|word| Value::Text(word.to_owned()));
    };
    let mut entries = table.iter();
    if let (Some((name, text)), None) = (entries.next(), entries.next())
        && name.get_ref() == key
    {
        let text = values::line(text.get_ref())?;
        return Ok(Value::Table([(key.to_owned(), Value::Text(text))].into()));
    }
    Err(Fault::new(
        format!("must be a table of the one key `{key}`"),
        "another table",
        format!(
            "write {{ {key} = \"…\" }}, or choose among {}",
            suggest::listed(words.iter().copied())
        ),
    ))
}

fn choice(value: &DeValue<'_>, words: &[&str], later: &[&str]) -> Result<Value, Fault> {
    if let DeValue::Table(_) = value {
        return Err(Fault::not_yet(
            "a table of its own",
            format!("choose among {}", suggest::listed(words.iter().copied())),
        ));
    }
    values::word(value, words, later).map(|word| Value::Text(word.to_owned()))
}

fn environment(
    reader: &mut Reader<'_>,
    subject: &str,
    value: &DeValue<'_>,
    span: &Range<usize>,
) -> Option<Value> {
    let DeValue::Table(table) = value else {
        let fault = Fault::new(
            "must be a table of texts",
            format!("this is {}", values::describe(value)),
            "write { NAME = \"value\" }",
        );
        reader.fault(subject, span, fault);
        return None;
    };
    let mut variables = BTreeMap::new();
    for entry in &Section::new(subject, span.clone(), table).entries {
        if entry.name.is_empty() || entry.name.contains(['=', '\0']) {
            let fault = Fault::new(
                "cannot name a variable",
                "empty, or with `=` in it",
                "choose another name",
            );
            reader.fault(&entry.subject(), &entry.name_span, fault);
            continue;
        }
        if let Some(text) = reader.check(&entry.subject(), &entry.span, values::text(entry.value)) {
            variables.insert(entry.name.to_owned(), Value::Text(text));
        }
    }
    Some(Value::Table(variables))
}

fn cpus(value: &DeValue<'_>) -> Result<Value, Fault> {
    let text = match value {
        DeValue::Integer(_) => values::whole(value, 0, i64::from(u32::MAX))?.to_string(),
        other => values::text(other)?,
    };
    text.parse().map(Value::Cpus).map_err(|_| {
        Fault::new(
            "must be a list of CPUs",
            "not a list of CPUs",
            "write CPU numbers and ranges, as in \"1\" or \"0,2-5\"",
        )
    })
}

fn priority(value: &DeValue<'_>) -> Result<Value, Fault> {
    values::text(value)?
        .parse()
        .map(Value::Priority)
        .map_err(|_| {
            Fault::new(
                "must be a priority",
                "not a priority",
                "write \"nice:N\" (-20 to 19) or \"fifo:N\" (1 to 99)",
            )
        })
}

fn integers(
    reader: &mut Reader<'_>,
    subject: &str,
    value: &DeValue<'_>,
    span: &Range<usize>,
    least: i64,
    most: i64,
) -> Option<Value> {
    let DeValue::Array(list) = value else {
        let fault = Fault::new(
            "must be a list of whole numbers",
            format!("this is {}", values::describe(value)),
            "write them in brackets, as in [0, 1]",
        );
        reader.fault(subject, span, fault);
        return None;
    };
    if list.is_empty() {
        let fault = Fault::new(
            "must not be empty",
            "nothing is in it",
            "write at least one number, or leave the key out",
        );
        reader.fault(subject, span, fault);
        return None;
    }
    let mut numbers = Vec::with_capacity(list.len());
    for member in list.iter() {
        let read = values::whole(member.get_ref(), least, most).map(Value::Integer);
        numbers.push(reader.check(&format!("a member of {subject}"), &member.span(), read));
    }
    numbers
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .map(Value::List)
}

fn stream(value: &DeValue<'_>) -> Result<Value, Fault> {
    let text = values::line(value)?;
    let file = text
        .strip_prefix("file:")
        .is_some_and(|path| !path.is_empty());
    if file || matches!(text.as_str(), "null" | "inherit") {
        return Ok(Value::Text(text));
    }
    Err(Fault::new(
        format!("cannot be {}", quoted(&text)),
        "neither a file nor a known word",
        match suggest::nearest(&text, ["null", "inherit"]) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "write \"null\", \"inherit\" or \"file:PATH\"".to_owned(),
        },
    ))
}
