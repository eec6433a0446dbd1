//! What a person sees while an experiment runs: drawn between runs, never during one, so that
//! nothing of it wakes a core that a run needs idle.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::time::Duration;

use knobstat_data::Record;
use knobstat_data::messages::Restoration;
use knobstat_data::observation::{Attempt, Outcome};
use knobstat_data::words::{Setting, Treatment};
use knobstat_lab::engine::{Progress, RunBegins};

/// The cells of the bar.
const BAR: u64 = 24;

/// One line that is drawn anew on a terminal; one line a run in a pipe.
pub struct Lines {
    terminal: bool,
    width: usize,
    /// Whether a line without an end stands on the terminal.
    open: bool,
}

impl Lines {
    /// Lines to standard error.
    pub fn new() -> Self {
        Self {
            terminal: io::stderr().is_terminal(),
            width: knobstat_sys::terminal::columns_of_messages().map_or(100, usize::from),
            open: false,
        }
    }

    /// Leaves the terminal as a person expects it: at the beginning of an empty line.
    pub fn end(&mut self) {
        if self.open {
            self.write("\r\x1b[K");
            self.open = false;
        }
    }

    /// A sentence of its own.
    fn sentence(&mut self, sentence: &str) {
        self.end();
        self.write(&format!("knobstat: {sentence}\n"));
    }

    /// There is nobody to tell when standard error is gone, and the experiment goes on.
    fn write(&self, text: &str) {
        let mut error = io::stderr().lock();
        let _ = error.write_all(text.as_bytes());
        let _ = error.flush();
    }
}

/// A line of progress: bar, run k of n, treatment, time left.
fn line(run: &RunBegins, width: usize) -> String {
    let done = (run.number - 1).saturating_mul(BAR) / run.of.max(1);
    let mut line = format!(
        "[{}{}] run {} of {}{}",
        "#".repeat(usize::try_from(done.min(BAR)).unwrap_or(0)),
        "-".repeat(usize::try_from(BAR - done.min(BAR)).unwrap_or(0)),
        run.number,
        if run.at_most { "at most " } else { "" },
        run.of
    );
    if let Some(left) = run.left {
        let most = if run.at_most { "at most " } else { "" };
        let _ = write!(line, ", {most}{} left", rough(left));
    }
    let _ = write!(line, "  {}", run.treatment);
    if run.warmup.is_some() {
        line.push_str(" (warm-up)");
    }
    if run.attempt > 1 {
        let _ = write!(line, " (attempt {})", run.attempt);
    }
    if line.chars().count() > width {
        line = line.chars().take(width.saturating_sub(1)).collect();
        line.push('…');
    }
    line
}

/// A stretch of time as a person says it.
pub fn rough(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil() as u64;
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=5_999 => format!("{} min", seconds.div_ceil(60)),
        6_000..=172_799 => format!("{} h", seconds.div_ceil(3600)),
        _ => format!("{} days", seconds.div_ceil(86_400)),
    }
}

impl Progress for Lines {
    fn begun(&mut self, record: &Record, put_back: &[String]) {
        for sentence in put_back {
            self.sentence(sentence);
        }
        for omission in &record.omitted {
            self.sentence(&format!(
                "{}={} is left out: {}",
                omission.factor, omission.level, omission.reason
            ));
        }
    }

    fn opens(&mut self, settings: &[Setting]) {
        let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
        let line = match settings.as_slice() {
            [] => "booting".to_owned(),
            settings => format!("booting {}", settings.join(" ")),
        };
        if self.terminal {
            self.write(&format!("\r\x1b[K{line}"));
            self.open = true;
        } else {
            self.write(&format!("{line}\n"));
        }
    }

    fn run_begins(&mut self, run: &RunBegins) {
        if self.terminal {
            self.write(&format!("\r\x1b[K{}", line(run, self.width)));
            self.open = true;
        } else {
            self.write(&format!("{}\n", line(run, usize::MAX)));
        }
    }

    fn run_ended(&mut self, treatment: &Treatment, attempt: &Attempt) {
        match &attempt.result.outcome {
            Outcome::Ok | Outcome::Interrupted => {}
            Outcome::Tainted(taints) => {
                for taint in taints {
                    self.sentence(&format!(
                        "a run of {treatment} is tainted: {} was {} and not {}{}",
                        taint.knob,
                        taint.found,
                        taint.expected,
                        taint
                            .cause
                            .as_ref()
                            .map(|cause| format!(" ({cause})"))
                            .unwrap_or_default()
                    ));
                }
            }
            Outcome::Failed(failure) => self.sentence(&format!(
                "a run of {treatment} failed: {}",
                crate::commands::show::reason(failure)
            )),
        }
    }

    fn warning(&mut self, sentence: &str) {
        self.sentence(sentence);
    }

    fn restored(&mut self, _restoration: &Restoration) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use knobstat_lab::engine::next::Why;

    #[test]
    fn a_line_tells_how_far_it_is_and_how_long_it_will_take() {
        let treatment = Treatment::new([Setting::new("packet_size", 64)]);
        let run = RunBegins {
            number: 13,
            of: 48,
            at_most: false,
            treatment: &treatment,
            block: 1,
            warmup: None,
            attempt: 1,
            why: Why::Planned,
            left: Some(Duration::from_secs(32)),
        };
        assert_eq!(
            line(&run, 200),
            "[######------------------] run 13 of 48, 32 s left  packet_size=64"
        );
        assert_eq!(line(&run, 40).chars().count(), 40);
        let run = RunBegins {
            at_most: true,
            ..run
        };
        assert_eq!(
            line(&run, 200),
            "[######------------------] run 13 of at most 48, at most 32 s left  packet_size=64"
        );
    }

    #[test]
    fn times_are_said_as_a_person_says_them() {
        for (seconds, text) in [
            (0, "0 s"),
            (99, "99 s"),
            (100, "2 min"),
            (7200, "2 h"),
            (400_000, "5 days"),
        ] {
            assert_eq!(rough(Duration::from_secs(seconds)), text);
        }
    }
}
