//! The comparison of plain samples, and the readers of the files that they come from.

mod anything;
mod caveats;
mod damaged;
mod degenerate;
mod error_rates;
mod published;
mod records;

use knobstat_analysis::samples::{Arranged, Findings, Question, Series, Source, arrange, compare};

/// Files of one series each, under the names a, b, c, ….
fn sources(sets: &[&[f64]]) -> Vec<Source> {
    ('a'..)
        .zip(sets)
        .map(|(name, values)| {
            let mut series = Series::new(String::new(), String::new());
            series.values = values.to_vec();
            Source {
                name: name.to_string(),
                series: vec![series],
                origin: None,
            }
        })
        .collect()
}

fn arranged(sets: &[&[f64]]) -> Arranged {
    arrange(sources(sets), None, None).unwrap()
}

fn compared(sets: &[&[f64]], question: Question) -> Findings {
    compare(arranged(sets), question)
}

/// The kinds of the caveats.
fn kinds(findings: &Findings) -> Vec<&'static str> {
    findings.caveats.iter().map(|caveat| caveat.kind).collect()
}
