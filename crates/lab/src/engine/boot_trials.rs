//! How often a boot is tried before its runs have failed.
//!
//! Knows boots by their settings and nothing of what they are boots of.

use knobstat_data::words::Setting;

/// A boot is tried so often, and so is a run that takes the machine with it.
pub(super) const MOST_TRIES: u32 = 3;

/// What is known of boots that did not come up, or went away.
#[derive(Debug, Default)]
pub(super) struct BootTrials {
    never_came_up: Vec<Vec<Setting>>,
    lost_between_runs: u32,
}

impl BootTrials {
    /// How often a boot with these settings is tried: one that did not come up before is not
    /// waited for as often again.
    pub(super) fn tries(&self, settings: &[Setting]) -> u32 {
        if self.never_came_up.iter().any(|known| known == settings) {
            1
        } else {
            MOST_TRIES
        }
    }

    /// A boot with these settings came up in none of its tries.
    pub(super) fn never_came_up(&mut self, settings: &[Setting]) {
        if self.tries(settings) > 1 {
            self.never_came_up.push(settings.to_vec());
        }
    }

    /// A machine went away while nothing ran on it; whether that happens too often to go on.
    pub(super) fn is_lost_too_often(&mut self) -> bool {
        self.lost_between_runs += 1;
        self.lost_between_runs > MOST_TRIES
    }
}
