//! The catalogue: every knob as data. A new knob is a new entry in `catalogue/linux.toml`, or in
//! `catalogue/freebsd.toml` for a target that runs FreeBSD.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use knobstat_data::vocabulary::Scope;
use serde::Deserialize;

use crate::availability::Unavailable;
use crate::value::Form;

const LINUX: &str = include_str!("../catalogue/linux.toml");
const FREEBSD: &str = include_str!("../catalogue/freebsd.toml");

/// Every knob that is known by a name of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// The entries, in the order of the documentation.
    #[serde(rename = "knob")]
    entries: Vec<Entry>,
}

/// One knob.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name in experiment files.
    pub name: String,
    /// One line on what it is.
    pub summary: String,
    /// What a person should know before varying it.
    pub documentation: String,
    /// When a change of it takes effect.
    pub scope: Scope,
    /// Its place in the order of changes: a lower one is turned first and put back last.
    #[serde(default)]
    pub order: u32,
    /// The levels it can have on any machine, where they are a closed list.
    #[serde(default)]
    pub levels: Option<Vec<String>>,
    /// How to see that it is really in force.
    #[serde(default)]
    pub effect: Option<String>,
    /// The check of that effect which is made once for each level.
    #[serde(default)]
    pub effect_check: Option<EffectCheck>,
    /// What takes its effect away while it reads as set.
    #[serde(default)]
    pub defeated_by: Vec<String>,
    /// Levels of other knobs that may make levels of this one available, in the same experiment.
    #[serde(default)]
    pub opened_by: BTreeMap<String, Vec<String>>,
    /// The daemons that turn it, by the names of `owners`.
    #[serde(default)]
    pub turned_by: Vec<String>,
    /// What to suspect when it changed during a run and no such daemon is running.
    #[serde(default)]
    pub suspect: Option<String>,
    /// What it means that none of its files is there.
    #[serde(default)]
    pub missing: Option<Unavailable>,
    /// The same on a virtual machine.
    #[serde(default)]
    pub missing_in_guest: Option<Unavailable>,
    /// What would make a level available that this machine does not offer.
    #[serde(default)]
    pub remedies: BTreeMap<String, String>,
    /// What an error of a write means, by the name of its number.
    #[serde(default)]
    pub refused: BTreeMap<String, Unavailable>,
    /// How it is read and turned.
    pub mechanism: Mechanism,
}

/// A measurement that shows whether a level is in force, besides its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectCheck {
    /// Nanoseconds for each reading of the clock.
    ClockReads,
    /// The use of each idle state while a CPU sleeps and wakes.
    IdleStates,
    /// Local timer interrupts a second on a busy CPU.
    TimerInterrupts,
    /// Local timer interrupts a second on a CPU that sleeps, against those on a busy one.
    IdleTick,
    /// The resolution of timers.
    TimerResolution,
    /// The frequency of a busy CPU against its nominal one.
    BusyFrequency,
}

/// How a knob is read and turned.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Mechanism {
    /// Files that are written; of several places the first that this machine has.
    Files {
        /// Where it may live.
        places: Vec<Place>,
    },
    /// The deepest idle state allowed, each CPU by itself.
    IdleStates,
    /// The longest wake-up latency allowed, as long as a descriptor is held.
    Latency,
    /// A fact of the kernel that runs: another one needs another boot.
    KernelFact {
        /// Which one.
        fact: Fact,
    },
    /// Address space randomisation of the process that is started.
    AddressRandomization,
    /// The CPUs that are online, each with a switch of its own.
    CpusOnline {
        /// Files that a CPU loses when it goes offline.
        side_effects: Vec<String>,
    },
    /// Commands, once for each instance.
    Commands(Commands),
    /// Variables of FreeBSD, spoken to through sysctl(8).
    Sysctl(Sysctl),
}

/// A knob that commands read and turn, once for each instance such as a network card.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// A path with a `*` that stands for the instances' names.
    pub each: String,
    /// Prints the value; `{instance}` is replaced.
    pub get: Vec<String>,
    /// Sets it; `{instance}` and `{value}` are replaced.
    pub set: Vec<String>,
    /// Files that a change changes as well; they are journalled with it, and put back after it.
    #[serde(default)]
    pub side_effects: Vec<String>,
}

/// A knob that is one or several variables of FreeBSD.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sysctl {
    /// The variable; `#` stands for a number.
    pub variable: String,
    /// The variable's value for each level, where they differ.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    /// The variable or variables that list the levels on offer.
    #[serde(default)]
    pub available: Option<String>,
    /// How they list them.
    #[serde(default)]
    pub listing: Listing,
    /// The loader's variable that decides it at boot.
    #[serde(default)]
    pub tunable: Option<String>,
    /// The words that start sysctl(8); given by the system that is spoken to.
    #[serde(skip)]
    pub program: Vec<String>,
}

