//! `[workload]`: what is run.

use std::collections::BTreeMap;
use std::ops::Range;

use super::metrics::{self, DeclaredMetric};
use super::parameters::{default_value, is_template, placeholders, read_value};
use super::{Entry, Reader, Section};
use crate::experiment::Workload;
use crate::experiment::keys::Table;
use crate::experiment::suggest;
use crate::experiment::templates;
use crate::experiment::values::{self, Fault, quoted};
use crate::vocabulary::{DefaultValue, ParameterKind, ParameterSchema, Vocabulary, WorkloadSchema};
use crate::words::{Better, Metric, Unit};

/// Kinds that are known and cannot be had yet, unless the vocabulary has them.
const LATER_KINDS: [&str; 3] = ["clock", "timer", "noise"];

/// The most warm-up runs of a treatment in a block.
const MOST_WARMUP_RUNS: i64 = 1000;

/// What `[workload]` says, as far as it could be read.
pub struct ReadWorkload<'v> {
    /// The schema of its kind; absent where the kind is missing or unknown.
    pub schema: Option<&'v WorkloadSchema>,
    /// The workload so far: its factors are put in later.
    pub workload: Workload,
    /// Whether its commands are kept whole for a shell.
    pub shell: bool,
    /// The placeholders of its texts, with their places.
    pub placeholders: Vec<(String, Range<usize>)>,
    /// The parameters that the file gives, with the places of their names.
    pub given: BTreeMap<String, Range<usize>>,
    /// The metrics that the file declares.
    pub declared_metrics: Vec<DeclaredMetric>,
}

/// Reads `[workload]`. `factors` is `[factors]`: what varies need not be given, and levels that
/// are templates may hold placeholders.
pub fn read<'v>(
    reader: &mut Reader<'_>,
    file: &Section<'_>,
    vocabulary: &'v Vocabulary,
    factors: &Section<'_>,
) -> ReadWorkload<'v> {
    let mut result = ReadWorkload {
        schema: None,
        workload: Workload {
            kind: String::new(),
            parameters: BTreeMap::new(),
            varied: BTreeMap::new(),
            templates: Vec::new(),
            commands: Vec::new(),
            warmup_runs: 0,
            metrics: Vec::new(),
        },
        shell: false,
        placeholders: Vec::new(),
        given: BTreeMap::new(),
        declared_metrics: Vec::new(),
    };
    if file.entry("workload").is_none() {
        file.missing(reader, "workload", "a table [workload] with its `kind`");
    }
    let Some(section) = file.table(reader, "workload", "[workload]") else {
        return result;
    };
    result.schema = kind(reader, &section, vocabulary);
    let Some(schema) = result.schema else {
        return result;
    };
    result.workload.kind = schema.kind.to_owned();
    let names: Vec<&str> = schema
        .parameters
        .iter()
        .map(|parameter| parameter.name)
        .collect();
    section.refuse_unknown_keys(reader, Table::Workload, &names);
    let warmup_runs = section.read(reader, "warmup_runs", |value| {
        values::whole(value, 0, MOST_WARMUP_RUNS).map(|count| count as u32)
    });
    result.workload.warmup_runs = warmup_runs.unwrap_or(schema.warmup_runs);
    result.shell = section
        .entry("shell")
        .is_some_and(|entry| values::boolean(entry.value) == Ok(true));
    for parameter in schema.parameters {
        if matches!(parameter.kind, ParameterKind::Command) {
            result.workload.commands.push(parameter.name.to_owned());
        }
        if schema.placeholders && is_template(parameter.kind) {
            result.workload.templates.push(parameter.name.to_owned());
        }
        match section.entry(parameter.name) {
            Some(entry) => result.read_given(reader, parameter, entry),
            None => result.fill_in(
                reader,
                parameter,
                &section,
                factors.entry(parameter.name).filter(|_| parameter.factor),
            ),
        }
    }
    result.gather_metrics(reader, schema);
    result
}

