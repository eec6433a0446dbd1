//! `[factors]`: what varies.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

use super::names::{Names, in_closed_list};
use super::parameters::{is_template, placeholders, read_value};
use super::section::members;
use super::workload::ReadWorkload;
use super::{Entry, Reader, Section};
use crate::experiment::suggest;
use crate::experiment::toml_text::{toml_key, toml_level};
use crate::experiment::values::{self, Fault, quoted};
use crate::experiment::{Factor, FactorKind};
use crate::vocabulary::ParameterSchema;
use crate::words::{Level, Value};

/// The most treatments that a factorial may have: each is kept in the plan.
pub const MOST_TREATMENTS: usize = 100_000;

/// A factor, as far as it could be read.
pub struct ReadFactor {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub span: Range<usize>,
    /// Where its levels go; absent where the name is unknown.
    pub kind: Option<FactorKind>,
    /// Its levels; absent where one of them is faulty.
    pub levels: Option<Vec<Level>>,
    /// The values of its levels, where it is a parameter.
    pub values: Option<Vec<Value>>,
}

/// Reads `[factors]`.
pub fn read(reader: &mut Reader<'_>, file: &Section<'_>, names: &Names<'_>) -> Vec<ReadFactor> {
    let example = "a table [factors] with what varies, as in `turbo = [\"on\", \"off\"]`";
    let Some(entry) = file.entry("factors") else {
        file.missing(reader, "factors", example);
        return Vec::new();
    };
    let Some(section) = Section::of_entry(reader, entry, "[factors]") else {
        return Vec::new();
    };
    if section.entries.is_empty() && !reader.broken {
        let fault = Fault::new(
            "has no factor",
            "nothing varies",
            format!("write {example}"),
        );
        reader.fault("[factors]", &entry.name_span, fault);
    }
    let factors: Vec<ReadFactor> = section
        .entries
        .iter()
        .map(|entry| read_one(reader, entry, names))
        .collect();
    let treatments = factors
        .iter()
        .map(|factor| factor.levels.as_ref().map_or(1, Vec::len))
        .try_fold(1_usize, usize::checked_mul);
    if treatments.is_none_or(|count| count > MOST_TREATMENTS) {
        let count = treatments.map_or("far too many".to_owned(), |count| count.to_string());
        let fault = Fault::new(
            format!(
                "combine to {count} treatments, more than the {MOST_TREATMENTS} that can be planned"
            ),
            "too many combinations",
            "leave out factors or levels, or split the experiment",
        );
        reader.fault("the factors", &entry.name_span, fault);
    }
    factors
}

fn read_one(reader: &mut Reader<'_>, entry: &Entry<'_>, names: &Names<'_>) -> ReadFactor {
    let name = entry.name;
    let mut factor = ReadFactor {
        name: name.to_owned(),
        span: entry.name_span.clone(),
        kind: None,
        levels: None,
        values: None,
    };
    let mut closed_list = None;
    let mut parameter = None;
    let problem = match names.knob(name) {
        Some(Ok((scope, levels))) => {
            factor.kind = Some(FactorKind::Knob(scope));
            closed_list = levels;
            None
        }
        Some(Err(fault)) => Some(fault),
        None => match names.parameter(name) {
            Some(schema) if schema.factor => {
                factor.kind = Some(FactorKind::Parameter);
                parameter = Some(schema);
                None
            }
            Some(_) => Some(Fault::new(
                "is a parameter of the workload that cannot vary",
                "not a factor",
                "give it one value in [workload]",
            )),
            None if names.is_placeholder(name) => {
                factor.kind = Some(FactorKind::Placeholder);
                None
            }
            // Without a workload nothing can be said of a name that is no knob.
            None if names.workload.schema.is_none() => None,
            None if matches!(entry.value, DeValue::Table(_)) => Some(Fault::new(
                "is a table, not a list of levels",
                "a name with dots or colons needs quotes",
                "put the whole name in quotes, as in \"sysctl:vm.swappiness\" = [10, 60]",
            )),
            None => Some(Fault::new(
                "is not a factor",
                "neither a knob nor a parameter of the workload",
                names.remedy(name),
            )),
        },
    };
    if let Some(fault) = problem {
        reader.fault(&quoted(name), &entry.name_span, fault);
        if matches!(entry.value, DeValue::Table(_)) {
            return factor;
        }
    }
    if let (Some(FactorKind::Parameter), Some(given)) =
        (factor.kind, names.workload.given.get(name))
    {
        let fault = Fault::new(
            "both varies and has one value",
            "it varies here",
            "take it out of [workload] or of [factors]",
        );
        let context = vec![(given.clone(), "and is given here".to_owned())];
        reader.fault_with(&quoted(name), &entry.name_span, fault, context);
    }
    let Some(list) = members(reader, entry, "[\"a\", \"b\"]") else {
        return factor;
    };
    factor.levels = levels(reader, entry, list, closed_list);
    if let Some(levels) = factor.levels.as_ref().filter(|_| list.len() < 2) {
        refuse_too_few(reader, entry, factor.kind, levels);
    }
    if let Some(schema) = parameter {
        factor.values = parameter_values(reader, entry, list, schema, names.workload);
    }
    factor
}

