//! The longest latency that a CPU may need to wake up: a request to the kernel that lasts as long
//! as a descriptor is held, and so ends with the harness in every ending.
//!
//! What is read is the smallest of all requests, whoever made them. (The kernel's documentation:
//! power/pm_qos_interface.rst.) In a laid-out tree the file is one like any other, and journalled.

use knobstat_data::Level;

use crate::availability::Unavailable;
use crate::catalogue::Entry;
use crate::files::Files;
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

/// The microseconds of a level: `10us`, `2ms`, or a number without a unit.
pub fn microseconds(level: &str) -> Option<u64> {
    let digits = level.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor: u64 = match level[digits.len()..].trim() {
        "" | "us" => 1,
        "ms" => 1000,
        "s" => 1_000_000,
        _ => return None,
    };
    let digits = digits.trim_end();
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse::<u64>().ok()?.checked_mul(factor))?
}

/// The level as the file shows it, where it is one.
pub fn canonical(level: &str) -> Option<String> {
    if level == NO_LIMIT {
        return Some(NO_LIMIT.to_owned());
    }
    let limit = i32::try_from(microseconds(level)?).ok()?;
    Some(limit.to_string())
}

/// What has to be written for a level.
///
/// # Errors
/// When it is neither a time nor `none`.
pub fn plan(files: &dyn Files, entry: &Entry, level: &str) -> Result<Plan, Unavailable> {
    read(files, entry)?;
    let Some(value) = canonical(level) else {
        return Err(Unavailable::without_remedy(format!(
            "{level} is no latency: write one such as 10us, or {NO_LIMIT}"
        )));
    };
    Ok(Plan {
        side_effects: Vec::new(),
        writes: vec![Write {
            held: !files.keeps_bytes(),
            ..Write::file(PATH.to_owned(), Form::Microseconds, value)
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_has_a_unit_or_is_in_microseconds() {
        for (level, value) in [
            ("10us", Some("10")),
            ("10", Some("10")),
            ("2ms", Some("2000")),
            ("1s", Some("1000000")),
            ("0", Some("0")),
            ("none", Some("none")),
            ("-1", None),
            ("ten", None),
            ("1h", None),
            ("9999999999", None),
        ] {
            assert_eq!(canonical(level).as_deref(), value, "{level}");
        }
    }
}
