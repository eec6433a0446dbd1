//! A bound on every test that has a place: when its time is over, or it has failed, what it started
//! is ended. So nothing that it waits for keeps the other tests waiting for ever, and nothing of it
//! is left behind.

use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use knobstat_sys::processes;

/// The variable by which what a test started is found, whatever became of it.
pub const MARK: &str = "KNOBSTAT_TEST";

/// Far more than any test takes, on any machine.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// The same where the long campaigns are carried out.
const LONG_LIMIT: Duration = Duration::from_secs(12 * 3600);

/// For what is asked to end: it may have settings to put back.
const GRACE: Duration = Duration::from_secs(10);

/// Lasts as long as its test.
pub struct Limit {
    mark: String,
    _over: Sender<()>,
}

impl Limit {
    /// For what is started with this place in its environment, by the name of [`MARK`].
    pub fn on(place: &Path) -> Self {
        let limit = match std::env::var_os("KNOBSTAT_LONG") {
            Some(_) => LONG_LIMIT,
            None => LIMIT,
        };
        Self::of(place, limit)
    }

    /// The same, as long as this.
    pub fn of(place: &Path, limit: Duration) -> Self {
        let mark = place.display().to_string();
        let (over, until) = channel::<()>();
        let watched = mark.clone();
        std::thread::spawn(move || {
            if until.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                // Past what captures the words of tests: this one may never come to an end.
                let _ = writeln!(
                    io::stderr(),
                    "a test has had {limit:?}, and what it started is ended:\n{}",
                    states(&watched)
                );
                processes::end_marked(MARK, &watched, GRACE);
            }
        });
        Self { mark, _over: over }
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        if std::thread::panicking() {
            processes::end_marked(MARK, &self.mark, GRACE);
        }
    }
}

/// What a test started and is still there, a line each: what it is and what it waits for.
fn states(mark: &str) -> String {
    let line = |pid: u32| {
        let of = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}"));
        let words = processes::command_line(pid).unwrap_or_default().join(" ");
        let stat = of("stat").unwrap_or_default();
        let state = stat.rsplit(") ").next().unwrap_or_default();
        let state = state.split(' ').next().unwrap_or_default();
        let waits = of("wchan").unwrap_or_default();
        format!("{pid} {state} {waits} {words}\n")
    };
    processes::marked(MARK, mark)
        .into_iter()
        .map(|process| line(process.pid))
        .collect()
}