/// How a variable of FreeBSD lists what can be chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Listing {
    /// Words: `spin mwait hlt acpi`, with or without commas.
    #[default]
    Words,
    /// Names with a quality: `TSC-low(1000) HPET(950) dummy(-1000000)`.
    Scored,
    /// Fields parted by slashes, the first of which is the level: `C1/1/1 C2/2/41`, `2934/106000`.
    Slashed,
    /// Frequencies as above, of which the first is turbo where it is 1 MHz above the second.
    Turbo,
}

/// A place where a knob may live.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Its file or files: `#` stands for a number (see [`crate::pattern`]).
    pub files: String,
    /// The file's value for each level, where they differ.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    /// The file or files that list the levels on offer.
    #[serde(default)]
    pub available: Option<String>,
    /// Numbers that are levels besides those on offer.
    #[serde(default)]
    pub numbers: Option<Numbers>,
    /// What must exist beside a file, from its directory on, for it to be one of the knob.
    #[serde(default)]
    pub beside: Option<String>,
    /// How the file shows its value; by default as its text appears.
    #[serde(default)]
    pub form: Option<Form>,
    /// Files that a write changes as well; they are journalled with it, and put back after it.
    #[serde(default)]
    pub side_effects: Vec<String>,
    /// Values from which no write leads away.
    #[serde(default)]
    pub stuck: BTreeMap<String, Unavailable>,
}

/// A range of numbers, both ends included.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Numbers {
    /// The smallest.
    pub least: u32,
    /// The largest.
    pub most: u32,
}

impl Numbers {
    /// Whether a word is one of them, as the kernel writes it.
    pub fn contain(self, word: &str) -> bool {
        word.parse().is_ok_and(|number: u32| {
            (self.least..=self.most).contains(&number) && number.to_string() == word
        })
    }
}

/// A fact of the kernel that runs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// Its release, as `uname -r` prints it.
    Release,
    /// CONFIG_HZ.
    Hz,
    /// Whether the tick stops on idle CPUs: `on` or `off`.
    StopsIdleTick,
    /// Whether the tick goes on on idle CPUs: `on` or `off`.
    KeepsIdleTick,
    /// The value of a word of its command line.
    CommandLine(String),
    /// What a file says.
    File {
        /// The file.
        path: String,
        /// The word of the command line that decides it, where one does.
        #[serde(default)]
        parameter: Option<String>,
    },
}

impl Catalogue {
    /// The catalogue of Linux.
    pub fn linux() -> &'static Self {
        static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
        CATALOGUE.get_or_init(|| match toml::from_str(LINUX) {
            Ok(catalogue) => catalogue,
            // The text is compiled in and a test reads it: no input reaches this.
            Err(error) => unreachable!("the built-in catalogue does not read: {error}"),
        })
    }

    /// The catalogue of FreeBSD.
    pub fn freebsd() -> &'static Self {
        static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
        CATALOGUE.get_or_init(|| match toml::from_str(FREEBSD) {
            Ok(catalogue) => catalogue,
            // As above.
            Err(error) => unreachable!("the built-in catalogue does not read: {error}"),
        })
    }

    /// Every entry, in the order of the documentation.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of this name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owners::OWNERS;

    #[test]
    fn the_built_in_catalogue_reads_and_is_consistent() {
        for text in [LINUX, FREEBSD] {
            is_consistent(&toml::from_str(text).unwrap_or_else(|error| panic!("{error}")));
        }
    }

    fn is_consistent(catalogue: &Catalogue) {
        for entry in catalogue.entries() {
            let name = &entry.name;
            assert_eq!(
                catalogue
                    .entries()
                    .iter()
                    .filter(|e| e.name == *name)
                    .count(),
                1,
                "{name} is there twice"
            );
            assert!(!name.contains(':') && !name.contains(char::is_whitespace));
            assert!(!entry.summary.ends_with('.'), "{name}: {}", entry.summary);
            assert!(entry.documentation.trim().ends_with('.'), "{name}");
            for owner in &entry.turned_by {
                assert!(
                    OWNERS.iter().any(|known| known.name == owner),
                    "{name}: {owner} is no known owner"
                );
            }
            for (other, levels) in &entry.opened_by {
                let other = catalogue.entry(other).expect("a knob that opens another");
                assert!(other.order < entry.order, "{name}: it is turned first");
                let known = |level| other.levels.as_ref().is_none_or(|all| all.contains(level));
                assert!(levels.iter().all(known), "{name}: {levels:?}");
            }
            let explanations = [&entry.missing, &entry.missing_in_guest];
            for unavailable in explanations
                .into_iter()
                .flatten()
                .chain(entry.refused.values())
            {
                assert!(!unavailable.reason.ends_with('.'), "{name}");
            }
            if let Mechanism::Files { places } = &entry.mechanism {
                assert_eq!(entry.scope, Scope::Runtime, "{name}");
                assert!(
                    entry.missing.is_some(),
                    "{name}: what does a missing file mean?"
                );
                for place in places {
                    assert!(place.files.starts_with("/sys/") || place.files.starts_with("/proc/"));
                    for level in place.values.keys() {
                        let listed = entry.levels.as_ref().is_none_or(|l| l.contains(level));
                        assert!(listed, "{name}: {level} is not among its levels");
                    }
                }
            }
        }
    }
}
