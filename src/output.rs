//! Results to standard output, messages to standard error; nothing else writes to either.

use std::io::{self, ErrorKind, IsTerminal, Write};

use crate::trouble::Trouble;

/// Writes a result to standard output. A reader that went away (`knobstat report … | head`) is
/// no error; a disk that is full is.
pub fn result(text: &str) -> Result<(), Trouble> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| {
        if !text.is_empty() && !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    });
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Trouble::disk(
            format!("the result could not be written to standard output ({error})"),
            "Make room where it is written to; experiments are safe in the store.",
        )),
        _ => Ok(()),
    }
}

/// Writes a message to standard error; there is nobody to tell when that fails.
pub fn message(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Whether results may have colour.
pub fn colour_of_results() -> bool {
    io::stdout().is_terminal() && colour_allowed()
}

/// Whether messages may have colour.
pub fn colour_of_messages() -> bool {
    io::stderr().is_terminal() && colour_allowed()
}

/// `NO_COLOR` (no-color.org) and a terminal that calls itself dumb both mean no.
fn colour_allowed() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The width to lay results out for: the terminal's, or 100 columns where there is none.
pub fn width_of_results() -> usize {
    if io::stdout().is_terminal() {
        knobstat_sys::terminal::columns().map_or(100, usize::from)
    } else {
        100
    }
}
