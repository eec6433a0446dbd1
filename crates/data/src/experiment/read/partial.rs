//! Partial treatments: what `exclude` and `baseline` are made of.

use std::ops::Range;

use toml::de::DeValue;

use super::factors::ReadFactor;
use super::{Entry, Reader, Section};
use crate::experiment::suggest;
use crate::experiment::values::{self, Fault, quoted};
use crate::words::{Setting, Treatment};

/// A partial treatment: a table of factors and one of their levels each. Its settings come in
/// the order of the factors.
pub fn partial_treatment(
    reader: &mut Reader<'_>,
    subject: &str,
    value: &DeValue<'_>,
    span: &Range<usize>,
    factors: &[ReadFactor],
) -> Option<Treatment> {
    let DeValue::Table(table) = value else {
        let fault = Fault::new(
            "must be a table of factors and levels",
            format!("this is {}", values::describe(value)),
            "write { FACTOR = LEVEL }",
        );
        reader.fault(subject, span, fault);
        return None;
    };
    let section = Section::new(subject, span.clone(), table);
    if section.entries.is_empty() {
        let fault = Fault::new(
            "names no factor",
            "an empty table",
            "write { FACTOR = LEVEL }, or leave it out",
        );
        reader.fault(subject, span, fault);
        return None;
    }
    let mut settings: Vec<(usize, Setting)> = Vec::new();
    for entry in &section.entries {
        if let Some(setting) = one_setting(reader, subject, entry, factors) {
            settings.push(setting);
        }
    }
    settings.sort_by_key(|(place, _)| *place);
    (settings.len() == section.entries.len())
        .then(|| Treatment::new(settings.into_iter().map(|(_, setting)| setting)))
}

fn one_setting(
    reader: &mut Reader<'_>,
    subject: &str,
    entry: &Entry<'_>,
    factors: &[ReadFactor],
) -> Option<(usize, Setting)> {
    let Some(place) = factors.iter().position(|factor| factor.name == entry.name) else {
        let names = factors.iter().map(|factor| factor.name.as_str());
        let fault = Fault::new(
            format!("in {subject} is not a factor of this experiment"),
            "no such factor",
            suggest::remedy(entry.name, names, "the factors are"),
        );
        reader.fault(&entry.subject(), &entry.name_span, fault);
        return None;
    };
    let level = reader.check(&entry.subject(), &entry.span, values::level(entry.value))?;
    if let Some(levels) = &factors[place].levels
        && !levels.contains(&level)
    {
        let texts: Vec<String> = levels.iter().map(ToString::to_string).collect();
        let fault = Fault::new(
            format!(
                "has no level {} in this experiment",
                quoted(&level.to_string())
            ),
            "no such level",
            suggest::remedy(
                &level.to_string(),
                texts.iter().map(String::as_str),
                "its levels are",
            ),
        );
        reader.fault(&entry.subject(), &entry.span, fault);
        return None;
    }
    Some((place, Setting::new(entry.name, level)))
}
