//! `knobstat show`: one experiment, its treatments, its attempts.

use knobstat_data::Record;
use knobstat_data::observation::{Attempt, Failure, Outcome};

use crate::arguments::{Global, Show};
use crate::front;
use crate::output;
use crate::table;
use crate::trouble::Trouble;

/// The record of the experiment that goes by a word.
pub fn load(word: &str, global: &Global) -> Result<Record, Trouble> {
    match front::existing_store(global)? {
        Some(store) => store.load(word).map_err(front::store_trouble),
        None => Err(Trouble::request(
            format!(
                "there is no experiment {word}: no store is at {} yet",
                front::store_path(global)?.display()
            ),
            "`knobstat run` makes one; --store names another.",
        )),
    }
}

/// Prints it.
pub fn run(arguments: &Show, global: &Global) -> Result<(), Trouble> {
    let record = load(&arguments.experiment, global)?;
    if arguments.json {
        let json = serde_json::to_string_pretty(&record).map_err(|error| {
            Trouble::disk(format!("the record could not be written ({error})"), "")
        })?;
        return output::result(&json);
    }
    output::result(&render(&record))
}

fn render(record: &Record) -> String {
    let planned = record.plan.runs_per_block() * u64::from(record.plan.replicates);
    let finished = record
        .attempts
        .iter()
        .filter(|attempt| attempt.result.outcome != Outcome::Interrupted)
        .count();
    let mut text = format!(
        "{}: {}\n{} on {}, seed {}\n{finished} of {planned} planned runs, {}\n",
        record.id,
        record.experiment.name,
        record.started,
        record.machine.host.as_deref().unwrap_or("an unnamed host"),
        record.plan.seed,
        match record.finished {
            Some(finished) => format!("done {finished}"),
            None => "unfinished: the same command continues it".to_owned(),
        }
    );
    for omission in &record.omitted {
        text.push_str(&format!(
            "left out: {}={}, {}\n",
            omission.factor, omission.level, omission.reason
        ));
    }
    text.push('\n');
    let metric = &record.experiment.analysis.metric;
    let value_heading = format!("{} [{}]", metric.name, metric.unit);
    let mut rows = vec![
        [
            "run",
            "block",
            "treatment",
            "outcome",
            &value_heading,
            "started",
        ]
        .map(str::to_owned),
    ];
    rows.extend(record.attempts.iter().map(|attempt| {
        let planned = record.plan.treatments.get(attempt.treatment);
        [
            attempt.sequence.saturating_add(1).to_string(),
            attempt.block.saturating_add(1).to_string(),
            planned.map_or_else(String::new, |planned| planned.treatment.to_string()),
            outcome(attempt),
            attempt
                .result
                .metric(&metric.name)
                .map_or_else(|| "-".to_owned(), |value| format!("{:.6}", value.value)),
            attempt.started.to_string(),
        ]
    }));
    text.push_str(&table::columns(&rows));
    for attempt in &record.attempts {
        for note in &attempt.result.notes {
            text.push_str(&format!(
                "run {}: {note}\n",
                attempt.sequence.saturating_add(1)
            ));
        }
    }
    text
}

/// What came of an attempt, with its reason.
fn outcome(attempt: &Attempt) -> String {
    let word = match &attempt.result.outcome {
        Outcome::Ok => "ok".to_owned(),
        Outcome::Interrupted => "interrupted".to_owned(),
        Outcome::Tainted(taints) => {
            let what = taints
                .iter()
                .map(|taint| {
                    format!(
                        "{} was {} and not {}",
                        taint.knob, taint.found, taint.expected
                    )
                })
                .collect::<Vec<_>>();
            format!("tainted ({})", what.join("; "))
        }
        Outcome::Failed(failure) => format!("failed ({})", reason(failure)),
    };
    match attempt.warmup {
        Some(_) => format!("warm-up, {word}"),
        None => word,
    }
}

/// Why a run failed, in a few words.
pub fn reason(failure: &Failure) -> String {
    match failure {
        Failure::Step { step, reason } => format!("{step}: {reason}"),
        Failure::Knob { knob, reason } => format!("{knob}: {reason}"),
        Failure::Boot { reason } => format!("no boot: {reason}"),
        Failure::Start { reason } => format!("not started: {reason}"),
        Failure::ExitCode(code) => format!("exit code {code}"),
        Failure::Signal {
            signal,
            core_dumped,
        } => format!(
            "signal {signal}{}",
            if *core_dumped { ", core dumped" } else { "" }
        ),
        Failure::TimedOut { after } => format!("still running after {after:?}"),
        Failure::Metric { metric, reason } => format!("{metric}: {reason}"),
        Failure::Workload { reason } => reason.clone(),
    }
}
