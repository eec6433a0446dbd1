//! The order of a run: prepare, wait, read the knobs back, time the command, read them back
//! again, clean up, decode. Tested with hands that only write down what they were asked to do.

use knobstat_data::observation::{Failure, KnobReading, MetricValue, Outcome, Times};
use knobstat_data::{Evidence, RunResult};

use super::process::StepEnd;
use super::settle::Settled;
use super::timed::Timed;

/// A step around the timed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    SetUp,
    Prepare,
    Cleanup,
    TearDown,
}

impl Step {
    /// The key of the experiment file.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::SetUp => "setup",
            Self::Prepare => "prepare",
            Self::Cleanup => "cleanup",
            Self::TearDown => "teardown",
        }
    }

    /// The failure of a run or of a treatment that this step's failure is.
    pub(super) fn failed(self, reason: String) -> Failure {
        Failure::Step {
            step: self.word().to_owned(),
            reason,
        }
    }
}

/// Whoever does what the bracket orders.
pub(super) trait Hands {
    /// Runs a step; done at once where the workload has none. After an interruption it runs on,
    /// within a limit.
    fn step(&mut self, step: Step, interrupted: bool) -> StepEnd;
    /// Waits, asleep.
    fn settle(&mut self) -> Settled;
    /// Reads the knobs back.
    fn verify(&mut self) -> Vec<KnobReading>;
    /// Captures, starts the command, sleeps until it ends, captures, ends what it left.
    fn time(&mut self) -> Timed;
    /// Turns what was captured into metrics and evidence.
    fn decode(&mut self, timed: Timed) -> Decoded;
    /// Ends whatever the steps of this run left running; says what that was.
    fn clear(&mut self) -> Vec<String>;
}

/// What a timed command came to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decoded {
    pub(super) outcome: Outcome,
    pub(super) metrics: Vec<MetricValue>,
    pub(super) evidence: Vec<Evidence>,
    pub(super) times: Option<Times>,
    pub(super) notes: Vec<String>,
}

/// One run. Cleanup runs whatever happened, because prepare may have left something to clean;
/// decoding comes last, because nothing of it is urgent.
pub(super) fn bracket(hands: &mut dyn Hands) -> RunResult {
    let mut result = RunResult::bare(Outcome::Interrupted);
    let timed = match hands.step(Step::Prepare, false) {
        StepEnd::Done => settle_and_time(hands, &mut result),
        StepEnd::Interrupted => None,
        StepEnd::Failed(reason) => {
            result.outcome = Outcome::Failed(Step::Prepare.failed(reason));
            None
        }
    };
    let interrupted = match &timed {
        Some(timed) => timed.is_interrupted(),
        None => result.outcome == Outcome::Interrupted,
    };
    match hands.step(Step::Cleanup, interrupted) {
        StepEnd::Done => {}
        StepEnd::Interrupted => result.notes.push("cleanup was interrupted".to_owned()),
        StepEnd::Failed(reason) => result.notes.push(format!("cleanup failed: {reason}")),
    }
    result.notes.extend(hands.clear());
    if let Some(timed) = timed {
        let decoded = hands.decode(timed);
        result.outcome = decoded.outcome;
        result.metrics = decoded.metrics;
        result.evidence = decoded.evidence;
        result.times = decoded.times;
        result.notes.extend(decoded.notes);
    }
    result
}

