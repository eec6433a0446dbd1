//! How far a stage is, for a person: one line that is drawn anew on a terminal, and in a pipe one
//! line for each tenth.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use super::plan::Length;
use crate::progress::rough;

/// The cells of the bar.
const BAR: u64 = 24;

/// The share from which the time left is told from how fast it went, and not from what is usual.
const KNOWN_FROM: f64 = 0.05;

/// How far one stage is.
pub struct Course {
    title: String,
    length: Option<Length>,
    terminal: bool,
    begun: Instant,
    lines_before: u64,
    told_tenths: u64,
    open: bool,
}

impl Course {
    /// A stage begins, of which so many lines were written in an earlier attempt.
    pub fn begin(title: &str, length: Option<Length>, lines_before: u64) -> Self {
        let mut course = Self {
            title: title.to_owned(),
            length,
            terminal: io::stderr().is_terminal(),
            begun: Instant::now(),
            lines_before,
            told_tenths: 0,
            open: false,
        };
        let line = course.line(lines_before);
        course.tell(&line);
        course
    }

    /// So many lines have been written by now.
    pub fn seen(&mut self, lines: u64) {
        let Some(length) = self.length else { return };
        let tenths = (lines * 10 / length.lines.max(1)).min(9);
        if self.terminal || tenths > self.told_tenths {
            self.told_tenths = tenths;
            let line = self.line(lines);
            self.tell(&line);
        }
    }

    /// Leaves the terminal at the beginning of an empty line.
    pub fn end(&mut self) {
        if self.open {
            write("\n");
            self.open = false;
        }
    }

    fn line(&self, lines: u64) -> String {
        match self.length {
            None => format!("knobstat: {}", self.title),
            Some(length) => {
                let done = (lines * BAR / length.lines.max(1)).min(BAR);
                let left = left(length, self.lines_before, lines, self.begun.elapsed());
                format!(
                    "[{}{}] {}, about {} left",
                    "#".repeat(done as usize),
                    "-".repeat((BAR - done) as usize),
                    self.title,
                    rough(left)
                )
            }
        }
    }

    fn tell(&mut self, line: &str) {
        if self.terminal {
            write(&format!("\r\x1b[K{line}"));
            self.open = true;
        } else {
            write(&format!("{line}\n"));
        }
    }
}

impl Drop for Course {
    fn drop(&mut self) {
        self.end();
    }
}

/// There is nobody to tell when standard error is gone, and the work goes on.
fn write(text: &str) {
    let mut error = io::stderr().lock();
    let _ = error.write_all(text.as_bytes());
    let _ = error.flush();
}

/// The time left, from how fast it went so far; from what is usual until enough has been seen.
fn left(length: Length, lines_before: u64, lines: u64, elapsed: Duration) -> Duration {
    let all = length.lines.max(1) as f64;
    let missing = (1.0 - lines as f64 / all).max(0.0);
    let since = lines.saturating_sub(lines_before) as f64 / all;
    let seconds = if since < KNOWN_FROM {
        length.seconds as f64 * missing
    } else {
        elapsed.as_secs_f64() / since * missing
    };
    Duration::from_secs_f64(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Length = Length {
        lines: 1000,
        seconds: 500,
    };

    #[test]
    fn the_time_left_is_what_is_usual_and_then_what_was_seen() {
        let left = |before, lines, seconds| {
            left(LENGTH, before, lines, Duration::from_secs(seconds)).as_secs()
        };
        assert_eq!(left(0, 0, 0), 500);
        assert_eq!(left(0, 10, 100), 495);
        assert_eq!(left(0, 100, 100), 900);
        assert_eq!(left(0, 500, 100), 100);
        // What an earlier attempt did says nothing of how fast this one is.
        assert_eq!(left(500, 600, 50), 200);
        assert_eq!(left(0, 1200, 100), 0);
    }
}
