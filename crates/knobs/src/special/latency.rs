//! The longest latency that a CPU may need to wake up: a request to the kernel that lasts as long
//! as a descriptor is held, and so ends with the harness in every ending.
//!
//! What is read is the smallest of all requests, whoever made them. (The kernel's documentation:
//! power/pm_qos_interface.rst.) In a laid-out tree the file is one like any other, and journalled.

use knobstat_data::Level;

use crate::availability::Unavailable;
use crate::catalogue::Entry;
use crate::files::Files;
use crate::journal::Target;
use crate::knob::{Plan, Write};
use crate::special::written::missing;
use crate::value::{Form, NO_LIMIT};

const PATH: &str = "/dev/cpu_dma_latency";

/// The smallest limit that anybody asks for, in microseconds, or `none`.
///
/// # Errors
/// When the kernel does not take such requests.
pub fn read(files: &dyn Files, entry: &Entry) -> Result<Level, Unavailable> {
    match files.read(PATH) {
        Ok(bytes) => Ok(Level::text(Form::Microseconds.value(&bytes))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(missing(files, entry)),
        Err(error) => Err(crate::availability::explain(files, &[PATH], &error)),
    }
}

/// Levels to show: any number of microseconds is one.
pub fn examples() -> Vec<String> {
    vec![NO_LIMIT.to_owned(), "0".to_owned()]
}

/// What has to be written for a level.
///
/// # Errors
/// When it is neither a number of microseconds nor `none`.
pub fn plan(files: &dyn Files, entry: &Entry, level: &str) -> Result<Plan, Unavailable> {
    read(files, entry)?;
    if level != NO_LIMIT && !level.parse::<i32>().is_ok_and(|limit| limit >= 0) {
        return Err(Unavailable::without_remedy(format!(
            "{level} is no latency: write a number of microseconds, or {NO_LIMIT}"
        )));
    }
    Ok(Plan {
        side_effects: Vec::new(),
        writes: vec![Write {
            target: Target::File {
                path: PATH.to_owned(),
                form: Form::Microseconds,
            },
            value: level.to_owned(),
            held: !files.keeps_bytes(),
        }],
    })
}
