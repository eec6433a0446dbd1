//! The system that a target runs: it decides which catalogue is spoken of, and how.

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

impl System {
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
