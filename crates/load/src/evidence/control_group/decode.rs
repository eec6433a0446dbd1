//! From a control group's accounts to evidence: the kernel's admin-guide/cgroup-v2.rst.

use knobstat_data::{Evidence, Unit};

use crate::evidence::{evidence, seconds};

/// Times of these files are in microseconds.
const PER_SECOND: f64 = 1e6;

/// The texts of a group's files.
pub(super) struct Readings<'a> {
    /// `cpu.stat`, before and after.
    pub(super) processor: Result<(&'a str, &'a str), String>,
    /// `cpu.pressure`, before and after.
    pub(super) pressure: Result<(&'a str, &'a str), String>,
    /// `memory.peak`, after.
    pub(super) memory: Result<&'a str, String>,
}

/// Evidence from the accounts.
pub(super) fn decode(readings: &Readings<'_>) -> Vec<Evidence> {
    of(
        growth(&readings.processor, used),
        growth(&readings.pressure, waited),
        readings.memory.clone().and_then(|text| {
            let bytes: u64 = text
                .trim()
                .parse()
                .map_err(|_| format!("\"{}\" is no size", text.trim()))?;
            Ok(bytes as f64)
        }),
    )
}

/// Why there is none.
pub(super) fn lacking(reason: &str) -> Vec<Evidence> {
    let reason = || Err(reason.to_owned());
    of(reason(), reason(), reason())
}

fn of(
    used: Result<f64, String>,
    waited: Result<f64, String>,
    peak: Result<f64, String>,
) -> Vec<Evidence> {
    vec![
        evidence("group.cpu.time", "run", Unit::SECONDS, used),
        evidence("group.cpu.wait", "run", Unit::SECONDS, waited),
        evidence("group.memory.peak", "run", Unit::BYTES, peak),
    ]
}

fn growth(
    texts: &Result<(&str, &str), String>,
    find: impl Fn(&str) -> Option<u64>,
) -> Result<f64, String> {
    let (before, after) = texts.clone()?;
    let number = |text| find(text).ok_or_else(|| "the kernel shows no total".to_owned());
    seconds(number(before)?, number(after)?, PER_SECOND)
}

/// `usage_usec N`.
fn used(text: &str) -> Option<u64> {
    let number = text
        .lines()
        .find_map(|line| line.strip_prefix("usage_usec "))?;
    number.trim().parse().ok()
}

/// `some … total=N`.
fn waited(text: &str) -> Option<u64> {
    text.lines()
        .find_map(|line| line.strip_prefix("some "))?
        .split(' ')
        .find_map(|word| word.strip_prefix("total="))?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_differences_and_the_peak_is_a_size() {
        let found = decode(&Readings {
            processor: Ok((
                "usage_usec 1500\nuser_usec 1000\n",
                "usage_usec 2001500\nuser_usec 9\n",
            )),
            pressure: Ok((
                "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
                "some avg10=0.10 avg60=0.00 avg300=0.00 total=250000\nfull avg10=0.00 total=3\n",
            )),
            memory: Ok("1048576\n"),
        });
        let values: Vec<_> = found
            .iter()
            .map(|one| (one.key.as_str(), one.value.clone()))
            .collect();
        assert_eq!(
            values,
            [
                ("group.cpu.time", Ok(2.0)),
                ("group.cpu.wait", Ok(0.25)),
                ("group.memory.peak", Ok(1_048_576.0)),
            ]
        );
    }

    #[test]
    fn what_is_not_told_is_a_reason() {
        let found = decode(&Readings {
            processor: Ok(("", "")),
            pressure: Err("no such file".to_owned()),
            memory: Ok("max"),
        });
        assert!(found.iter().all(|one| one.value.is_err()), "{found:?}");
        let found = lacking("no group");
        assert!(
            found
                .iter()
                .all(|one| one.value == Err("no group".to_owned()))
        );
    }
}
