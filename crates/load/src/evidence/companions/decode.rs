//! From /proc/PID/status, proc_pid_status(5), to context switches.

use knobstat_data::{Evidence, Unit};

use crate::evidence::harness::{SWITCHES, VOLUNTARY_SWITCHES};
use crate::evidence::{evidence, growth};

/// The lines that count voluntary and involuntary switches.
const LINES: [&str; 2] = ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"];

/// Evidence from the text before and the text after.
pub(super) fn decode(scope: &str, texts: Result<(&str, &str), String>) -> Vec<Evidence> {
    let grown = texts.and_then(|(before, after)| {
        let mut grown = [0.0; 2];
        for (grown, line) in grown.iter_mut().zip(LINES) {
            *grown = growth(count(before, line)?, count(after, line)?)?;
        }
        Ok(grown)
    });
    let all = grown.as_ref().map(|[voluntary, other]| voluntary + other);
    let voluntary = grown.as_ref().map(|[voluntary, _]| *voluntary);
    vec![
        evidence(SWITCHES, scope, Unit::COUNT, all.map_err(Clone::clone)),
        evidence(
            VOLUNTARY_SWITCHES,
            scope,
            Unit::COUNT,
            voluntary.map_err(Clone::clone),
        ),
    ]
}

fn count(text: &str, name: &str) -> Result<u64, String> {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|count| count.trim().parse().ok())
        .ok_or_else(|| "the kernel does not count the switches of a process".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_are_told_apart() {
        let before =
            "Name:\tknobstat\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t1\n";
        let after =
            "Name:\tknobstat\nvoluntary_ctxt_switches:\t8\nnonvoluntary_ctxt_switches:\t3\n";
        let decoded = decode("front", Ok((before, after)));
        let values: Vec<_> = decoded.iter().map(|one| one.value.clone()).collect();
        assert_eq!(values, [Ok(3.0), Ok(1.0)]);
        assert!(decoded.iter().all(|one| one.scope == "front"));
    }

    #[test]
    fn what_is_lacking_is_a_reason() {
        for texts in [Err("gone".to_owned()), Ok(("Name:\n", "Name:\n"))] {
            assert!(
                decode("guardian", texts)
                    .iter()
                    .all(|one| one.value.is_err())
            );
        }
    }
}
