//! The energy that a battery gave: `energy_now` of the kernel's ABI/testing/sysfs-class-power. It
//! moves in steps of joules, so that only a long run shows in it.

use std::fs;
use std::path::Path;

use knobstat_data::{Evidence, Unit};

use crate::evidence::capture::Counters;
use crate::evidence::{Moment, counts, evidence};

const SUPPLIES: &str = "/sys/class/power_supply";

/// Counters are in microwatt-hours.
const JOULES_PER_COUNT: f64 = 3600.0 / 1e6;

/// A battery.
pub(super) struct Battery {
    name: String,
    counters: Counters,
}

/// Every battery that tells its energy.
pub(super) fn all() -> Vec<Battery> {
    let mut names: Vec<String> = fs::read_dir(SUPPLIES)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| Path::new(SUPPLIES).join(name).join("energy_now").exists())
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| Battery {
            counters: Counters::kept(Path::new(SUPPLIES).join(&name).join("energy_now")),
            name,
        })
        .collect()
}

impl Battery {
    pub(super) fn capture(&mut self, moment: Moment) {
        self.counters.capture(moment);
    }

    pub(super) fn decode(&self) -> Evidence {
        decode(&self.name, self.counters.texts())
    }
}

/// Evidence from the texts before and after.
fn decode(name: &str, texts: Result<(&str, &str), String>) -> Evidence {
    let value = counts(texts).and_then(|(before, after)| {
        let given = before.checked_sub(after).filter(|&given| given > 0);
        given
            .map(|given| given as f64 * JOULES_PER_COUNT)
            .ok_or_else(|| {
                "the battery's counter did not fall: it is being charged, or the run is shorter \
                 than a step of the counter"
                    .to_owned()
            })
    });
    evidence("energy", format!("battery {name}"), Unit::new("J"), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_battery_gave_is_in_joules() {
        let found = decode("BAT0", Ok(("50000000\n", "49990000\n")));
        assert_eq!(
            (found.scope.as_str(), found.value),
            ("battery BAT0", Ok(36.0))
        );
    }

    #[test]
    fn a_battery_that_is_charged_or_stands_still_tells_nothing() {
        for after in ["50000000", "50010000"] {
            assert!(decode("BAT0", Ok(("50000000", after))).value.is_err());
        }
        assert!(decode("BAT0", Err("gone".to_owned())).value.is_err());
    }
}
