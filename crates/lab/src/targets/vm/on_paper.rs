//! A guest that is not booted: for printing a plan, which boots can be had is known beforehand,
//! and what a guest can take while it runs is not.

use std::collections::BTreeSet;
use std::path::PathBuf;

use knobstat_data::Machine;
use knobstat_data::experiment::VirtualMachine;
use knobstat_data::messages::{
    Availability, Description, Refusal, RefusalKind, Reply, Request, Restoration, SettingState,
};
use knobstat_data::words::Setting;

use super::{Boots, BootsError};
use crate::kernels::Cache;
use crate::target::{Opened, Session, Target, TargetError};

/// A guest that only describes itself, as far as that takes no boot.
#[derive(Clone)]
pub struct VmOnPaper {
    boots: Option<Boots>,
    at_boot: BTreeSet<String>,
}

impl VmOnPaper {
    /// The guest of an experiment whose knobs of these names are decided at boot, and why nothing
    /// is known of its boots where there is no kernel.
    pub fn new(
        machine: &VirtualMachine,
        directory: PathBuf,
        cache: Cache,
        at_boot: Vec<String>,
    ) -> (Self, Option<BootsError>) {
        let (boots, why) = match Boots::new(machine, directory, cache) {
            Ok(boots) => (Some(boots), None),
            Err(error) => (None, Some(error)),
        };
        let at_boot = at_boot.into_iter().collect();
        (Self { boots, at_boot }, why)
    }

    fn availability(&self, setting: &Setting) -> Availability {
        match &self.boots {
            Some(boots) if self.at_boot.contains(&setting.factor) => boots.availability(setting),
            _ => Availability::Available,
        }
    }
}

impl Target for VmOnPaper {
    fn open(&mut self, _boot: &[Setting]) -> Result<Opened, TargetError> {
        Ok(Opened::Session(Box::new(self.clone())))
    }

    fn cannot_boot(&self, settings: &[Setting]) -> Option<String> {
        self.boots.as_ref()?.cannot(settings)
    }
}

impl Session for VmOnPaper {
    fn call(&mut self, request: Request) -> Result<Reply, TargetError> {
        Ok(match request {
            Request::Describe(describe) => Reply::Described(Box::new(Description {
                machine: Machine::default(),
                settings: describe
                    .wanted
                    .into_iter()
                    .map(|setting| SettingState {
                        availability: self.availability(&setting),
                        setting,
                    })
                    .collect(),
                hindrances: Vec::new(),
                lacking_cells: Vec::new(),
            })),
            Request::Restore => Reply::Restored(Restoration::default()),
            _ => Reply::Refused(Refusal {
                kind: RefusalKind::Protocol,
                cause: "the guest was not booted".to_owned(),
                remedy: "boot it".to_owned(),
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use knobstat_data::messages::{Describe, WantedWorkload};

    use super::*;

    #[test]
    fn without_a_kernel_nothing_is_known_and_nothing_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let (mut guest, why) = VmOnPaper::new(
            &VirtualMachine::default(),
            directory.path().to_owned(),
            Cache::of([directory.path().to_owned()]),
            vec!["hz".to_owned()],
        );
        assert!(why.unwrap().to_string().contains("vm prepare"));
        let reply = guest.call(Request::Describe(Describe {
            own_knobs: Vec::new(),
            wanted: vec![Setting::new("hz", 250), Setting::new("clocksource", "tsc")],
            starts: Vec::new(),
            workload: WantedWorkload::default(),
            may_reboot: None,
        }));
        let Ok(Reply::Described(description)) = reply else {
            panic!("it does not describe itself");
        };
        let states = description.settings.iter();
        assert!(
            states
                .into_iter()
                .all(|state| state.availability == Availability::Available)
        );
    }
}
