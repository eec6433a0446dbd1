//! Text for a terminal: the values, the verdicts with their causes, the recommendation, and at
//! the foot what was left out and what a reader must beware of.

mod colour;
mod evidence;
mod names;
mod plot;
mod table;
mod verdicts;

use std::fmt::Write;

use super::{Format, Style};
use crate::Report;
use crate::text_width::{printable, wrapped};
use colour::Colour;
use names::Names;

pub(super) const FORMAT: Format = Format {
    name: "text",
    summary: "for reading on a terminal",
    render,
};

/// No report is set narrower than this.
const NARROWEST: usize = 40;

/// Plots of more treatments than this show nothing.
const MOST_IN_A_PLOT: usize = 9;

fn render(report: &Report, style: Style) -> String {
    let page = Page {
        width: style.width.max(NARROWEST),
        colour: Colour::new(style.colour),
    };
    let mut names = Names::default();
    let mut text = head(report, page);
    let plotted = report.treatments.len() <= MOST_IN_A_PLOT
        && (report.factors.len() < 2 || report.has_one_baseline());
    if report.treatments.is_empty() {
        text.push_str("\nNo treatment takes part, so there is nothing to show.\n");
    } else {
        if report.factors.len() >= 2 {
            text.push_str(&table::tables(report, page, &mut names));
        }
        if plotted {
            text.push_str(&plot::plot(report, page, &mut names));
        } else if report.factors.len() < 2 {
            text.push_str(&table::list(report, page, &mut names));
        }
    }
    text.push_str(&verdicts::verdicts(report, page, &mut names));
    text.push_str(&effects(report, page));
    text.push_str(&recommendation(report, page));
    text.push_str(&omitted(report, page));
    text.push_str(&caveats(report, page));
    text.push_str(&evidence::evidence(report, page, &mut names));
    text.push_str(&names.list(page.width));
    text
}

/// What every part of the page keeps to.
#[derive(Clone, Copy)]
struct Page {
    width: usize,
    colour: Colour,
}

impl Page {
    fn title(self, title: &str) -> String {
        let lines = wrapped(&printable(title), self.width, "", "  ");
        format!("\n{}\n", self.colour.bold(lines.trim_end()))
    }

    fn item(self, text: &str) -> String {
        wrapped(&printable(text), self.width, "  ", "    ")
    }
}

fn head(report: &Report, page: Page) -> String {
    let experiment = &report.experiment;
    let mut text = format!("{}\n", page.colour.bold(&printable(&experiment.name)));
    if let Some(description) = &experiment.description {
        text.push_str(&wrapped(&printable(description), page.width, "", ""));
    }
    let mut line = format!(
        "{}, {} is better; {} of {}{} blocks, {} treatments, seed {}, {}",
        printable(&experiment.metric_in_words()),
        experiment.better,
        experiment.blocks,
        experiment.at_most(),
        experiment.planned_blocks,
        report.treatments.len(),
        experiment.seed,
        experiment.started,
    );
    if experiment.finished.is_none() {
        line.push_str(", not finished");
    }
    text.push_str(&wrapped(&line, page.width, "", "  "));
    if let Some(sentence) = experiment
        .stop
        .as_ref()
        .and_then(|stop| stop.sentence.as_ref())
    {
        text.push_str(&wrapped(sentence, page.width, "", "  "));
    }
    let machine = report.machine_in_words();
    if !machine.is_empty() {
        text.push_str(&wrapped(&printable(&machine), page.width, "", "  "));
    }
    text
}

fn effects(report: &Report, page: Page) -> String {
    if report.effects.is_empty() {
        return String::new();
    }
    let mut text = page.title("Factors and their interactions");
    for effect in &report.effects {
        text.push_str(&page.item(&effect.sentence));
        for sentence in &effect.simple_sentences {
            text.push_str(&wrapped(&printable(sentence), page.width, "    ", "      "));
        }
    }
    text
}

fn recommendation(report: &Report, page: Page) -> String {
    let recommendation = &report.recommendation;
    let mut text = page.title("Recommendation");
    text.push_str(&page.item(&recommendation.sentence));
    if recommendation.choices.len() > 1 {
        for choice in &recommendation.choices {
            if choice.best.is_none() {
                text.push_str(&page.item(&choice.sentence));
            }
        }
    }
    text
}

fn omitted(report: &Report, page: Page) -> String {
    if report.omitted.is_empty() {
        return String::new();
    }
    let mut text = page.title("Left out");
    for omission in &report.omitted {
        let mut line = format!(
            "{}={}: {}",
            omission.factor, omission.level, omission.reason
        );
        if let Some(remedy) = &omission.remedy {
            if !line.ends_with(['.', '!', '?']) {
                line.push('.');
            }
            let _ = write!(line, " Remedy: {remedy}");
        }
        text.push_str(&page.item(&line));
    }
    text
}

fn caveats(report: &Report, page: Page) -> String {
    if report.caveats.is_empty() {
        return String::new();
    }
    let mut text = page.title("Beware");
    for caveat in &report.caveats {
        text.push_str(&page.item(&caveat.sentence));
    }
    text
}
