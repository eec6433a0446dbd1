//! What goes wrong from run to run: noise and what it remembers, drift, outliers, and others who
//! turn knobs.

use crate::machine::{Disturbance, MachineFile};
use crate::random::Random;
use crate::settings::Settings;

/// The course of the disturbance over the runs of an experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// How many runs there were.
    runs: u64,
    /// The noise of the last run, in standard deviations.
    noise: f64,
}

impl Course {
    /// The place of the next run in the order of execution, from 0.
    pub fn place(&self) -> u64 {
        self.runs
    }

    /// How much longer the next run is than an undisturbed one, as a factor. Its random numbers
    /// come from the run's own stream.
    pub fn next(&mut self, disturbance: &Disturbance, random: &mut Random) -> f64 {
        let place = self.runs as f64;
        self.runs += 1;
        let memory = disturbance
            .autocorrelation
            .as_ref()
            .map_or(0.0, |memory| memory.value);
        let fresh = random.normal();
        // An autoregressive process of order 1 whose standard deviation is 1 from its first value.
        self.noise = if self.runs == 1 {
            fresh
        } else {
            memory * self.noise + (1.0 - memory * memory).sqrt() * fresh
        };
        let share = |parameter: &Option<crate::machine::Parameter<crate::machine::Share>>| {
            parameter.as_ref().map_or(0.0, |share| share.value.0)
        };
        let mut factor = 1.0 + share(&disturbance.noise) * self.noise;
        factor += share(&disturbance.drift) * place;
        if let Some(outliers) = &disturbance.outliers
            && random.happens(outliers.chance.value.0)
        {
            factor += outliers.longer.value.0;
        }
        factor.max(SHORTEST)
    }
}

/// No disturbance makes a run shorter than this share of it.
const SHORTEST: f64 = 0.01;

/// A knob that somebody else turned while a run was under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turned {
    /// The knob.
    pub knob: String,
    /// Who did it.
    pub who: String,
    /// Whether the old level cannot be had again before the next boot.
    pub for_good: bool,
}

/// What others turn while a run is under way; the settings become what they make of them.
pub fn meddle(machine: &MachineFile, settings: &mut Settings, random: &mut Random) -> Vec<Turned> {
    let mut turned = Vec::new();
    for daemon in &machine.disturbance.daemons {
        // Drawn in any case, so that a setting does not change what the next number is for.
        let acts = random.happens(daemon.chance.value.0);
        let present = settings
            .level(machine, &daemon.knob)
            .map(|level| level.to_string());
        if acts
            && present
                .as_ref()
                .is_some_and(|present| *present != daemon.value)
            && let Ok(changed) = settings.with(machine, &daemon.knob, &daemon.value)
        {
            *settings = changed;
            turned.push(Turned {
                knob: daemon.knob.clone(),
                who: daemon.name.clone(),
                for_good: false,
            });
        }
    }
    if let Some(watchdog) = &machine.disturbance.watchdog {
        let acts = random.happens(watchdog.chance.value.0);
        let present = machine.clocks.get(settings.clock);
        if acts
            && present.is_some_and(|clock| clock.name == watchdog.clock)
            && let Ok(changed) = settings.with(machine, "clocksource", &watchdog.replacement)
        {
            *settings = changed;
            turned.push(Turned {
                knob: "clocksource".to_owned(),
                who: "the clocksource watchdog".to_owned(),
                for_good: watchdog.for_good.value,
            });
        }
    }
    turned.extend(doubt(machine, settings));
    turned
}

/// A clock source that stands still in an idle state that is allowed is found out: the kernel
/// puts the next one that does not in its place.
fn doubt(machine: &MachineFile, settings: &mut Settings) -> Option<Turned> {
    let stops = |clock: usize| {
        let clock = machine.clocks.get(clock);
        clock.is_some_and(|clock| {
            clock
                .stops_in_deep_sleep
                .as_ref()
                .is_some_and(|stops| stops.value)
        })
    };
    let sleeps = machine
        .idle_states
        .iter()
        .take(settings.deepest + 1)
        .any(|state| {
            state
                .stops_counters
                .as_ref()
                .is_some_and(|stops| stops.value)
        });
    if !sleeps || !stops(settings.clock) {
        return None;
    }
    settings.clock = (0..machine.clocks.len()).find(|clock| !stops(*clock))?;
    Some(Turned {
        knob: "clocksource".to_owned(),
        who: "the clocksource watchdog: it stood still in deep sleep".to_owned(),
        for_good: true,
    })
}
