//! `knobstat clock`: what reading the time costs and what it is worth, for every clock id, and for
//! every clock source where that is asked for.

mod sources;

use knobstat_load::workloads::clock::{self, ClockFigures, Criterion, OneClock, Path};
use knobstat_load::workloads::survey::Seen;
use knobstat_sys::clock::Stopwatch;
use knobstat_sys::root::Root;
use serde_json::{Value, json};

use super::survey::{
    digits, digits_of, parameters, plot, print_json, stopwatch_line, time, trouble, under_schema,
};
use crate::arguments::Clock;
use crate::output;
use crate::table::columns;
use crate::trouble::Trouble;
use sources::Sources;

/// The clocks under one clock source.
#[derive(Debug)]
struct OneSurvey {
    /// The source in force, or why it cannot be told.
    clock_source: Seen<String>,
    figures: ClockFigures,
}

/// A clock source that was not looked at.
#[derive(Debug)]
struct NotSurveyed {
    clock_source: String,
    why: String,
}

/// Everything that was found out.
#[derive(Debug)]
struct Surveys {
    /// What a reader must know, in sentences.
    caveats: Vec<String>,
    surveys: Vec<OneSurvey>,
    not_surveyed: Vec<NotSurveyed>,
}

/// Makes the survey and prints it.
pub fn run(arguments: &Clock, root: &Root) -> Result<(), Trouble> {
    let parameters = parameters(&arguments.survey);
    // Before a slow clock source is selected: what calibrates the reference is the present one.
    let stopwatch = Stopwatch::calibrated();
    let survey = move || clock::survey(&parameters, &stopwatch).map_err(trouble);
    let sources = Sources::of(root);
    let mut surveys = if arguments.all_sources {
        sources.each(root, survey)?
    } else {
        sources.in_force(survey)?
    };
    if !root.is_real() {
        surveys.caveats.push(
            "the clock sources are those of the laid-out tree, the clocks those of this machine"
                .to_owned(),
        );
    }
    if arguments.survey.json {
        return print_json(&under_schema("knobstat.clock/1", as_json(&surveys))?);
    }
    output::result(&render(&surveys))
}

fn as_json(surveys: &Surveys) -> serde_json::Result<Value> {
    let all = surveys
        .surveys
        .iter()
        .map(|survey| {
            let source = serde_json::to_value(&survey.clock_source)?;
            let mut object = serde_json::Map::from_iter([("clock_source".to_owned(), source)]);
            if let Value::Object(figures) = serde_json::to_value(&survey.figures)? {
                object.extend(figures);
            }
            Ok(Value::Object(object))
        })
        .collect::<serde_json::Result<Vec<Value>>>()?;
    let others: Vec<Value> = surveys
        .not_surveyed
        .iter()
        .map(|other| json!({ "clock_source": other.clock_source, "why": other.why }))
        .collect();
    Ok(json!({
        "caveats": surveys.caveats,
        "surveys": all,
        "not_surveyed": others,
    }))
}

fn render(surveys: &Surveys) -> String {
    let mut text = String::new();
    for survey in &surveys.surveys {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&render_one(survey));
    }
    if !surveys.not_surveyed.is_empty() {
        text.push_str("\nOther clock sources:\n");
        for other in &surveys.not_surveyed {
            text.push_str(&format!("  {}: {}\n", other.clock_source, other.why));
        }
    }
    for caveat in &surveys.caveats {
        text.push_str(&format!("\nCaveat: {caveat}.\n"));
    }
    text
}

fn render_one(survey: &OneSurvey) -> String {
    let figures = &survey.figures;
    let source = match survey.clock_source.as_result() {
        Ok(source) => format!("Clock source {source}"),
        Err(why) => format!("Clock source unknown ({why})"),
    };
    let mut rows = vec![
        [
            "clock",
            "read ns",
            "p99",
            "system call ns",
            "vDSO",
            "step ns",
            "back",
            "drift ppm",
            "+-",
        ]
        .map(str::to_owned),
    ];
    rows.extend(figures.clocks.iter().map(row));
    let mut text = format!(
        "{source}, read on CPU {}.\n{}\n{}",
        figures.cpu,
        stopwatch_line(&figures.stopwatch),
        columns(&rows)
    );
    text.push_str(&remarks(&figures.clocks));
    let main = figures
        .clocks
        .iter()
        .find(|clock| clock.clock == "CLOCK_MONOTONIC");
    if let Some(Ok(cost)) = main.map(|clock| clock.cost.as_result()) {
        text.push_str(&plot("Cost of reading CLOCK_MONOTONIC", cost));
    }
    text
}

fn row(clock: &OneClock) -> [String; 9] {
    [
        clock.clock.clone(),
        digits_of(&clock.cost, |cost| cost.p50),
        digits_of(&clock.cost, |cost| cost.p99),
        digits_of(&clock.system_call_cost, |cost| cost.p50),
        match clock.path.value() {
            Some(path) if path.through_vdso => "yes".to_owned(),
            Some(_) => "no".to_owned(),
            None => "-".to_owned(),
        },
        digits_of(&clock.step_nanoseconds, |step| *step as f64),
        clock
            .order
            .value()
            .map_or("-".to_owned(), |order| order.backward.to_string()),
        digits_of(&clock.drift, |drift| drift.ppm),
        digits_of(&clock.drift, |drift| drift.uncertainty_ppm),
    ]
}

/// What stands below the table: how the vDSO was told, what went back, and why a cell is empty,
/// each reason once with every clock that it holds for.
fn remarks(clocks: &[OneClock]) -> String {
    let mut remarks: Vec<(String, Vec<&str>)> = Vec::new();
    let mut remark = |text: String, clock: &OneClock| {
        let name = clocks
            .iter()
            .find(|other| other.clock == clock.clock)
            .map_or("", |other| other.clock.as_str());
        match remarks.iter_mut().find(|(other, _)| *other == text) {
            Some((_, names)) => names.push(name),
            None => remarks.push((text, vec![name])),
        }
    };
    for clock in clocks {
        if let Some(Path {
            criterion: Criterion::Cost { ratio, why },
            ..
        }) = clock.path.value()
        {
            let ratio = digits(*ratio);
            remark(
                format!("vDSO told by the cost, {ratio} of a system call, because {why}"),
                clock,
            );
        }
        if let Some(order) = clock.order.value().filter(|order| order.backward > 0) {
            let worst = time(order.worst_nanoseconds as f64);
            remark(format!("went back by up to {worst}"), clock);
        }
        let reasons = [
            clock.cost.as_result().err().map(|why| ("", why)),
            clock.path.as_result().err().map(|why| ("vDSO: ", why)),
            clock
                .step_nanoseconds
                .as_result()
                .err()
                .map(|why| ("step: ", why)),
            clock.drift.as_result().err().map(|why| ("drift: ", why)),
        ];
        // A clock that cannot be read at all has one reason for everything.
        let unreadable = reasons[0].is_some();
        for (what, why) in reasons
            .into_iter()
            .flatten()
            .take(if unreadable { 1 } else { 4 })
        {
            remark(format!("{what}{why}"), clock);
        }
    }
    remarks
        .iter()
        .map(|(text, names)| format!("{}: {text}\n", names.join(", ")))
        .collect()
}
