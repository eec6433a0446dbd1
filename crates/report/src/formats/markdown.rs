//! Markdown (GitHub's tables), for issues and pull requests.

use std::fmt::Write;

use knobstat_analysis::phrase::{fixed, probability, signed_percent, significant};

use super::{Format, Style};
use crate::Report;
use crate::report::{ComparisonPart, MetricPart};
use crate::text_width::printable;

pub(super) const FORMAT: Format = Format {
    name: "markdown",
    summary: "for issues, pull requests and mail",
    render,
};

fn render(report: &Report, _: Style) -> String {
    let experiment = &report.experiment;
    let mut text = format!("# {}\n\n", plain(&experiment.name));
    if let Some(description) = &experiment.description {
        let _ = writeln!(text, "{}\n", plain(description));
    }
    let _ = writeln!(
        text,
        "{}, {} is better; {} of {}{} blocks, {} treatments, seed {}, started {}{}.\n",
        plain(&experiment.metric_in_words()),
        experiment.better,
        experiment.blocks,
        experiment.at_most(),
        experiment.planned_blocks,
        report.treatments.len(),
        experiment.seed,
        experiment.started,
        if experiment.finished.is_some() {
            ""
        } else {
            ", not finished"
        }
    );
    if let Some(sentence) = experiment
        .stop
        .as_ref()
        .and_then(|stop| stop.sentence.as_ref())
    {
        let _ = writeln!(text, "{}\n", plain(sentence));
    }
    let machine = report.machine_in_words();
    if !machine.is_empty() {
        let _ = writeln!(text, "{}.\n", plain(&machine));
    }
    treatments(&mut text, report);
    comparisons(&mut text, report);
    if !report.effects.is_empty() {
        section(&mut text, "Factors and their interactions");
        items(
            &mut text,
            report.effects.iter().map(|effect| {
                let mut words = vec![effect.sentence.as_str()];
                words.extend(effect.simple_sentences.iter().map(String::as_str));
                words.join(" ")
            }),
        );
    }
    section(&mut text, "Recommendation");
    let _ = writeln!(text, "{}", plain(&report.recommendation.sentence));
    if report.recommendation.choices.len() > 1 {
        text.push('\n');
        items(
            &mut text,
            report
                .recommendation
                .choices
                .iter()
                .map(|choice| choice.sentence.clone()),
        );
    }
    if !report.omitted.is_empty() {
        section(&mut text, "Left out");
        items(
            &mut text,
            report.omitted.iter().map(|omission| {
                let remedy = omission
                    .remedy
                    .as_ref()
                    .map_or_else(String::new, |remedy| format!(" Remedy: {remedy}"));
                format!(
                    "{}={}: {}{remedy}",
                    omission.factor, omission.level, omission.reason
                )
            }),
        );
    }
    if !report.caveats.is_empty() {
        section(&mut text, "Beware");
        items(
            &mut text,
            report.caveats.iter().map(|caveat| caveat.sentence.clone()),
        );
    }
    text
}

fn treatments(text: &mut String, report: &Report) {
    let mut heads: Vec<String> = report
        .factors
        .iter()
        .map(|factor| plain(&factor.name))
        .collect();
    let first_number = heads.len();
    heads.extend(["n", "values", "mean", "interval", "note"].map(str::to_owned));
    row(text, &heads);
    let rules: Vec<String> = (0..heads.len())
        .map(|column| {
            let numeric = (first_number..first_number + 4).contains(&column);
            if numeric { "--:" } else { "---" }.to_owned()
        })
        .collect();
    row(text, &rules);
    for treatment in &report.treatments {
        let mut cells: Vec<String> = report
            .factors
            .iter()
            .map(|factor| {
                let level = treatment.levels.0.level(&factor.name);
                level.map_or_else(String::new, |level| plain(&level.to_string()))
            })
            .collect();
        match treatment.metrics.first() {
            Some(metric) => cells.extend(numbers(metric)),
            None => cells.extend(std::iter::repeat_n(String::new(), 5)),
        }
        row(text, &cells);
    }
}

fn numbers(metric: &MetricPart) -> [String; 5] {
    let values: Vec<String> = metric
        .values
        .iter()
        .map(|value| significant(*value, 6))
        .collect();
    [
        metric.n.to_string(),
        values.join(" "),
        metric
            .mean
            .map_or_else(|| "-".to_owned(), |mean| significant(mean, 5)),
        metric.interval.map_or_else(
            || "-".to_owned(),
            |ends| format!("{} to {}", significant(ends.0, 5), significant(ends.1, 5)),
        ),
        metric.note.as_deref().map_or_else(String::new, plain),
    ]
}

fn comparisons(text: &mut String, report: &Report) {
    if report.comparisons.is_empty() {
        return;
    }
    let all_pairs = report.compares_all_pairs();
    let against = if all_pairs {
        "of all pairs".to_owned()
    } else {
        format!("against {}", report.experiment.baseline.0)
    };
    let title = format!(
        "Verdicts {against}, {} % confidence over {}",
        fixed(report.experiment.confidence, 0),
        report.family_in_words()
    );
    section(text, &title);
    let with_against = |cells: [String; 5], against: String| {
        let mut cells = cells.to_vec();
        if all_pairs {
            cells.insert(1, against);
        }
        cells
    };
    let heads = ["treatment", "verdict", "change", "interval", "p adjusted"];
    row(
        text,
        &with_against(heads.map(str::to_owned), "against".to_owned()),
    );
    let rules = ["---", "---", "--:", "--:", "--:"];
    row(
        text,
        &with_against(rules.map(str::to_owned), "---".to_owned()),
    );
    for comparison in &report.comparisons {
        let cells = [
            plain(&comparison.levels.0.to_string()),
            comparison.verdict.to_owned(),
            comparison
                .percent
                .map_or_else(|| "-".to_owned(), signed_percent),
            comparison.percent_interval.map_or_else(
                || "-".to_owned(),
                |ends| format!("{} to {}", signed_percent(ends.0), signed_percent(ends.1)),
            ),
            comparison
                .p_adjusted
                .map_or_else(|| "-".to_owned(), probability),
        ];
        row(
            text,
            &with_against(cells, plain(&comparison.baseline.0.to_string())),
        );
    }
    text.push('\n');
    if let Some(error) = &report.experiment.judged_by {
        let _ = writeln!(text, "{}\n", plain(error));
    }
    items(text, report.comparisons.iter().map(in_words));
}

fn in_words(comparison: &ComparisonPart) -> String {
    let mut words = comparison.sentence.clone();
    if let Some(cause) = &comparison.cause {
        let _ = write!(words, " Cause: {cause}");
    }
    words
}

fn section(text: &mut String, title: &str) {
    let _ = writeln!(text, "\n## {}\n", plain(title));
}

fn items(text: &mut String, sentences: impl Iterator<Item = String>) {
    for sentence in sentences {
        let _ = writeln!(text, "- {}", plain(&sentence));
    }
}

fn row(text: &mut String, cells: &[String]) {
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// Text with what Markdown would take for markup made harmless.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in printable(text).chars() {
        if matches!(
            character,
            '\\' | '|' | '*' | '_' | '`' | '<' | '[' | ']' | '#'
        ) {
            plain.push('\\');
        }
        plain.push(character);
    }
    plain
}
