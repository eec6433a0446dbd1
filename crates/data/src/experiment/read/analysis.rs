//! `[analysis]`: how the observations are judged.

use super::factors::ReadFactor;
use super::metrics::BETTER;
use super::partial::partial_treatment;
use super::workload::ReadWorkload;
use super::{Reader, Section};
use crate::experiment::keys::Table;
use crate::experiment::quantities;
use crate::experiment::suggest;
use crate::experiment::values::{self, Fault, quoted};
use crate::experiment::{AnalysisChoice, Correction};
use crate::words::{Better, Metric, Ratio, Setting, Treatment};

const CORRECTIONS: [(&str, Correction); 5] = [
    ("holm", Correction::Holm),
    ("dunnett", Correction::Dunnett),
    ("tukey", Correction::Tukey),
    ("benjamini-hochberg", Correction::BenjaminiHochberg),
    ("none", Correction::None),
];

/// The confidence, in percent, where the file says nothing.
const CONFIDENCE: f64 = 95.0;

/// Reads `[analysis]`; nothing where there is no metric to judge by. The better direction that
/// the file gives holds for the workload's metric as well.
pub fn read(
    reader: &mut Reader<'_>,
    file: &Section<'_>,
    workload: &mut ReadWorkload<'_>,
    factors: &[ReadFactor],
) -> Option<AnalysisChoice> {
    let section = file
        .table(reader, "analysis", "[analysis]")
        .unwrap_or_else(|| Section::empty("[analysis]", file.span.clone()));
    section.refuse_unknown_keys(reader, Table::Analysis, &[]);
    let better = section.word(reader, "better", &BETTER, &[]);
    let metric = read_metric(reader, &section, workload, better);
    let baseline = match section.entry("baseline") {
        Some(entry) => partial_treatment(reader, "`baseline`", entry.value, &entry.span, factors),
        None => first_levels(factors),
    };
    let confidence = section.read(reader, "confidence", confidence);
    let correction = section.word(reader, "correction", &CORRECTIONS, &[]);
    let margin = section.read(reader, "margin", quantities::share);
    let trust = section.read(reader, "trust_self_timed", values::boolean);
    Some(AnalysisChoice {
        metric: metric?,
        baseline: baseline?,
        confidence: confidence.unwrap_or(Ratio::from_percent(CONFIDENCE)),
        margin,
        correction: correction.unwrap_or(Correction::Holm),
        trust_self_timed: trust.unwrap_or(false),
    })
}

/// The first level of each factor.
fn first_levels(factors: &[ReadFactor]) -> Option<Treatment> {
    factors
        .iter()
        .map(|factor| {
            let first = factor.levels.as_ref()?.first()?;
            Some(Setting::new(factor.name.clone(), first.clone()))
        })
        .collect::<Option<Vec<_>>>()
        .map(Treatment::new)
}

fn read_metric(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    workload: &mut ReadWorkload<'_>,
    better: Option<Better>,
) -> Option<Metric> {
    // Without a workload nothing can be said of its metrics.
    workload.schema?;
    let metrics = &workload.workload.metrics;
    let place = match section.entry("metric") {
        None => 0,
        Some(entry) => {
            let name = reader.check(&entry.subject(), &entry.span, values::line(entry.value))?;
            let found = metrics.iter().position(|metric| metric.name == name);
            if found.is_none() {
                let names = metrics.iter().map(|metric| metric.name.as_str());
                let fault = Fault::new(
                    format!("cannot be {}", quoted(&name)),
                    "no such metric",
                    suggest::remedy(&name, names, "this workload's metrics are"),
                );
                reader.fault(&entry.subject(), &entry.span, fault);
            }
            found?
        }
    };
    let name = metrics.get(place)?.name.clone();
    let silent = workload
        .declared_metrics
        .iter()
        .find(|declared| declared.metric.name == name && !declared.says_better);
    if let (Some(declared), None) = (silent, section.entry("better")) {
        let fault = Fault::new(
            "is judged, and nothing says which way it is better",
            "without `better`",
            "add `better = \"lower\"` or `better = \"higher\"` to it",
        );
        reader.fault(&quoted(&name), &declared.span, fault);
    }
    let metric = workload.workload.metrics.get_mut(place)?;
    if let Some(better) = better {
        metric.better = better;
    }
    Some(metric.clone())
}

/// A confidence in percent: `95`.
fn confidence(value: &toml::de::DeValue<'_>) -> Result<Ratio, Fault> {
    let percent = values::number(value)?;
    if (50.0..100.0).contains(&percent) {
        return Ok(Ratio::from_percent(percent));
    }
    let remedy = if (0.5..1.0).contains(&percent) {
        format!("write it in percent: {}", percent * 100.0)
    } else {
        "write it in percent, as in 95".to_owned()
    };
    Err(Fault::new(
        "must be at least 50 and below 100, in percent",
        "out of range",
        remedy,
    ))
}
