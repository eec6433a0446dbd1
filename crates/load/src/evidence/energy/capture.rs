//! Reads /sys/class/powercap, and the batteries.

use std::fs;
use std::path::Path;

use knobstat_data::Evidence;

use super::battery::{self, Battery};
use super::decode::{decode, none};
use crate::evidence::capture::Counters;
use crate::evidence::{Moment, Sampler};

const ZONES: &str = "/sys/class/powercap";

/// The counters of all zones and batteries.
pub(crate) struct Energy {
    zones: Vec<Zone>,
    batteries: Vec<Battery>,
}

struct Zone {
    /// `package-0`, or `package-0.dram` for a part of it.
    name: String,
    /// Where its counter begins anew, in microjoules.
    range: Option<u64>,
    counters: Counters,
}

impl Energy {
    /// Finds every zone and battery.
    pub(crate) fn new() -> Self {
        let mut names: Vec<String> = fs::read_dir(ZONES)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.contains(':'))
            .collect();
        names.sort();
        let text = |zone: &str, file: &str| {
            let path = Path::new(ZONES).join(zone).join(file);
            fs::read_to_string(path).map(|text| text.trim().to_owned())
        };
        let zone = |zone: &String| {
            let own = text(zone, "name").ok()?;
            // A part is named after its zone: intel-rapl:0:1 belongs to intel-rapl:0.
            let whole = zone
                .rsplit_once(':')
                .and_then(|(whole, _)| text(whole, "name").ok());
            Some(Zone {
                name: whole.map_or(own.clone(), |whole| format!("{whole}.{own}")),
                range: text(zone, "max_energy_range_uj")
                    .ok()
                    .and_then(|range| range.parse().ok()),
                counters: Counters::kept(Path::new(ZONES).join(zone).join("energy_uj")),
            })
        };
        Self {
            zones: names.iter().filter_map(zone).collect(),
            batteries: battery::all(),
        }
    }
}

impl Sampler for Energy {
    fn capture(&mut self, moment: Moment) {
        for zone in &mut self.zones {
            zone.counters.capture(moment);
        }
        for battery in &mut self.batteries {
            battery.capture(moment);
        }
    }

    fn decode(&self) -> Vec<Evidence> {
        if self.zones.is_empty() && self.batteries.is_empty() {
            return none();
        }
        let of_zones = self
            .zones
            .iter()
            .map(|zone| decode(&zone.name, zone.range, zone.counters.texts()));
        of_zones
            .chain(self.batteries.iter().map(Battery::decode))
            .collect()
    }
}
