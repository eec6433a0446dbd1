//! `knobstat timer`: how late a thread wakes that sleeps until a moment, on each CPU.

use knobstat_data::Value;
use knobstat_load::workloads::survey::Distribution;
use knobstat_load::workloads::timer::{self, TimerFigures};

use super::survey::{
    microseconds, parameters, plot, print_json, stopwatch_line, time, trouble, under_schema,
};
use crate::arguments::Timer;
use crate::output;
use crate::table::columns;
use crate::trouble::Trouble;

/// Makes the survey and prints it.
pub fn run(arguments: &Timer) -> Result<(), Trouble> {
    let mut parameters = parameters(&arguments.survey);
    if let Some(slack) = arguments.timer_slack {
        parameters.insert("timer_slack".to_owned(), Value::Duration(slack));
    }
    let figures = timer::survey(&parameters).map_err(trouble)?;
    if arguments.survey.json {
        return print_json(&under_schema(
            "knobstat.timer/1",
            serde_json::to_value(&figures),
        )?);
    }
    output::result(&render(&figures))
}

fn render(figures: &TimerFigures) -> String {
    let mut rows = vec![
        [
            "cpu", "wake-ups", "missed", "min us", "mean", "p50", "p90", "p99", "p99.9", "max",
        ]
        .map(str::to_owned),
    ];
    for cpu in &figures.cpus {
        rows.push(row(cpu.cpu.to_string(), cpu.missed, &cpu.latency));
    }
    if figures.cpus.len() > 1 {
        let missed = figures.cpus.iter().map(|cpu| cpu.missed).sum();
        rows.push(row("all".to_owned(), missed, &figures.all));
    }
    let slack = figures
        .timer_slack_nanoseconds
        .value()
        .map_or("unknown".to_owned(), |slack| time(*slack as f64));
    let priority = figures
        .priority
        .as_ref()
        .map(|priority| format!(", priority {priority}"))
        .unwrap_or_default();
    format!(
        "Wake-up latency, every {}, timer slack {slack}{priority}.\n{}\n{}{}",
        time(figures.interval_nanoseconds as f64),
        stopwatch_line(&figures.stopwatch),
        columns(&rows),
        plot("Wake-up latency on all CPUs", &figures.all)
    )
}

fn row(cpu: String, missed: u64, latency: &Distribution) -> [String; 10] {
    [
        cpu,
        latency.count.to_string(),
        missed.to_string(),
        microseconds(latency.smallest),
        microseconds(latency.mean),
        microseconds(latency.p50),
        microseconds(latency.p90),
        microseconds(latency.p99),
        microseconds(latency.p999),
        microseconds(latency.largest),
    ]
}
