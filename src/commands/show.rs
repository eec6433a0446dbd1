//! `knobstat show`: one experiment, its treatments, its attempts.

use knobstat_data::observation::{Attempt, Failure, Outcome};
use knobstat_data::{Machine, Record};

use crate::arguments::{Global, Show};
use crate::front;
use crate::output;
use crate::table;
use crate::trouble::Trouble;

/// The record of the experiment that goes by a word; without one, of that begun last.
pub fn load(word: Option<&str>, global: &Global) -> Result<Record, Trouble> {
    let path = || Ok(front::store_path(global)?.display().to_string());
    let Some(store) = front::existing_store(global)? else {
        let which = word.map_or_else(String::new, |word| format!(" {word}"));
        return Err(Trouble::request(
            format!(
                "there is no experiment{which}: no store is at {} yet",
                path()?
            ),
            "`knobstat run` makes one; --store names another.",
        ));
    };
    let loaded = match word {
        Some(word) => store.load(word),
        None => {
            let experiments = store.list().map_err(front::store_trouble)?;
            let Some(newest) = experiments.first() else {
                return Err(Trouble::request(
                    format!("no experiment is in {} yet", path()?),
                    "`knobstat run` and `knobstat try` make some; --store names another store.",
                ));
            };
            store.record(&newest.id)
        }
    };
    loaded.map_err(front::store_trouble)
}

/// Prints it.
pub fn run(arguments: &Show, global: &Global) -> Result<(), Trouble> {
    let record = load(arguments.experiment.as_deref(), global)?;
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
        machine(&record.machine),
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
    let value_heading = if metric.unit.as_str() == "1" {
        metric.name.clone()
    } else {
        format!("{} [{}]", metric.name, metric.unit)
    };
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
    text.push_str(&notes(&record.attempts));
    text
}

/// What the experiment ran on.
fn machine(machine: &Machine) -> String {
    match (machine.simulated(), &machine.host) {
        (Some(model), _) => format!("a simulated machine ({model})"),
        (None, Some(host)) => host.clone(),
        (None, None) => "an unnamed host".to_owned(),
    }
}

/// What was noted of the runs: each note once, with the runs that it is of.
fn notes(attempts: &[Attempt]) -> String {
    let mut notes: Vec<(&str, Vec<u64>)> = Vec::new();
    for attempt in attempts {
        let run = attempt.sequence.saturating_add(1);
        for note in &attempt.result.notes {
            match notes.iter_mut().find(|(known, _)| known == note) {
                Some((_, runs)) => runs.push(run),
                None => notes.push((note, vec![run])),
            }
        }
    }
    let mut text = String::new();
    for (note, runs) in notes {
        let plural = if runs.len() == 1 { "" } else { "s" };
        text.push_str(&format!("run{plural} {}: {note}\n", ranges(&runs)));
    }
    text
}

/// Ascending numbers, those that follow each other as one range: `1-3, 7`.
fn ranges(numbers: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let written: Vec<String> = ranges
        .into_iter()
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            _ => format!("{first}-{last}"),
        })
        .collect();
    written.join(", ")
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

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn numbers_that_follow_each_other_are_one_range() {
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[1, 2, 4, 5, 6, 9]), "1-2, 4-6, 9");
    }
}
