//! From an energy counter to evidence: the kernel's power/powercap/powercap.rst.

use knobstat_data::{Evidence, Unit};

use crate::evidence::{counts, evidence, growth};

const KEY: &str = "energy";

/// Counters are in microjoules.
const PER_JOULE: f64 = 1e6;

fn joules() -> Unit {
    Unit::new("J")
}

/// Evidence from the texts before and after. A counter begins anew at its range; that it did so
/// twice within a run cannot be seen, and would take hours at the power of any package.
pub(super) fn decode(
    zone: &str,
    range: Option<u64>,
    texts: Result<(&str, &str), String>,
) -> Evidence {
    let value = counts(texts).and_then(|(before, after)| {
        let after = match range {
            Some(range) if after < before => after.saturating_add(range),
            _ => after,
        };
        growth(before, after).map(|microjoules| microjoules / PER_JOULE)
    });
    evidence(KEY, zone, joules(), value)
}

/// For a machine without such counters.
pub(super) fn none() -> Vec<Evidence> {
    let reason = "the kernel shows no energy counter (powercap) here: it does for Intel's and \
                  AMD's processors, and not in most guests"
        .to_owned();
    vec![evidence(KEY, "machine", joules(), Err(reason))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_is_in_joules() {
        let found = decode(
            "package-0",
            Some(262_143_328_850),
            Ok(("1000000\n", "3500000\n")),
        );
        assert_eq!((found.scope.as_str(), found.value), ("package-0", Ok(2.5)));
    }

    #[test]
    fn a_counter_that_began_anew_goes_on() {
        let texts = || Ok(("999000000", "1000000"));
        assert_eq!(decode("dram", Some(1_000_000_000), texts()).value, Ok(2.0));
        assert!(decode("dram", None, texts()).value.is_err());
    }

    #[test]
    fn what_is_lacking_is_a_reason() {
        assert!(
            decode("dram", None, Err("root only".to_owned()))
                .value
                .is_err()
        );
        assert!(none()[0].value.is_err());
    }
}
