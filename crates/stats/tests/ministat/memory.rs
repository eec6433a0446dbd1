//! ministat as a function from memory to memory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;

use knobstat_stats::ministat::{self, Environment, Input, Sources};

/// Files by name; the empty name is standard input.
pub type Files = BTreeMap<OsString, Vec<u8>>;

/// What a program leaves behind.
#[derive(Debug, PartialEq, Eq)]
pub struct Output {
    pub standard_output: Vec<u8>,
    pub standard_error: Vec<u8>,
    pub exit_code: i32,
}

struct Memory<'a>(&'a Files);

impl<'a> Sources for Memory<'a> {
    type Reader = &'a [u8];

    fn open(&mut self, input: &Input) -> io::Result<Self::Reader> {
        match input {
            Input::StandardInput => Ok(self.0.get(OsStr::new("")).map_or(&[], Vec::as_slice)),
            Input::File(name) => match self.0.get(name) {
                Some(bytes) => Ok(bytes),
                // ENOENT, as the system says it on Linux.
                None => Err(io::Error::from_raw_os_error(2)),
            },
        }
    }
}

/// Arguments and files in a form to read and to repeat.
pub fn describe(arguments: &[OsString], files: &Files) -> String {
    let mut text = format!("{arguments:?}");
    for (name, content) in files {
        text += &format!("\n{name:?}: {}", content.escape_ascii());
    }
    text
}

/// Runs ministat on `files`.
pub fn run(arguments: &[OsString], files: &Files) -> Output {
    match ministat::run(arguments, &Environment::default(), &mut Memory(files)) {
        Ok(report) => {
            let mut standard_output = Vec::new();
            report
                .write_to(&mut standard_output)
                .expect("memory takes everything");
            Output {
                standard_output,
                standard_error: Vec::new(),
                exit_code: 0,
            }
        }
        Err(failure) => Output {
            standard_output: Vec::new(),
            standard_error: failure.message(),
            exit_code: failure.exit_code().into(),
        },
    }
}
