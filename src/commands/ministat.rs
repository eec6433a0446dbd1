//! `knobstat ministat`: files, terminal and exit codes around the pure ministat of
//! `knobstat_stats`.
//!
//! Knows nothing of the rest of knobstat: the program also answers to the name `ministat`, where
//! the arguments are that program's, and `--compat`.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::process::ExitCode;

use knobstat_stats::ministat::{self, Environment, Failure, Input, Sources, Terminal};

/// Exit code of a program that SIGPIPE ends, as shells report it.
const BROKEN_PIPE: u8 = 141;

/// Bytes per write.
const OUTPUT_BUFFER: usize = 64 * 1024;

/// Runs ministat with `arguments`, the program's and the command's name not among them.
#[must_use]
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let written = ministat::run(&arguments, &environment(), &mut Files).and_then(|report| {
        let mut output = BufWriter::with_capacity(OUTPUT_BUFFER, io::stdout().lock());
        report
            .write_to(&mut output)
            .and_then(|()| output.flush())
            .map_err(|reason| Failure::CannotWrite { reason })
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the report has read enough.
        Err(Failure::CannotWrite { reason }) if reason.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::from(BROKEN_PIPE)
        }
        Err(failure) => {
            complain(&failure.message());
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Writes to standard error. Where that fails there is nowhere left to say so.
fn complain(message: &[u8]) {
    let _ = io::stderr().lock().write_all(message);
}

fn environment() -> Environment {
    let terminal = io::stdout().is_terminal().then(|| {
        let columns = env::var_os("COLUMNS");
        Terminal::new(columns.as_deref(), knobstat_sys::terminal::columns())
    });
    Environment {
        terminal,
        posixly_correct: env::var_os("POSIXLY_CORRECT").is_some(),
    }
}

/// Inputs from the file system.
struct Files;

impl Sources for Files {
    type Reader = Box<dyn Read>;

    fn open(&mut self, input: &Input) -> io::Result<Self::Reader> {
        match input {
            Input::StandardInput => Ok(Box::new(io::stdin().lock())),
            Input::File(name) => {
                let file = File::open(name)?;
                // A directory opens, and the original finds nothing in it.
                if file.metadata()?.is_dir() {
                    return Ok(Box::new(io::empty()));
                }
                Ok(Box::new(file))
            }
        }
    }
}