/// `None` when the wait was interrupted.
fn settle_and_time(hands: &mut dyn Hands, result: &mut RunResult) -> Option<Timed> {
    let settled = hands.settle();
    result.settling = settled.settling;
    result.notes.extend(settled.note);
    if settled.interrupted {
        return None;
    }
    result.before = hands.verify();
    let timed = hands.time();
    result.after = hands.verify();
    Some(timed)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use knobstat_data::observation::Settling;

    use super::*;
    use crate::run::timed::HowTimed;

    /// Hands that do nothing but write down what they were asked to, and answer as told.
    struct Scripted {
        prepare: StepEnd,
        cleanup: StepEnd,
        settled: Settled,
        timed: HowTimed,
        asked: Vec<String>,
    }

    impl Scripted {
        fn new() -> Self {
            Self {
                prepare: StepEnd::Done,
                cleanup: StepEnd::Done,
                settled: Settled {
                    settling: Settling::default(),
                    interrupted: false,
                    note: None,
                },
                timed: HowTimed::NotStarted("no such file".to_owned()),
                asked: Vec::new(),
            }
        }
    }

    impl Hands for Scripted {
        fn step(&mut self, step: Step, interrupted: bool) -> StepEnd {
            let limited = if interrupted { " within a limit" } else { "" };
            self.asked.push(format!("{}{limited}", step.word()));
            match step {
                Step::Prepare => self.prepare.clone(),
                _ => self.cleanup.clone(),
            }
        }

        fn settle(&mut self) -> Settled {
            self.asked.push("settle".to_owned());
            self.settled.clone()
        }

        fn verify(&mut self) -> Vec<KnobReading> {
            self.asked.push("verify".to_owned());
            Vec::new()
        }

        fn time(&mut self) -> Timed {
            self.asked.push("time".to_owned());
            Timed::without_measurement(self.timed.clone())
        }

        fn decode(&mut self, timed: Timed) -> Decoded {
            self.asked.push("decode".to_owned());
            Decoded {
                outcome: match timed.how {
                    HowTimed::Interrupted => Outcome::Interrupted,
                    _ => Outcome::Ok,
                },
                metrics: Vec::new(),
                evidence: Vec::new(),
                times: None,
                notes: Vec::new(),
            }
        }

        fn clear(&mut self) -> Vec<String> {
            self.asked.push("clear".to_owned());
            Vec::new()
        }
    }

    #[test]
    fn a_run_has_its_order() {
        let mut hands = Scripted::new();
        let result = bracket(&mut hands);
        assert_eq!(result.outcome, Outcome::Ok);
        assert_eq!(
            hands.asked,
            [
                "prepare", "settle", "verify", "time", "verify", "cleanup", "clear", "decode"
            ]
        );
    }

    #[test]
    fn a_run_that_could_not_be_prepared_is_cleaned_up_and_not_timed() {
        let mut hands = Scripted::new();
        hands.prepare = StepEnd::Failed("exit code 1".to_owned());
        let result = bracket(&mut hands);
        assert_eq!(
            result.outcome,
            Outcome::Failed(Failure::Step {
                step: "prepare".to_owned(),
                reason: "exit code 1".to_owned()
            })
        );
        assert_eq!(hands.asked, ["prepare", "cleanup", "clear"]);
    }

    #[test]
    fn an_interruption_anywhere_still_cleans_up() {
        let mut hands = Scripted::new();
        hands.prepare = StepEnd::Interrupted;
        assert_eq!(bracket(&mut hands).outcome, Outcome::Interrupted);
        assert_eq!(hands.asked, ["prepare", "cleanup within a limit", "clear"]);

        let mut hands = Scripted::new();
        hands.settled.interrupted = true;
        hands.settled.settling.waited = Duration::from_millis(3);
        let result = bracket(&mut hands);
        assert_eq!(result.outcome, Outcome::Interrupted);
        assert_eq!(result.settling.waited, Duration::from_millis(3));
        assert_eq!(
            hands.asked,
            ["prepare", "settle", "cleanup within a limit", "clear"]
        );

        let mut hands = Scripted::new();
        hands.timed = HowTimed::Interrupted;
        assert_eq!(bracket(&mut hands).outcome, Outcome::Interrupted);
        assert!(hands.asked.contains(&"cleanup within a limit".to_owned()));
    }

    #[test]
    fn a_cleanup_that_fails_is_a_note_and_no_failure() {
        let mut hands = Scripted::new();
        hands.cleanup = StepEnd::Failed("exit code 1".to_owned());
        let result = bracket(&mut hands);
        assert_eq!(result.outcome, Outcome::Ok);
        assert_eq!(result.notes, ["cleanup failed: exit code 1"]);
    }
}
