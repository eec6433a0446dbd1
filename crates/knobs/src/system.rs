//! The system that a target runs: it decides which catalogue is spoken of, and how.

use knobstat_sys::root::Root;

use crate::catalogue::{Catalogue, Entry, Mechanism};
use crate::knob::EntryHandle;
use crate::named;

/// The system that a target runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum System {
    /// Settings are files.
    #[default]
    Linux,
    /// Settings are variables, read and set through sysctl(8).
    FreeBsd {
        /// The words that start sysctl(8): its name, or what reaches the target it is on.
        sysctl: Vec<String>,
    },
}

/// What every FreeBSD since 10.0 has: freebsd-version(1).
const MARK_OF_FREEBSD: &str = "/bin/freebsd-version";
/// Where sysctl(8) is.
const SYSCTL: &str = "/sbin/sysctl";

impl System {
    /// The system of the machine beneath a root. The machine that this program runs on has Linux;
    /// a laid-out tree may stand for a machine with FreeBSD, whose settings are then reached
    /// through the tree's own `/sbin/sysctl`, whatever that is: it may ask another host.
    pub fn of(root: &Root) -> Self {
        if root.is_real() || !root.exists(MARK_OF_FREEBSD) {
            return Self::Linux;
        }
        if !root.exists(SYSCTL) {
            return Self::freebsd();
        }
        Self::FreeBsd {
            sysctl: vec![root.resolve(SYSCTL).display().to_string()],
        }
    }

    /// FreeBSD with its own sysctl(8), found along the search path.
    pub fn freebsd() -> Self {
        Self::FreeBsd {
            sysctl: vec!["sysctl".to_owned()],
        }
    }

    /// Its catalogue.
    pub(crate) fn catalogue(&self) -> &'static Catalogue {
        match self {
            Self::Linux => Catalogue::linux(),
            Self::FreeBsd { .. } => Catalogue::freebsd(),
        }
    }

    /// The entry of a name: of the catalogue, or one whose name says where it is.
    pub(crate) fn entry(&self, name: &str) -> Option<EntryHandle> {
        let entry = match (self.catalogue().entry(name), self) {
            (Some(entry), Self::Linux) => return Some(EntryHandle::Catalogued(entry)),
            (Some(entry), Self::FreeBsd { .. }) => entry.clone(),
            (None, Self::Linux) => named::entry(name)?,
            (None, Self::FreeBsd { .. }) => named::freebsd_entry(name)?,
        };
        Some(EntryHandle::Named(Box::new(self.spoken_to(entry))))
    }

    fn spoken_to(&self, mut entry: Entry) -> Entry {
        if let (Mechanism::Sysctl(variable), Self::FreeBsd { sysctl }) =
            (&mut entry.mechanism, self)
        {
            variable.program.clone_from(sysctl);
        }
        entry
    }
}
