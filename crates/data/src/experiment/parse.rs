//! From the text of a file to an experiment, or to every fault in it at once.

use toml::de::DeTable;

use super::diagnostics::{Diagnostic, Diagnostics};
use super::keys::Table;
use super::read::{
    Reader, Section, analysis, design, factors, fixed, knobs, names, section_members, target,
    workload,
};
use super::syntax;
use super::values::{self, Fault, quoted};
use super::{AnalysisChoice, Design, Experiment, Factor};
use crate::plan::full_factorial;
use crate::vocabulary::Vocabulary;

/// The experiment that a file describes.
pub(super) fn parse(
    source: &str,
    file_name: &str,
    vocabulary: &Vocabulary,
) -> Result<Experiment, Diagnostics> {
    let (readable, mut errors) = syntax::readable(source);
    let (document, more_errors) = DeTable::parse_recoverable(&readable);
    errors.extend(more_errors);
    let mut reader = Reader::new(source);
    reader.broken = !errors.is_empty();
    let experiment = read(&mut reader, document.get_ref(), vocabulary);
    let mut faults = reader.faults;
    if !errors.is_empty() {
        let syntax = syntax::faults(source, document.get_ref(), &errors);
        let is_lost = |place: usize| {
            let mut lost = syntax.lost.iter();
            lost.any(|lost| lost.start <= place && place <= lost.end)
        };
        faults.retain(|fault| !is_lost(fault.span.start));
        faults.extend(syntax.faults);
    }
    match (Diagnostics::of(file_name, source, faults), experiment) {
        (None, Some(experiment)) => Ok(experiment),
        (Some(diagnostics), _) => Err(diagnostics),
        // Every way to no experiment records a fault; were one forgotten, this is it.
        (None, None) => {
            let fault = Diagnostic {
                message: "the file could not be understood".to_owned(),
                label: "somewhere in here".to_owned(),
                remedy: "this is a fault of knobstat itself: report it with the file".to_owned(),
                span: 0..source.len(),
                context: Vec::new(),
            };
            Err(Diagnostics::single(file_name, source, fault))
        }
    }
}

fn read(
    reader: &mut Reader<'_>,
    document: &DeTable<'_>,
    vocabulary: &Vocabulary,
) -> Option<Experiment> {
    let file = Section::new("the file", 0..0, document);
    file.refuse_unknown_keys(reader, Table::File, &[]);
    let name = file.required(reader, "name", "`name = \"…\"`, one line", values::line);
    let description = file.read(reader, "description", values::text);
    let tags = read_tags(reader, &file);
    let target = target::read(reader, &file);

    let declared = knobs::read(reader, &file, vocabulary);
    let factor_table = file
        .entry("factors")
        .and_then(|entry| Some(Section::new("[factors]", 0..0, entry.value.as_table()?)))
        .unwrap_or_else(|| Section::empty("[factors]", 0..0));
    let mut workload = workload::read(reader, &file, vocabulary, &factor_table);
    let names = names::Names {
        vocabulary,
        declared: &declared,
        workload: &workload,
    };
    let read_factors = factors::read(reader, &file, &names);
    let fixed = fixed::read(reader, &file, &names, &read_factors);
    factors::check_placeholders(reader, &workload, &read_factors);
    let design = design::read(reader, &file, &read_factors);
    let analysis = analysis::read(reader, &file, &mut workload, &read_factors);

    for factor in &read_factors {
        if let Some(values) = &factor.values {
            workload
                .workload
                .varied
                .insert(factor.name.clone(), values.clone());
        }
    }
    let factors = factors::complete(&read_factors)?;
    if reader.faults.is_empty() {
        check_exclusions(reader, &file, &factors, &design, analysis.as_ref());
    }
    Some(Experiment {
        name: name?,
        description,
        tags,
        workload: workload.workload,
        factors,
        fixed,
        own_knobs: declared
            .into_iter()
            .map(|declared| declared.knob)
            .collect::<Option<_>>()?,
        design,
        target,
        analysis: analysis?,
    })
}

fn read_tags(reader: &mut Reader<'_>, file: &Section<'_>) -> Vec<String> {
    let Some(entry) = file.entry("tags") else {
        return Vec::new();
    };
    let Some(list) = section_members(reader, entry, "[\"2007\"]") else {
        return Vec::new();
    };
    list.iter()
        .filter_map(|member| {
            let read = values::line(member.get_ref());
            reader.check("a member of `tags`", &member.span(), read)
        })
        .collect()
}

/// What is left after the exclusions must be something, and must have the baseline.
fn check_exclusions(
    reader: &mut Reader<'_>,
    file: &Section<'_>,
    factors: &[Factor],
    design: &Design,
    analysis: Option<&AnalysisChoice>,
) {
    let Some(exclude) = nested(file, "design", "exclude") else {
        return;
    };
    let left: Vec<_> = full_factorial(factors)
        .into_iter()
        .filter(|treatment| {
            !design
                .exclude
                .iter()
                .any(|partial| treatment.agrees_with(partial))
        })
        .collect();
    if left.is_empty() {
        let fault = Fault::new(
            "leaves no treatment",
            "every combination is excluded",
            "exclude fewer",
        );
        reader.fault("`exclude`", &exclude, fault);
        return;
    }
    let Some(baseline) = analysis.map(|analysis| &analysis.baseline) else {
        return;
    };
    if !left.iter().any(|treatment| treatment.agrees_with(baseline)) {
        let fault = Fault::new(
            format!(
                "is excluded: no treatment that is left has {}",
                quoted(&baseline.to_string())
            ),
            "nothing is left to compare with",
            "choose another `baseline` in [analysis], or exclude fewer",
        );
        let place = nested(file, "analysis", "baseline").unwrap_or(exclude);
        reader.fault("the baseline", &place, fault);
    }
}

/// Where the value of a key in a table of the file stands.
fn nested(file: &Section<'_>, table: &str, key: &str) -> Option<std::ops::Range<usize>> {
    let table = file.entry(table)?.value.as_table()?;
    Section::new("", 0..0, table)
        .entry(key)
        .map(|entry| entry.span.clone())
}
