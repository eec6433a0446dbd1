//! One knob: read, offered levels, and what has to be written for a level.

use std::io;
use std::ops::Deref;

use knobstat_data::experiment::OwnKnob;
use knobstat_data::messages::Availability;
use knobstat_data::vocabulary::Scope;
use knobstat_data::{CpuList, Level};

use crate::availability::{Unavailable, errno_name, explain, probe};
use crate::catalogue::{Entry, Mechanism};
use crate::files::Files;
use crate::journal::Target;
use crate::special::{
    address_randomization, commanded, cpus_online, idle_states, kernel_fact, latency, sysctl,
    written,
};
use crate::system::System;
use crate::value::Form;

/// A knob, whether the catalogue has it, its name says where it is, or the file declared it.
#[derive(Clone, Debug)]
pub enum Knob {
    /// One with an entry.
    Entry(EntryHandle),
    /// One of the experiment file's own.
    Own(OwnKnob),
}

/// An entry of the catalogue, or one made from a name that says where the knob is.
#[derive(Clone, Debug)]
pub enum EntryHandle {
    /// In the catalogue.
    Catalogued(&'static Entry),
    /// Made from a name.
    Named(Box<Entry>),
}

impl Deref for EntryHandle {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        match self {
            Self::Catalogued(entry) => entry,
            Self::Named(entry) => entry,
        }
    }
}

/// What has to be written for a level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Files that the writes change as well.
    pub side_effects: Vec<String>,
    /// The writes, in their order.
    pub writes: Vec<Write>,
}

/// One value written to one setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The setting.
    pub target: Target,
    /// The value.
    pub value: String,
    /// The whole command that sets it, where the setting is spoken to by commands.
    pub command: Vec<String>,
    /// Whether it is in force only as long as a descriptor is held, so that the kernel itself
    /// puts it back, however the harness ends.
    pub held: bool,
}

impl Write {
    /// A value written to a file.
    pub fn file(path: String, form: Form, value: String) -> Self {
        Self {
            target: Target::File { path, form },
            value,
            command: Vec::new(),
            held: false,
        }
    }
}

impl Knob {
    /// The knob of this name on Linux: an own one, one of the catalogue, or `sysctl:NAME`,
    /// `sysfs:PATH`, `irq:N`, `cmdline:NAME`.
    pub fn find(name: &str, own: &[OwnKnob]) -> Option<Self> {
        Self::find_on(&System::Linux, name, own)
    }