/// The levels of a list, each a single value, one of the closed list where there is one, none
/// twice.
fn levels(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    list: &[Spanned<DeValue<'_>>],
    closed_list: Option<&[String]>,
) -> Option<Vec<Level>> {
    let subject = format!("a level of {}", quoted(entry.name));
    let mut levels: Vec<(Level, Range<usize>)> = Vec::with_capacity(list.len());
    let mut places: BTreeMap<String, Range<usize>> = BTreeMap::new();
    let mut sound = true;
    for member in list {
        let span = member.span();
        let read =
            values::level(member.get_ref()).and_then(|level| in_closed_list(level, closed_list));
        let Some(level) = reader.check(&subject, &span, read) else {
            sound = false;
            continue;
        };
        if let Some(first) = places.get(&level.to_string()) {
            let fault = Fault::new(
                format!("stands there twice: {}", quoted(&level.to_string())),
                "the same level again",
                "leave one of them out",
            );
            let context = vec![(first.clone(), "first here".to_owned())];
            reader.fault_with(&subject, &span, fault, context);
            continue;
        }
        places.insert(level.to_string(), span.clone());
        levels.push((level, span));
    }
    sound.then(|| levels.into_iter().map(|(level, _)| level).collect())
}

/// A factor with fewer than two levels does not vary.
fn refuse_too_few(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    kind: Option<FactorKind>,
    levels: &[Level],
) {
    let fault = match levels {
        [] => Fault::new(
            "has no level",
            "the list is empty",
            "give it two levels or more, or take it out of [factors]",
        ),
        [only] => {
            let elsewhere = match kind {
                Some(FactorKind::Parameter) => "give it one value in [workload]".to_owned(),
                Some(FactorKind::Placeholder) => "write the level into the command".to_owned(),
                _ => format!(
                    "move it to [fixed] (`{} = {}`)",
                    toml_key(entry.name),
                    toml_level(only)
                ),
            };
            Fault::new(
                "has one level and so does not vary",
                "only one level",
                format!("{elsewhere}, or give it a second level"),
            )
        }
        _ => return,
    };
    reader.fault(&quoted(entry.name), &entry.span, fault);
}

/// The levels of a factor that is a parameter, as its values. Two levels may be written
/// differently and be the same (`"4KiB"` and 4096): that is a fault as well.
fn parameter_values(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    list: &[Spanned<DeValue<'_>>],
    schema: &ParameterSchema,
    workload: &ReadWorkload<'_>,
) -> Option<Vec<Value>> {
    let subject = format!("a level of {}", quoted(entry.name));
    let mut read: Vec<Value> = Vec::with_capacity(list.len());
    let mut texts: Vec<String> = Vec::new();
    let mut sound = true;
    for member in list {
        let span = member.span();
        let Ok(level) = values::level(member.get_ref()) else {
            return None;
        };
        let value = read_value(
            reader,
            &subject,
            schema.kind,
            member.get_ref(),
            &span,
            workload.shell,
        );
        let Some(value) = value else {
            sound = false;
            continue;
        };
        let text = level.to_string();
        if let Some(same) = read.iter().position(|other| *other == value)
            && texts[same] != text
        {
            let fault = Fault::new(
                format!(
                    "stands there twice: {} is {}",
                    quoted(&text),
                    quoted(&texts[same])
                ),
                "the same level again",
                "leave one of them out",
            );
            reader.fault(&subject, &span, fault);
        }
        if workload.schema.is_some_and(|schema| schema.placeholders) && is_template(schema.kind) {
            // A command may vary and hold other factors, but no level can hold itself.
            if placeholders(reader, &subject, &value, &span).contains(&entry.name.to_owned()) {
                let fault = Fault::new(
                    "holds its own placeholder",
                    "here",
                    "write {{ and }} for braces, or name another factor",
                );
                reader.fault(&subject, &span, fault);
            }
        }
        texts.push(text);
        read.push(value);
    }
    sound.then_some(read)
}

/// Faults for every placeholder that no factor fills.
pub fn check_placeholders(
    reader: &mut Reader<'_>,
    workload: &ReadWorkload<'_>,
    factors: &[ReadFactor],
) {
    for (name, span) in &workload.placeholders {
        if factors.iter().any(|factor| factor.name == *name) {
            continue;
        }
        let known = factors.iter().map(|factor| factor.name.as_str());
        let remedy = match suggest::nearest(name, known) {
            Some(near) => {
                format!("did you mean {{{near}}}? For the text itself write {{{{{name}}}}}")
            }
            None => format!(
                "add `{}` to [factors] with its levels, or write {{{{{name}}}}} for the text itself",
                toml_key(name)
            ),
        };
        let fault = Fault::new("is filled by no factor", "no such factor", remedy);
        reader.fault(&format!("the placeholder {{{name}}}"), span, fault);
    }
}

/// The factors of the experiment, where every one could be read.
pub fn complete(factors: &[ReadFactor]) -> Option<Vec<Factor>> {
    factors
        .iter()
        .map(|factor| {
            Some(Factor {
                name: factor.name.clone(),
                levels: factor.levels.clone()?,
                kind: factor.kind?,
            })
        })
        .collect()
}
