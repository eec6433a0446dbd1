//! The energy that the machine used during a run, where it has a counter.

use knobstat_data::Evidence;

use super::figures::EnergyFigures;
use crate::evidence::{Energy, Moment, Sampler};

/// Reads the machine's counters before and after.
pub(super) struct EnergyMeter(Energy);

impl EnergyMeter {
    /// Opens the counters and reads them.
    pub(super) fn start() -> Self {
        let mut energy = Energy::new();
        energy.capture(Moment::Before);
        Self(energy)
    }

    /// What was used since.
    pub(super) fn stop(&mut self) -> EnergyFigures {
        self.0.capture(Moment::After);
        EnergyFigures(of_the_machine(&self.0.decode()))
    }
}

/// The packages' energy in joules, or else the battery's, or why there is neither. Pure.
fn of_the_machine(found: &[Evidence]) -> Result<f64, String> {
    let mut packages: Vec<&Evidence> = Vec::new();
    for one in found {
        // The parts of a package are in it, and one is shown by two interfaces on some machines.
        let is_whole = one.scope.starts_with("package") && !one.scope.contains('.');
        if is_whole && packages.iter().all(|other| other.scope != one.scope) {
            packages.push(one);
        }
    }
    if !packages.is_empty() {
        return packages.iter().map(|one| one.value.clone()).sum();
    }
    let others = found
        .iter()
        .filter(|one| one.scope.starts_with("battery") || one.value.is_err());
    let mut reason = "no counter here is of the whole machine".to_owned();
    for one in others {
        match &one.value {
            Ok(joules) => return Ok(*joules),
            Err(why) => reason.clone_from(why),
        }
    }
    Err(reason)
}

#[cfg(test)]
mod tests {
    use knobstat_data::Unit;

    use super::*;

    fn found(counters: &[(&str, Result<f64, &str>)]) -> Result<f64, String> {
        let evidence: Vec<Evidence> = counters
            .iter()
            .map(|(scope, value)| Evidence {
                key: "energy".to_owned(),
                scope: (*scope).to_owned(),
                unit: Unit::new("J"),
                value: value.map_err(str::to_owned),
            })
            .collect();
        of_the_machine(&evidence)
    }

    #[test]
    fn packages_are_added_up_and_their_parts_are_not() {
        let counters = [
            ("package-0", Ok(2.0)),
            ("package-0.dram", Ok(0.5)),
            ("package-0", Ok(2.0)),
            ("package-1", Ok(3.0)),
            ("psys", Ok(9.0)),
        ];
        assert_eq!(found(&counters), Ok(5.0));
    }

    #[test]
    fn a_battery_tells_where_no_package_does() {
        assert_eq!(
            found(&[("machine", Err("none")), ("battery BAT0", Ok(36.0))]),
            Ok(36.0)
        );
    }

    #[test]
    fn what_cannot_be_read_is_a_reason() {
        assert_eq!(
            found(&[("package-0", Err("root only"))]),
            Err("root only".to_owned())
        );
        assert_eq!(found(&[("machine", Err("none"))]), Err("none".to_owned()));
        assert!(found(&[]).is_err());
    }

    #[test]
    fn whatever_this_machine_has_is_a_number_or_a_reason() {
        match EnergyMeter::start().stop().0 {
            Ok(joules) => assert!(joules >= 0.0),
            Err(reason) => assert!(!reason.is_empty()),
        }
    }
}