    /// The knob of this name on a system: an own one, one of its catalogue, or one whose name says
    /// where it is.
    pub fn find_on(system: &System, name: &str, own: &[OwnKnob]) -> Option<Self> {
        if let Some(own) = own.iter().find(|own| own.name == name) {
            return Some(Self::Own(own.clone()));
        }
        system.entry(name).map(Self::Entry)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Entry(entry) => &entry.name,
            Self::Own(own) => &own.name,
        }
    }

    /// One line on what it is.
    pub fn summary(&self) -> &str {
        match self {
            Self::Entry(entry) => &entry.summary,
            Self::Own(_) => "a knob of the experiment file",
        }
    }

    /// When a change of it takes effect.
    pub fn scope(&self) -> Scope {
        match self {
            Self::Entry(entry) => entry.scope,
            Self::Own(own) => own.scope,
        }
    }

    /// Its place in the order of changes: own knobs come last, after everything they may rest on.
    pub fn order(&self) -> u32 {
        match self {
            Self::Entry(entry) => entry.order,
            Self::Own(_) => u32::MAX,
        }
    }

    /// Its entry, where it has one.
    pub fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Entry(entry) => Some(entry),
            Self::Own(_) => None,
        }
    }

    /// Whether it is handed to the process that is started, and never written.
    pub fn is_process(&self) -> bool {
        self.entry()
            .is_some_and(|entry| matches!(entry.mechanism, Mechanism::AddressRandomization))
    }

    /// The level in force.
    ///
    /// # Errors
    /// Why it cannot be told.
    pub fn read(&self, files: &dyn Files) -> Result<Level, Unavailable> {
        match self {
            Self::Entry(entry) => match &entry.mechanism {
                Mechanism::Files { places } => written::read(files, entry, places),
                Mechanism::IdleStates => idle_states::read(files, entry),
                Mechanism::Latency => latency::read(files, entry),
                Mechanism::KernelFact { fact } => kernel_fact::read(files, fact),
                Mechanism::AddressRandomization => address_randomization::read(files),
                Mechanism::CpusOnline { .. } => cpus_online::read(files, entry),
                Mechanism::Commands(commands) => commanded::read(files, entry, commands),
                Mechanism::Sysctl(sysctl) => sysctl::read(files, entry, sysctl),
            },
            Self::Own(own) => match own_target(own).read(files) {
                Ok(bytes) => Ok(Level::text(own_target(own).value(&bytes))),
                Err(error) => Err(Unavailable::new(
                    format!("its `get` command failed: {error}"),
                    "run the command by hand and put it right in the experiment file",
                )),
            },
        }
    }

    /// The level in force, written as `asked` is where that is what is in force: one level may be
    /// written in several ways (`0,1` and `0-1`, `10us` and `10`).
    ///
    /// # Errors
    /// Why it cannot be told.
    pub fn read_as(&self, files: &dyn Files, asked: &Level) -> Result<Level, Unavailable> {
        let text = asked.to_string();
        if let Some(entry) = self.entry()
            && matches!(entry.mechanism, Mechanism::IdleStates)
            && idle_states::is_held_to(files, entry, &text)?
        {
            return Ok(asked.clone());
        }
        let read = self.read(files)?;
        Ok(if self.is_same(&read, asked) {
            asked.clone()
        } else {
            read
        })
    }

    /// Whether a level that was read is the one asked for, by another name or by the same.
    fn is_same(&self, read: &Level, asked: &Level) -> bool {
        let text = || asked.to_string();
        let same_cpus = || {
            let list = |level: &Level| level.to_string().parse::<CpuList>().ok();
            list(asked).is_some_and(|asked| list(read) == Some(asked))
        };
        read == asked
            || match self.entry().map(|entry| &entry.mechanism) {
                Some(Mechanism::KernelFact { fact }) => kernel_fact::is_present(fact, read, asked),
                Some(Mechanism::Latency) => {
                    latency::canonical(&text()).is_some_and(|asked| *read == Level::text(asked))
                }
                Some(Mechanism::CpusOnline { .. }) => same_cpus(),
                Some(Mechanism::Sysctl(_)) => sysctl::is_same(read, asked),
                Some(Mechanism::Files { places }) => {
                    places.iter().any(|place| place.form == Some(Form::CpuMask)) && same_cpus()
                }
                _ => false,
            }
    }

    /// The levels to show for it: those that the machine offers, and those that it could have.
    pub fn levels(&self, files: &dyn Files) -> Vec<Level> {
        let mut levels: Vec<String> = Vec::new();
        let closed = self.entry().is_some_and(|entry| entry.levels.is_some());
        if let Self::Entry(entry) = self {
            match &entry.mechanism {
                Mechanism::Files { places } => {
                    levels.extend(written::offered(files, entry, places).unwrap_or_default());
                }
                Mechanism::IdleStates => levels.extend(idle_states::offered(files, entry)),
                Mechanism::Latency => levels.extend(latency::examples()),
                Mechanism::Sysctl(sysctl) => levels.extend(sysctl::offered(files, sysctl)),
                Mechanism::KernelFact { .. }
                | Mechanism::AddressRandomization
                | Mechanism::CpusOnline { .. }
                | Mechanism::Commands(_) => {}
            }
            levels.extend(entry.levels.iter().flatten().cloned());
            levels.extend(entry.remedies.keys().cloned());
        }
        // A value outside a closed list is a state of the machine, not a level.
        if !closed {
            levels.extend(self.read(files).ok().map(|level| level.to_string()));
        }
        let mut shown: Vec<Level> = Vec::new();
        for level in levels.into_iter().map(Level::text) {
            if !shown.contains(&level) {
                shown.push(level);
            }
        }
        shown
    }

    /// What has to be written for a level. Whether it may be written is not asked.
    ///
    /// # Errors
    /// Why the level cannot be had here.
    pub fn plan(&self, files: &dyn Files, level: &Level) -> Result<Plan, Unavailable> {
        let text = level.to_string();
        match self {
            Self::Entry(entry) => match &entry.mechanism {
                Mechanism::Files { places } => written::plan(files, entry, places, &text),
                Mechanism::IdleStates => idle_states::plan(files, entry, &text),
                Mechanism::Latency => latency::plan(files, entry, &text),
                Mechanism::KernelFact { fact } => {
                    let present = kernel_fact::read(files, fact)?;
                    if kernel_fact::is_present(fact, &present, level) {
                        Ok(Plan::default())
                    } else {
                        Err(kernel_fact::needs_boot(entry, fact, &present, &text))
                    }
                }
                Mechanism::CpusOnline { side_effects } => {
                    cpus_online::plan(files, entry, side_effects, &text)
                }
                Mechanism::Commands(commands) => commanded::plan(files, entry, commands, &text),
                Mechanism::Sysctl(sysctl) => sysctl::plan(files, entry, sysctl, &text),
                Mechanism::AddressRandomization => address_randomization::plan(files, &text),
            },
            Self::Own(own) if own.scope.needs_boot() => match self.read(files)? {
                present if present == *level => Ok(Plan::default()),
                present => Err(Unavailable::new(
                    format!("it is {present}, and another level needs another boot"),
                    format!("boot with it at {level}, then start the experiment again"),
                )),
            },
            Self::Own(own) => {
                self.read(files)?;
                Ok(Plan {
                    side_effects: Vec::new(),
                    writes: vec![Write {
                        target: own_target(own),
                        command: with_value(&own.set, &text),
                        value: text,
                        held: false,
                    }],
                })
            }
        }
    }

    /// Whether a level can be had. One that is in force already can.
    pub fn availability(&self, files: &dyn Files, level: &Level, refusal: Refused) -> Availability {
        match self.obstacle(files, level, refusal) {
            None => Availability::Available,
            Some(unavailable) => unavailable.into(),
        }
    }

    /// Whether it can be turned at all: whether some other level could be had, or, where the
    /// levels are not known, whether the present one could be written.
    pub fn settable(&self, files: &dyn Files, refusal: Refused) -> Availability {
        if self.scope().needs_boot() {
            return Unavailable::without_remedy("it is decided when the machine boots").into();
        }
        let present = match self.read(files) {
            Ok(present) => present,
            Err(unavailable) => return unavailable.into(),
        };
        let mut others = self.levels(files);
        others.retain(|level| *level != present);
        if others.is_empty() {
            if let Some(entry) = self.entry()
                && let Mechanism::Files { places } = &entry.mechanism
                && let Some(captivity) = written::captivity(files, entry, places)
            {
                return captivity.into();
            }
            others.push(present);
        }
        let mut first = None;
        for level in &others {
            let plan = self.plan(files, level);
            match plan.and_then(|plan| writable(files, &plan, refusal)) {
                Ok(()) => return Availability::Available,
                Err(unavailable) => {
                    first.get_or_insert(unavailable);
                }
            }
        }
        first.map_or(Availability::Available, Availability::from)
    }

    fn obstacle(&self, files: &dyn Files, level: &Level, refusal: Refused) -> Option<Unavailable> {
        if !self.is_process() && self.read_as(files, level).is_ok_and(|read| read == *level) {
            return None;
        }
        let plan = match self.plan(files, level) {
            Ok(plan) => plan,
            Err(unavailable) => return Some(unavailable),
        };
        writable(files, &plan, refusal).err()
    }

    /// What it means that the kernel refused a write of this knob.
    pub fn explain(&self, files: &dyn Files, path: &str, error: &io::Error) -> Unavailable {
        self.entry()
            .and_then(|entry| refusal(entry, error))
            .unwrap_or_else(|| explain(files, &[path], error))
    }
}

