//! Attempts with other ends than a good one.

use knobstat_data::Record;
use knobstat_data::observation::{Failure, Outcome, Taint};
use knobstat_data::plan::PlannedRun;
use knobstat_data::words::AttemptId;

use crate::support::{attempt, bits, experiment, full_result, record};

/// A taint of the one knob.
pub fn tainted() -> Outcome {
    Outcome::Tainted(vec![Taint {
        knob: "clocksource".to_owned(),
        expected: "tsc".to_owned(),
        found: "hpet".to_owned(),
        cause: Some("the clocksource watchdog".to_owned()),
    }])
}

/// A failure.
pub fn failed() -> Outcome {
    Outcome::Failed(Failure::ExitCode(2))
}

/// The record of an experiment with attempts of every outcome, each with something in every
/// field.
pub fn record_with_attempts(byte: u8) -> Record {
    let mut record = record(experiment(&["tsc", "hpet"], 2, 1), byte);
    let outcomes = [
        Outcome::Ok,
        tainted(),
        failed(),
        Outcome::Ok,
        Outcome::Interrupted,
    ];
    let runs: Vec<PlannedRun> = record.plan.runs().collect();
    for (sequence, run) in (0..).zip(&runs) {
        let outcome = outcomes[sequence as usize % outcomes.len()].clone();
        let mut attempt = attempt(run, sequence, outcome.clone());
        attempt.id = AttemptId::from_random(bits(u64::from(byte) << 32 | sequence));
        attempt.result = full_result(outcome, 0.1 * (sequence + 1) as f64);
        record.attempts.push(attempt);
    }
    record
}
