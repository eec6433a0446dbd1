//! What is counted over many experiments.

use crate::{COVERAGE, MOST_FALSE};

/// How often the tool was right and wrong.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub experiments: usize,
    /// Experiments with a verdict that is not true.
    pub false_verdicts: usize,
    /// Experiments with an effect, and those that found it.
    pub effects: usize,
    pub found: usize,
    /// Intervals of 95 %, and those that cover the truth.
    pub intervals: usize,
    pub covered: usize,
    /// Recommendations: the true best, another or one where there is none, undecided.
    pub named_right: usize,
    pub named_wrong: usize,
    pub undecided: usize,
    /// Attempts in which a setting was turned back, those that were caught, and those that were
    /// called tainted for nothing.
    pub attempts: usize,
    pub reverted: usize,
    pub caught: usize,
    pub tainted_for_nothing: usize,
}

impl Counts {
    pub fn add(&mut self, other: &Self) {
        self.experiments += other.experiments;
        self.false_verdicts += other.false_verdicts;
        self.effects += other.effects;
        self.found += other.found;
        self.intervals += other.intervals;
        self.covered += other.covered;
        self.named_right += other.named_right;
        self.named_wrong += other.named_wrong;
        self.undecided += other.undecided;
        self.attempts += other.attempts;
        self.reverted += other.reverted;
        self.caught += other.caught;
        self.tainted_for_nothing += other.tainted_for_nothing;
    }

    pub fn print_heading() {
        println!(
            "{:39}{:>16}{:>16}{:>18}{:>24}{:>20}",
            "situation",
            "false verdict",
            "found",
            "covered",
            "best: right/wrong/none",
            "tainted: caught"
        );
    }

    pub fn print(&self, name: &str) {
        let share = |part: usize, of: usize| {
            if of == 0 {
                "-".to_owned()
            } else {
                format!("{part}/{of} {:.1}%", 100.0 * part as f64 / of as f64)
            }
        };
        println!(
            "{name:39}{:>16}{:>16}{:>18}{:>24}{:>20}",
            share(self.false_verdicts, self.experiments),
            share(self.found, self.effects),
            share(self.covered, self.intervals),
            format!(
                "{}/{}/{}",
                self.named_right, self.named_wrong, self.undecided
            ),
            if self.reverted == 0 {
                "-".to_owned()
            } else {
                format!("{}/{} of {}", self.caught, self.reverted, self.attempts)
            }
        );
    }

    /// Whether there are too many false verdicts, `slack` allowed for.
    pub fn false_faults(&self, slack: f64) -> Option<String> {
        let share = self.false_verdicts as f64 / self.experiments.max(1) as f64;
        (share > MOST_FALSE + slack).then(|| {
            format!(
                "{:.2} % of the experiments have a false verdict",
                100.0 * share
            )
        })
    }

    /// What is beyond its bounds over all situations, `slack` allowed for.
    pub fn faults(&self, slack: f64) -> Vec<String> {
        let mut faults = Vec::new();
        let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
        let mut check = |holds: bool, what: String| {
            if !holds {
                faults.push(what);
            }
        };
        let wrong = share(self.named_wrong, self.experiments);
        check(
            wrong <= MOST_FALSE + slack,
            format!("{:.2} % of the recommendations are wrong", 100.0 * wrong),
        );
        let covered = share(self.covered, self.intervals);
        check(
            (COVERAGE.start() - slack..=COVERAGE.end() + slack).contains(&covered),
            format!("{:.2} % of the intervals cover the truth", 100.0 * covered),
        );
        check(
            self.caught == self.reverted && self.reverted > 0,
            format!(
                "{} of {} runs whose setting was turned back were caught",
                self.caught, self.reverted
            ),
        );
        check(
            self.tainted_for_nothing == 0,
            format!(
                "{} runs were called tainted for nothing",
                self.tainted_for_nothing
            ),
        );
        check(
            self.named_right > self.named_wrong,
            "the true best is hardly ever named".to_owned(),
        );
        faults
    }
}
