//! From a file of /proc/pressure to stalled time: the kernel's accounting/psi.rst.

use knobstat_data::{Evidence, Unit};

use crate::evidence::{evidence, seconds};

/// Totals are in microseconds.
const PER_SECOND: f64 = 1e6;

/// Evidence from the text before and the text after.
pub(super) fn decode(resource: &str, texts: Result<(&str, &str), String>) -> Vec<Evidence> {
    // That all tasks wait for the CPU at once is not defined for the machine as a whole.
    let kinds: &[&str] = match resource {
        "cpu" => &["some"],
        _ => &["some", "full"],
    };
    kinds
        .iter()
        .map(|kind| {
            let value = texts.as_ref().map_err(Clone::clone).and_then(|texts| {
                let total = |text| {
                    total(text, kind).ok_or_else(|| format!("the kernel shows no total of {kind}"))
                };
                seconds(total(texts.0)?, total(texts.1)?, PER_SECOND)
            });
            let key = format!("pressure.{resource}.{kind}");
            evidence(key, "machine", Unit::SECONDS, value)
        })
        .collect()
}

fn total(text: &str, kind: &str) -> Option<u64> {
    text.lines()
        .find(|line| line.split(' ').next() == Some(kind))?
        .split(' ')
        .find_map(|word| word.strip_prefix("total="))?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "some avg10=99.31 avg60=98.90 avg300=82.75 total=698214120\n\
                          full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
    const AFTER: &str = "some avg10=99.31 avg60=98.90 avg300=82.75 total=698714120\n\
                         full avg10=0.00 avg60=0.00 avg300=0.00 total=250\n";

    #[test]
    fn stalled_time_is_in_seconds() {
        let decoded = decode("io", Ok((BEFORE, AFTER)));
        let values: Vec<_> = decoded
            .iter()
            .map(|one| (one.key.as_str(), one.value.clone()))
            .collect();
        assert_eq!(
            values,
            [
                ("pressure.io.some", Ok(0.5)),
                ("pressure.io.full", Ok(0.000_25))
            ]
        );
        assert_eq!(decode("cpu", Ok((BEFORE, AFTER))).len(), 1);
    }

    #[test]
    fn what_is_lacking_is_a_reason() {
        for texts in [Err("psi=0".to_owned()), Ok(("", ""))] {
            assert!(decode("io", texts).iter().all(|one| one.value.is_err()));
        }
    }
}
