//! `knobstat noise`: what interrupts a busy loop, on each CPU.

use knobstat_load::workloads::noise::{self, CpuFigures, NoiseFigures};
use knobstat_load::workloads::survey::Seen;

use super::survey::{
    digits, microseconds, parameters, plot, print_json, stopwatch_line, time, trouble, under_schema,
};
use crate::arguments::Noise;
use crate::output;
use crate::table::columns;
use crate::trouble::Trouble;

/// Makes the survey and prints it.
pub fn run(arguments: &Noise) -> Result<(), Trouble> {
    let figures = noise::survey(&parameters(&arguments.survey)).map_err(trouble)?;
    if arguments.survey.json {
        return print_json(&under_schema(
            "knobstat.noise/1",
            serde_json::to_value(&figures),
        )?);
    }
    output::result(&render(&figures))
}

fn render(figures: &NoiseFigures) -> String {
    let mut lost = vec![
        [
            "cpu",
            "interruptions",
            "per second",
            "lost %",
            "longest us",
            "worst window %",
        ]
        .map(str::to_owned),
    ];
    for cpu in &figures.cpus {
        let interruptions = &cpu.interruptions;
        lost.push([
            cpu.cpu.to_string(),
            interruptions.count.to_string(),
            digits(1e9 * interruptions.count as f64 / looked(cpu)),
            share(interruptions.nanoseconds, cpu),
            microseconds(interruptions.longest_nanoseconds as f64),
            digits(100.0 * cpu.worst_window),
        ]);
    }
    let mut text = format!(
        "A busy loop on each CPU; an interruption is {} or more, a window {}.\n{}\n{}\n{}",
        time(figures.threshold_nanoseconds as f64),
        time(figures.interval_nanoseconds as f64),
        stopwatch_line(&figures.stopwatch),
        columns(&lost),
        columns(&causes(figures)),
    );
    for (what, why) in unseen(figures) {
        text.push_str(&format!("{what}: {why}\n"));
    }
    if let Seen::Value(all) = &figures.all {
        text.push_str(&plot("Lengths of the interruptions on all CPUs", all));
    }
    text
}

/// How long was looked, in nanoseconds; a CPU was looked at for a while at least.
fn looked(cpu: &CpuFigures) -> f64 {
    cpu.looked_nanoseconds.max(1) as f64
}

/// A time as percent of what was looked.
fn share(nanoseconds: u64, cpu: &CpuFigures) -> String {
    digits(100.0 * nanoseconds as f64 / looked(cpu))
}

/// A row for each cause and CPU: what was counted, and its time where that is known.
fn causes(figures: &NoiseFigures) -> Vec<[String; 5]> {
    let mut rows = vec![["cpu", "cause", "count", "lost %", "longest us"].map(str::to_owned)];
    let dash = || "-".to_owned();
    for cpu in &figures.cpus {
        let causes = &cpu.causes;
        let number = cpu.cpu.to_string();
        for (name, lost) in [
            ("other threads", &causes.other_threads),
            ("interrupts", &causes.interrupts),
        ] {
            rows.push([
                number.clone(),
                name.to_owned(),
                lost.count.to_string(),
                share(lost.nanoseconds, cpu),
                microseconds(lost.longest_nanoseconds as f64),
            ]);
        }
        for (name, count) in [
            ("  timer", &causes.timer),
            ("  rescheduling", &causes.rescheduling),
            ("  function calls", &causes.function_calls),
            ("  other interrupts", &causes.others),
            ("  soft interrupts", &causes.soft_interrupts),
            ("  unexplained", &causes.unexplained),
        ] {
            let count = count.value().map_or_else(dash, u64::to_string);
            rows.push([number.clone(), name.to_owned(), count, dash(), dash()]);
        }
        let stolen = causes
            .stolen_nanoseconds
            .value()
            .map_or_else(dash, |stolen| share(*stolen, cpu));
        rows.push([number, "stolen".to_owned(), dash(), stolen, dash()]);
    }
    rows
}

/// Why a cause has no figure, each reason once.
fn unseen(figures: &NoiseFigures) -> Vec<(&'static str, String)> {
    let mut reasons: Vec<(&'static str, String)> = Vec::new();
    for cpu in &figures.cpus {
        let causes = &cpu.causes;
        for (name, seen) in [
            ("timer", &causes.timer),
            ("rescheduling", &causes.rescheduling),
            ("function calls", &causes.function_calls),
            ("other interrupts", &causes.others),
            ("soft interrupts", &causes.soft_interrupts),
            ("unexplained", &causes.unexplained),
            ("stolen", &causes.stolen_nanoseconds),
        ] {
            if let Err(why) = seen.as_result() {
                reasons.push((name, why.to_owned()));
            }
        }
    }
    reasons.dedup();
    reasons
}
