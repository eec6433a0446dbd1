//! A test that waits for something that never comes fails, and says what there was.

use std::fs;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use knobstat_knobs::guardian;
use knobstat_sys::processes;
use libtest_mimic::Failed;

/// Far more than any of these takes, on any machine.
const LIMIT: Duration = Duration::from_secs(600);

/// Carries a test out. One that is not over at the limit has failed, whatever it waits for.
pub fn within_the_limit(test: fn()) -> Result<(), Failed> {
    let (done, over) = channel();
    let carried_out = std::thread::spawn(move || {
        test();
        // Nobody waits any more for one that comes late.
        let _ = done.send(());
    });
    match over.recv_timeout(LIMIT) {
        Err(RecvTimeoutError::Timeout) => Err(Failed::from(format!(
            "it is not over after {LIMIT:?}; there are: {}",
            those_about().join("; ")
        ))),
        // It is over, well or by a panic, which is handed on.
        Ok(()) | Err(RecvTimeoutError::Disconnected) => carried_out
            .join()
            .map_err(|panic| std::panic::resume_unwind(panic)),
    }
}

/// The agents and guardians that are there, and what they wait for.
fn those_about() -> Vec<String> {
    let about = |pid: u32| {
        let words = processes::command_line(pid)?.join(" ");
        let waits = fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default();
        (words.contains(guardian::COMMAND) || words.contains(" agent "))
            .then(|| format!("{pid} {words} in {waits}"))
    };
    let all = processes::all().into_iter();
    all.filter_map(|process| about(process.pid)).collect()
}
