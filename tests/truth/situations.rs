//! The situations: what is true of each, and what goes wrong in it.

use knobstat_data::Record;
use knobstat_data::observation::Outcome;
use knobstat_report::Report;

use crate::bench::Ran;
use crate::counts::Counts;

/// A situation in which many experiments are made.
pub struct Situation {
    /// Its name, as it is printed.
    pub name: &'static str,
    /// The factor and its levels, as in an experiment file.
    pub factors: &'static str,
    /// Further lines of `[analysis]`.
    pub analysis: &'static str,
    /// Lines of `[design]`.
    pub design: &'static str,
    /// `[disturbance]` of the machine file, as lines of name and value.
    pub disturbance: &'static str,
    /// What is true.
    pub truth: Truth,
}

/// What is true of a situation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Truth {
    /// No level differs from another.
    NoEffect,
    /// `turbo = "on"` is faster by its share of the frequency.
    Turbo,
    /// The same, and the margin that the file gives is narrower than the difference.
    BeyondMargin,
}

/// Every situation. Clock sources make no difference to a job; turbo makes it 1 % faster.
pub static SITUATIONS: [Situation; 9] = [
    Situation {
        name: "no effect, noise",
        factors: NO_EFFECT,
        analysis: "",
        design: "replicates = 8",
        disturbance: "noise = 1",
        truth: Truth::NoEffect,
    },
    Situation {
        name: "no effect, drift",
        factors: NO_EFFECT,
        analysis: "",
        design: "replicates = 8",
        disturbance: "noise = 1\ndrift = 0.05",
        truth: Truth::NoEffect,
    },
    Situation {
        name: "no effect, autocorrelation 0.8",
        factors: NO_EFFECT,
        analysis: "",
        design: "replicates = 8",
        disturbance: "noise = 1\nautocorrelation = 0.8",
        truth: Truth::NoEffect,
    },
    Situation {
        name: "no effect, looked at after each block",
        factors: NO_EFFECT,
        analysis: "",
        design: "stop = { half_width = \"0.8%\", max_replicates = 20 }",
        disturbance: "noise = 1",
        truth: Truth::NoEffect,
    },
    Situation {
        name: "effect, noise",
        factors: TURBO,
        analysis: "",
        design: "replicates = 10",
        disturbance: "noise = 1",
        truth: Truth::Turbo,
    },
    Situation {
        name: "effect, drift",
        factors: TURBO,
        analysis: "",
        design: "replicates = 10",
        disturbance: "noise = 1\ndrift = 0.05",
        truth: Truth::Turbo,
    },
    Situation {
        name: "effect, autocorrelation 0.8",
        factors: TURBO,
        analysis: "",
        design: "replicates = 10",
        disturbance: "noise = 1\nautocorrelation = 0.8",
        truth: Truth::Turbo,
    },
    Situation {
        name: "effect, a daemon turns turbo on",
        factors: TURBO,
        analysis: "",
        design: "replicates = 10",
        disturbance: "noise = 1\ndaemon = 10",
        truth: Truth::Turbo,
    },
    Situation {
        name: "effect beyond the margin",
        factors: TURBO,
        analysis: "margin = \"0.9%\"",
        design: "replicates = 20",
        disturbance: "noise = 0.5",
        truth: Truth::BeyondMargin,
    },
];

const NO_EFFECT: &str = "clocksource = [\"tsc\", \"hpet\", \"acpi_pm\"]";
const TURBO: &str = "turbo = [\"off\", \"on\"]";

impl Situation {
    /// What one experiment got right and wrong.
    pub fn judge(&self, ran: &Ran) -> Counts {
        let mut counts = Counts {
            experiments: 1,
            ..Counts::default()
        };
        self.judge_verdicts(&ran.report, ran.difference, &mut counts);
        self.judge_recommendation(&ran.report, &mut counts);
        judge_taints(&ran.record, &mut counts);
        counts
    }

    /// `difference` is the true one of turbo on against off, in seconds.
    fn judge_verdicts(&self, report: &Report, difference: f64, counts: &mut Counts) {
        let mut is_false = false;
        for comparison in &report.comparisons {
            let truth = match self.truth {
                Truth::NoEffect => 0.0,
                Truth::Turbo | Truth::BeyondMargin => difference,
            };
            match (self.truth, comparison.verdict) {
                (Truth::NoEffect, "different") => is_false = true,
                (Truth::Turbo, "different") => {
                    let right_way = comparison.difference.is_some_and(|found| found < 0.0);
                    is_false |= !right_way;
                    counts.found += usize::from(right_way);
                }
                (Truth::Turbo | Truth::BeyondMargin, "equivalent") => is_false = true,
                (Truth::BeyondMargin, "different") => counts.found += 1,
                _ => {}
            }
            // The interval of the only comparison of a family is one of 95 %.
            if report.comparisons.len() == 1
                && let Some(interval) = comparison.interval
            {
                counts.intervals += 1;
                counts.covered += usize::from(interval.0 <= truth && truth <= interval.1);
            }
        }
        counts.effects += usize::from(self.truth != Truth::NoEffect);
        counts.false_verdicts += usize::from(is_false);
    }

    fn judge_recommendation(&self, report: &Report, counts: &mut Counts) {
        for choice in &report.recommendation.choices {
            let Some(best) = &choice.best else {
                counts.undecided += 1;
                continue;
            };
            let is_right = self.truth != Truth::NoEffect
                && best
                    .0
                    .level("turbo")
                    .is_some_and(|level| level.to_string() == "on");
            if is_right {
                counts.named_right += 1;
            } else {
                counts.named_wrong += 1;
            }
        }
    }
}

/// A run in which the daemon acted ran at the frequency of turbo, whatever was asked for: the
/// simulation's own evidence tells, which the taint was not decided by.
fn judge_taints(record: &Record, counts: &mut Counts) {
    for attempt in &record.attempts {
        let frequency = attempt
            .result
            .evidence
            .iter()
            .find(|one| one.key == "frequency.effective")
            .and_then(|one| one.value.clone().ok());
        let asked = record.plan.treatments[attempt.treatment]
            .treatment
            .level("turbo")
            .map(ToString::to_string);
        let reverted = asked.as_deref() == Some("off") && frequency.is_some_and(|mhz| mhz > 3001.0);
        let tainted = matches!(attempt.result.outcome, Outcome::Tainted(_));
        counts.attempts += 1;
        counts.reverted += usize::from(reverted);
        counts.caught += usize::from(reverted && tainted);
        counts.tainted_for_nothing += usize::from(tainted && !reverted);
    }
}
