//! The knobs of a simulated machine: what they are set to, and what they can be set to.
//!
//! Names and levels are those of the catalogue of knobs, so that the same experiment file is right
//! for a real machine and for its model.

use knobstat_data::words::Level;

use crate::machine::MachineFile;

/// The knobs that a change of which needs another boot or another kernel.
pub const BOOT_KNOBS: [&str; 2] = ["hz", "idletick"];

/// What every knob is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The clock source in force, as an index into the machine's clocks.
    pub clock: usize,
    /// The deepest idle state that is allowed, as an index into the machine's.
    pub deepest: usize,
    /// Whether idle CPUs tick.
    pub idle_tick: bool,
    /// Ticks a second.
    pub hz: u32,
    /// Whether a frequency above the base one is granted.
    pub turbo: bool,
    /// Whether the second thread of every core is online.
    pub smt: bool,
}

/// Why a knob cannot be set so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    /// Why, in one sentence.
    pub reason: String,
    /// What would help.
    pub remedy: Option<String>,
}

impl Settings {
    /// What a machine is set to when nobody chose.
    pub fn of(machine: &MachineFile) -> Self {
        Self {
            clock: 0,
            deepest: machine.idle_states.len().saturating_sub(1),
            idle_tick: machine.tick.idle_tick.value,
            hz: machine.tick.hz.value.first().copied().unwrap_or(1000),
            turbo: machine.cores.turbo.is_some(),
            smt: machine.cores.threads_per_core.value > 1,
        }
    }

    /// The same with one knob set.
    ///
    /// # Errors
    /// When the machine has no such knob or level.
    pub fn with(&self, machine: &MachineFile, knob: &str, level: &str) -> Result<Self, Lacking> {
        let mut settings = self.clone();
        match knob {
            "clocksource" => {
                let names = machine.clocks.iter().map(|clock| clock.name.as_str());
                settings.clock = place(names, knob, level)?;
            }
            "cstate" => {
                let names = machine.idle_states.iter().map(|state| state.name.as_str());
                settings.deepest = place(names, knob, level)?;
            }
            "hz" => {
                let rates: Vec<String> = machine.tick.hz.value.iter().map(u32::to_string).collect();
                let index = place(rates.iter().map(String::as_str), knob, level)?;
                settings.hz = machine.tick.hz.value[index];
            }
            "idletick" => settings.idle_tick = switch(knob, level)?,
            "turbo" => {
                settings.turbo = switch(knob, level)?;
                if settings.turbo && machine.cores.turbo.is_none() {
                    return Err(Lacking {
                        reason: "the machine file has no frequencies for turbo".to_owned(),
                        remedy: Some("add `cores.turbo` to it".to_owned()),
                    });
                }
            }
            "smt" => {
                settings.smt = switch(knob, level)?;
                if settings.smt && machine.cores.threads_per_core.value < 2 {
                    return Err(Lacking {
                        reason: "the cores of this machine have one thread each".to_owned(),
                        remedy: None,
                    });
                }
            }
            _ => {
                return Err(Lacking {
                    reason: format!("a model has no knob {knob}"),
                    remedy: Some(
                        "its knobs are clocksource, cstate, hz, idletick, smt and turbo".to_owned(),
                    ),
                });
            }
        }
        Ok(settings)
    }

    /// The level of a knob; nothing where there is no such knob.
    pub fn level(&self, machine: &MachineFile, knob: &str) -> Option<Level> {
        let on = |on: bool| Level::from(if on { "on" } else { "off" });
        match knob {
            "clocksource" => machine
                .clocks
                .get(self.clock)
                .map(|clock| Level::text(&clock.name)),
            "cstate" => machine
                .idle_states
                .get(self.deepest)
                .map(|state| Level::text(&state.name)),
            "hz" => Some(Level::Integer(i64::from(self.hz))),
            "idletick" => Some(on(self.idle_tick)),
            "turbo" => Some(on(self.turbo)),
            "smt" => Some(on(self.smt)),
            _ => None,
        }
    }
}

fn place<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    knob: &str,
    level: &str,
) -> Result<usize, Lacking> {
    names
        .clone()
        .position(|name| name == level)
        .ok_or_else(|| Lacking {
            reason: format!("the machine file has no {knob} \"{level}\""),
            remedy: Some(format!("it has {}", names.collect::<Vec<_>>().join(", "))),
        })
}

fn switch(knob: &str, level: &str) -> Result<bool, Lacking> {
    match level {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => Err(Lacking {
            reason: format!("{knob} is \"on\" or \"off\", not \"{level}\""),
            remedy: None,
        }),
    }
}
