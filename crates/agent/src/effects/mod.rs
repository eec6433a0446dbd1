//! Effect checks: whether a level that reads as set is in force, seen by what it does.
//!
//! Each level of each knob whose entry in the catalogue names a check is brought into force once
//! before the first run, looked at for a moment, and put back. What was seen is evidence of the
//! first run. A laid-out tree has no effects to be seen. Nothing here knows a plan or a workload.

mod busy_frequency;
mod clock_reads;
mod idle_states;
mod idle_tick;
mod timer_interrupts;
mod timer_resolution;

use knobstat_data::words::Setting;
use knobstat_data::{Evidence, Unit};
use knobstat_knobs::EffectCheck;
use knobstat_sys::clock::Stopwatch;
use knobstat_sys::root::Root;

/// What a check saw of a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// What was counted: `ns_per_reading`.
    figure: &'static str,
    /// Its unit.
    unit: Unit,
    /// How much.
    value: f64,
    /// Why this means that the level is not in force, where it does.
    absent: Option<String>,
}

/// One level to be looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Look<'a> {
    /// The level.
    pub of: &'a Setting,
    /// What is brought into force for it: whatever has the same level in all runs, and the level.
    pub settings: Vec<Setting>,
    /// How its effect is looked for.
    pub check: EffectCheck,
    /// Whether the level before it was another factor's, which says nothing of this one: idle
    /// states that are off take turbo away.
    pub is_first_of_factor: bool,
}

/// Every level of these that has an effect to be looked for, by factor in the order given.
pub fn looks(wanted: &[Setting]) -> Vec<Look<'_>> {
    let is_constant = |setting: &Setting| {
        let of_factor = |other: &&Setting| other.factor == setting.factor;
        wanted.iter().filter(of_factor).count() == 1
    };
    let mut looks: Vec<Look<'_>> = Vec::new();
    for setting in wanted {
        let Some(check) = knobstat_knobs::effect_check(&setting.factor) else {
            continue;
        };
        let constants = wanted
            .iter()
            .filter(|other| other.factor != setting.factor && is_constant(other));
        let last = looks.last().map(|look| &look.of.factor);
        looks.push(Look {
            of: setting,
            settings: constants.chain([setting]).cloned().collect(),
            check,
            is_first_of_factor: last != Some(&setting.factor),
        });
    }
    looks
}

/// Looks for the effect of a level that is set; as evidence.
pub fn look(
    root: &Root,
    stopwatch: &Stopwatch,
    check: EffectCheck,
    setting: &Setting,
) -> Vec<Evidence> {
    if !root.is_real() {
        return vec![unseen(
            setting,
            "a laid-out tree has no effects: its settings are files".to_owned(),
        )];
    }
    let level = setting.level.to_string();
    let seen = match check {
        EffectCheck::ClockReads => Ok(clock_reads::look(stopwatch, &level)),
        EffectCheck::IdleStates => idle_states::look(root, setting),
        EffectCheck::TimerInterrupts => timer_interrupts::look(&setting.factor, &level),
        EffectCheck::IdleTick => idle_tick::look(&setting.factor, &level),
        EffectCheck::TimerResolution => Ok(timer_resolution::look(&level)),
        EffectCheck::BusyFrequency => busy_frequency::look(&setting.factor, &level),
    };
    match seen {
        Ok(seen) => told(setting, seen),
        Err(reason) => vec![unseen(setting, reason)],
    }
}

/// That nothing can be seen of a level, and why.
pub fn unseen(setting: &Setting, reason: String) -> Evidence {
    Evidence {
        key: "effect".to_owned(),
        scope: setting.to_string(),
        unit: Unit::COUNT,
        value: Err(reason),
    }
}

fn told(setting: &Setting, seen: Seen) -> Vec<Evidence> {
    let mut evidence = vec![Evidence {
        key: format!("effect.{}", seen.figure),
        scope: setting.to_string(),
        unit: seen.unit,
        value: Ok(seen.value),
    }];
    evidence.extend(seen.absent.map(|why| Evidence {
        key: "effect_absent".to_owned(),
        scope: setting.to_string(),
        unit: Unit::COUNT,
        value: Err(why),
    }));
    evidence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_looked_at_beside_what_all_runs_have_and_no_level_of_another_factor() {
        let wanted = [
            Setting::new("cstate", "C1"),
            Setting::new("cstate", "POLL"),
            Setting::new("governor", "performance"),
            Setting::new("swappiness", 10),
            Setting::new("turbo", "on"),
            Setting::new("turbo", "off"),
        ];
        let told = |look: &Look<'_>| {
            let settings: Vec<String> = look.settings.iter().map(Setting::to_string).collect();
            (settings.join(" "), look.is_first_of_factor)
        };
        let constant = "governor=performance swappiness=10";
        assert_eq!(
            looks(&wanted).iter().map(told).collect::<Vec<_>>(),
            [
                (format!("{constant} cstate=C1"), true),
                (format!("{constant} cstate=POLL"), false),
                ("swappiness=10 governor=performance".to_owned(), true),
                (format!("{constant} turbo=on"), true),
                (format!("{constant} turbo=off"), false),
            ]
        );
    }

    #[test]
    fn a_laid_out_tree_has_no_effects_and_says_so() {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::laid_out(directory.path()).unwrap();
        let stopwatch = Stopwatch::calibrated();
        for check in [
            EffectCheck::ClockReads,
            EffectCheck::IdleStates,
            EffectCheck::TimerInterrupts,
            EffectCheck::IdleTick,
            EffectCheck::TimerResolution,
            EffectCheck::BusyFrequency,
        ] {
            let setting = Setting::new("clocksource", "tsc");
            let evidence = look(&root, &stopwatch, check, &setting);
            let [only] = evidence.as_slice() else {
                panic!("{evidence:?}");
            };
            assert_eq!(only.scope, "clocksource=tsc");
            assert!(only.value.as_ref().unwrap_err().contains("laid-out"));
        }
    }

    #[test]
    fn every_check_sees_something_or_says_why_not_on_this_machine() {
        let root = Root::real();
        let stopwatch = Stopwatch::calibrated();
        for (check, setting) in [
            (EffectCheck::ClockReads, Setting::new("clocksource", "tsc")),
            (EffectCheck::IdleStates, Setting::new("cstate", "C1")),
            (EffectCheck::TimerInterrupts, Setting::new("hz", 250)),
            (EffectCheck::IdleTick, Setting::new("nohz", "on")),
            (EffectCheck::TimerResolution, Setting::new("highres", "on")),
            (EffectCheck::BusyFrequency, Setting::new("turbo", "on")),
        ] {
            for evidence in look(&root, &stopwatch, check, &setting) {
                match evidence.value {
                    Ok(value) => assert!(value.is_finite() && value >= 0.0, "{}", evidence.key),
                    Err(reason) => assert!(!reason.is_empty(), "{}", evidence.key),
                }
            }
        }
    }
}