/// Whether what has to be written may be written; nothing is.
fn writable(files: &dyn Files, plan: &Plan, refusal: Refused) -> Result<(), Unavailable> {
    if plan.writes.is_empty() {
        return Ok(());
    }
    if let Some(unavailable) = refusal.of(files) {
        return Err(unavailable);
    }
    let paths: Vec<&str> = plan
        .writes
        .iter()
        .filter_map(|write| match &write.target {
            Target::File { path, .. } => Some(path.as_str()),
            Target::Command { .. } => None,
        })
        .collect();
    probe(files, &paths)
}

/// Whether every change of the machine's own settings is refused (`KNOBSTAT_NO_KNOBS=1`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused(pub bool);

impl Refused {
    /// As the environment says: set to anything but nothing and `0`.
    pub fn from_environment() -> Self {
        Self(
            std::env::var_os("KNOBSTAT_NO_KNOBS")
                .is_some_and(|value| !value.is_empty() && value != "0"),
        )
    }

    /// The reason, where it applies. Laid-out trees are never meant.
    pub fn of(self, files: &dyn Files) -> Option<Unavailable> {
        (self.0 && files.is_machine()).then(|| {
            Unavailable::new(
                "KNOBSTAT_NO_KNOBS is set, which refuses every change of this machine's settings",
                "unset KNOBSTAT_NO_KNOBS",
            )
        })
    }
}

/// What an error of a write means for this knob, where the catalogue knows.
pub fn refusal(entry: &Entry, error: &io::Error) -> Option<Unavailable> {
    entry.refused.get(errno_name(error)?).cloned()
}

/// The words of a command with `{value}` replaced.
pub fn with_value(command: &[String], value: &str) -> Vec<String> {
    command
        .iter()
        .map(|word| word.replace("{value}", value))
        .collect()
}

fn own_target(own: &OwnKnob) -> Target {
    Target::Command {
        knob: own.name.clone(),
        get: own.get.clone(),
        restore: own.restore.clone(),
    }
}
