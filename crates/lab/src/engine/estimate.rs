//! How long an experiment will take: from what was asked for before anything ran, and from the
//! runs seen once some did.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use knobstat_data::observation::{Attempt, Outcome};
use knobstat_data::words::{Parameters, Value};

/// Longer than this is asked about first.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long the runs that are still to be done will take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimate {
    /// About this long.
    About(Duration),
    /// No longer than this: it is known only when a run would be ended, or a stop rule may be
    /// content earlier.
    AtMost(Duration),
    /// Nothing is known: one run is needed to know.
    Unknown {
        /// How many runs there are.
        runs: u64,
    },
}

impl Estimate {
    /// The same where the experiment may end earlier than counted.
    pub(super) fn at_most(self) -> Self {
        match self {
            Self::About(time) => Self::AtMost(time),
            other => other,
        }
    }

    /// Whether it may be longer than a day, as far as anything is known.
    pub fn exceeds_a_day(&self) -> bool {
        match self {
            Self::About(time) | Self::AtMost(time) => *time > A_DAY,
            Self::Unknown { .. } => false,
        }
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::About(time) => write!(f, "about {}", Rough(*time)),
            Self::AtMost(time) => write!(f, "at most {}", Rough(*time)),
            Self::Unknown { .. } => write!(f, "for how long the first run will tell"),
        }
    }
}

/// A stretch of time to two digits' worth: `3 d 4 h`, `2 h 5 min`, `12 min`, `8 s`.
struct Rough(Duration);

impl fmt::Display for Rough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs_f64().ceil() as u64;
        let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
        if days > 0 {
            write!(f, "{days} d {} h", hours % 24)
        } else if hours > 0 {
            write!(f, "{hours} h {} min", minutes % 60)
        } else if minutes > 0 {
            write!(f, "{minutes} min {} s", seconds % 60)
        } else {
            write!(f, "{seconds} s")
        }
    }
}

/// The estimate before anything ran: for each treatment how many runs there are, and what the
/// workload was asked for. A workload that has a `duration` takes that long, one that has a
/// `timeout` no longer; `settle` comes before each run, and `boots` is for all boots together.
pub(super) fn beforehand<'p>(
    runs: impl IntoIterator<Item = (u64, &'p Parameters)>,
    settle: Duration,
    boots: Duration,
) -> Estimate {
    let mut total = boots;
    let mut count = 0;
    let mut is_limit = false;
    let mut is_unknown = false;
    for (number, parameters) in runs {
        count += number;
        let one = match (parameters.get("duration"), parameters.get("timeout")) {
            (Some(Value::Duration(duration)), _) => *duration,
            (_, Some(Value::Duration(timeout))) => {
                is_limit = true;
                *timeout
            }
            _ => {
                is_unknown |= number > 0;
                Duration::ZERO
            }
        };
        total = total.saturating_add(times(one.saturating_add(settle), number));
    }
    if is_unknown {
        Estimate::Unknown { runs: count }
    } else if is_limit {
        Estimate::AtMost(total)
    } else {
        Estimate::About(total)
    }
}

/// How long runs took, by treatment.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    treatments: BTreeMap<usize, Taken>,
    all: Taken,
    boots: Taken,
}

#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    runs: u32,
    time: Duration,
}

impl Taken {
    fn add(&mut self, time: Duration) {
        self.runs += 1;
        self.time = self.time.saturating_add(time);
    }

    fn mean(self) -> Option<Duration> {
        self.time.checked_div(self.runs)
    }
}

impl Pace {
    /// The pace of attempts made earlier, by their own stopwatch and their waits.
    pub(super) fn of(attempts: &[Attempt]) -> Self {
        let mut pace = Self::default();
        for attempt in attempts {
            if let (false, Some(times)) = (
                attempt.result.outcome == Outcome::Interrupted,
                &attempt.result.times,
            ) {
                let waited = attempt.result.settling.waited;
                pace.saw(attempt.treatment, times.boottime.saturating_add(waited));
            }
        }
        pace
    }

    /// A run of a treatment took this long, everything around it included.
    pub(super) fn saw(&mut self, treatment: usize, took: Duration) {
        self.treatments.entry(treatment).or_default().add(took);
        self.all.add(took);
    }

    /// A boot took this long.
    pub(super) fn saw_boot(&mut self, took: Duration) {
        self.boots.add(took);
    }

    /// How long so many runs of each treatment and so many boots will take; a treatment that was
    /// not seen yet takes as long as the others on average. Nothing before any was seen.
    pub(super) fn left(&self, remaining: &BTreeMap<usize, u64>, boots: u64) -> Option<Duration> {
        let usual = self.all.mean()?;
        let one = |treatment| {
            self.treatments
                .get(treatment)
                .and_then(|taken| taken.mean())
                .unwrap_or(usual)
        };
        Some(
            remaining
                .iter()
                .map(|(treatment, &runs)| times(one(treatment), runs))
                .fold(self.boots_take(boots), Duration::saturating_add),
        )
    }

    /// How long so many boots take, as far as any was seen.
    pub(super) fn boots_take(&self, boots: u64) -> Duration {
        times(self.boots.mean().unwrap_or_default(), boots)
    }
}

fn times(one: Duration, number: u64) -> Duration {
    u32::try_from(number)
        .ok()
        .and_then(|number| one.checked_mul(number))
        .unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, seconds: u64) -> Parameters {
        let value = Value::Duration(Duration::from_secs(seconds));
        Parameters::from([(name.to_owned(), value)])
    }

    #[test]
    fn what_was_asked_for_tells_how_long_it_takes() {
        let settle = Duration::from_millis(200);
        let short = with("duration", 3);
        assert_eq!(
            beforehand([(10, &short), (5, &short)], settle, Duration::from_secs(12)),
            Estimate::About(Duration::from_secs(60))
        );
        let limited = with("timeout", 60);
        let estimate = beforehand([(1441, &limited)], Duration::ZERO, Duration::ZERO);
        assert_eq!(estimate, Estimate::AtMost(Duration::from_secs(86_460)));
        assert!(estimate.exceeds_a_day());
        assert_eq!(estimate.to_string(), "at most 1 d 0 h");
        let nothing = Parameters::new();
        let estimate = beforehand([(1, &limited), (7, &nothing)], settle, Duration::ZERO);
        assert_eq!(estimate, Estimate::Unknown { runs: 8 });
        assert!(!estimate.exceeds_a_day());
    }

    #[test]
    fn absurd_numbers_are_long_and_no_panic() {
        let long = with("duration", u64::MAX);
        let estimate = beforehand([(u64::MAX, &long)], Duration::MAX, Duration::MAX);
        assert!(estimate.exceeds_a_day());
        assert!(!estimate.to_string().is_empty());
    }

    #[test]
    fn a_treatment_not_seen_yet_takes_as_long_as_the_others() {
        let mut pace = Pace::default();
        let remaining = BTreeMap::from([(0, 2), (1, 1), (2, 3)]);
        assert_eq!(pace.left(&remaining, 0), None);
        pace.saw(0, Duration::from_secs(1));
        pace.saw(1, Duration::from_secs(3));
        let runs = Duration::from_secs(2 + 3 + 6);
        assert_eq!(pace.left(&remaining, 5), Some(runs));
        pace.saw_boot(Duration::from_secs(4));
        pace.saw_boot(Duration::from_secs(6));
        let boots = Duration::from_secs(2 * 5);
        assert_eq!(pace.left(&remaining, 2), Some(runs + boots));
    }
}