fn kind<'v>(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    vocabulary: &'v Vocabulary,
) -> Option<&'v WorkloadSchema> {
    let kinds: Vec<&str> = vocabulary
        .workloads
        .iter()
        .map(|workload| workload.kind)
        .collect();
    let example = format!(
        "`kind = \"…\"`, one of {}",
        suggest::listed(kinds.iter().copied())
    );
    let kind = section.required(reader, "kind", &example, |value| {
        values::word(value, &kinds, &LATER_KINDS)
    })?;
    vocabulary.workload(kind)
}

impl ReadWorkload<'_> {
    /// A parameter that the file gives.
    fn read_given(
        &mut self,
        reader: &mut Reader<'_>,
        parameter: &ParameterSchema,
        entry: &Entry<'_>,
    ) {
        let name = parameter.name.to_owned();
        self.given.insert(name.clone(), entry.name_span.clone());
        if matches!(parameter.kind, ParameterKind::Metrics) {
            self.declared_metrics = metrics::declared(reader, entry);
        }
        let (subject, kind, shell) = (entry.subject(), parameter.kind, self.shell);
        let value = read_value(reader, &subject, kind, entry.value, &entry.span, shell);
        let Some(value) = value else {
            // What it names is named all the same: one fault is enough.
            if self.workload.templates.contains(&name) {
                self.gather_from_texts(reader, entry);
            }
            return;
        };
        if self.workload.templates.contains(&name) {
            for placeholder in placeholders(reader, &subject, &value, &entry.span) {
                let place = reader.locate(&entry.span, &format!("{{{placeholder}}}"));
                self.placeholders.push((placeholder, place));
            }
        }
        self.workload.parameters.insert(name, value);
    }

    /// A parameter that `[workload]` leaves out; `factor` is its entry in `[factors]`.
    fn fill_in(
        &mut self,
        reader: &mut Reader<'_>,
        parameter: &ParameterSchema,
        section: &Section<'_>,
        factor: Option<&Entry<'_>>,
    ) {
        if matches!(parameter.default, DefaultValue::Required) && factor.is_none() {
            let example = format!("`{} = …`: {}", parameter.name, parameter.documentation);
            section.missing(reader, parameter.name, &example);
        }
        if let Some(value) = default_value(reader, parameter, &section.span) {
            self.workload
                .parameters
                .insert(parameter.name.to_owned(), value);
        }
        let is_template = self
            .workload
            .templates
            .iter()
            .any(|name| name == parameter.name);
        if let (Some(factor), true) = (factor, is_template) {
            // What is wrong with the levels is recorded where the factors are read.
            self.gather_from_texts(reader, factor);
        }
    }

    /// The placeholders in a text or in a list of texts, whatever is wrong with them otherwise.
    fn gather_from_texts(&mut self, reader: &mut Reader<'_>, entry: &Entry<'_>) {
        let one = entry.value.as_str().map(|text| (text, entry.span.clone()));
        let list = entry.value.as_array().map(|list| list.iter());
        let many = list
            .into_iter()
            .flatten()
            .filter_map(|item| Some((item.get_ref().as_str()?, item.span())));
        for (text, span) in one.into_iter().chain(many) {
            for name in templates::names(text).unwrap_or_default() {
                let place = reader.locate(&span, &format!("{{{name}}}"));
                self.placeholders.push((name, place));
            }
        }
    }

    /// Every metric of a run: the workload's own, what the bracket around every run yields, and
    /// what the file declares.
    fn gather_metrics(&mut self, reader: &mut Reader<'_>, schema: &WorkloadSchema) {
        let metrics = &mut self.workload.metrics;
        *metrics = (schema.metrics)();
        for name in ["wall", "cpu"] {
            if !metrics.iter().any(|metric| metric.name == name) {
                metrics.push(Metric {
                    name: name.to_owned(),
                    unit: Unit::SECONDS,
                    better: Better::Lower,
                    self_timed: false,
                });
            }
        }
        for declared in &self.declared_metrics {
            if metrics
                .iter()
                .any(|metric| metric.name == declared.metric.name)
            {
                let fault = Fault::new(
                    "is a metric that the workload has already",
                    "this name is taken",
                    "choose another name",
                );
                reader.fault(&quoted(&declared.metric.name), &declared.span, fault);
            } else {
                metrics.push(declared.metric.clone());
            }
        }
    }
}
