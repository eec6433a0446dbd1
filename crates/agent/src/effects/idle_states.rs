//! Which idle states CPUs go into while this process sleeps: the effect of limits on them.
//!
//! By the counters of cpuidle (the kernel's documentation: admin-guide/pm/cpuidle.rst). What they
//! count is what was asked for; the processor may still have gone less deep. A use is counted when
//! the CPU wakes, and nothing wakes a CPU because a state of it is turned off: the first that each
//! CPU wakes from may have begun before the level was in force.

use std::thread::sleep;
use std::time::Duration;

use knobstat_data::Unit;
use knobstat_data::words::Setting;
use knobstat_sys::root::Root;

use super::Seen;

const CPUS: &str = "/sys/devices/system/cpu";
/// How many times this process sleeps, and for how long.
const NAPS: u32 = 20;
const NAP: Duration = Duration::from_millis(5);
/// How many uses of a state that is not allowed may have begun while it was.
const BEGUN_BEFORE: u64 = 1;

/// An idle state of a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    name: String,
    latency: u64,
    off: bool,
    usage: u64,
}

/// Counts the uses of idle states over a tenth of a second.
///
/// # Errors
/// When this machine shows no idle states.
pub fn look(root: &Root, setting: &Setting) -> Result<Seen, String> {
    let before = states(root);
    if before.is_empty() {
        return Err("this machine shows no idle states".to_owned());
    }
    for _ in 0..NAPS {
        sleep(NAP);
    }
    Ok(judge(setting, &before, &states(root)))
}

fn judge(setting: &Setting, before: &[State], after: &[State]) -> Seen {
    let longest = limit_in_microseconds(setting);
    let is_forbidden =
        |state: &State| state.off || longest.is_some_and(|longest| state.latency > longest);
    let used: Vec<&State> = before
        .iter()
        .zip(after)
        .filter(|(before, after)| {
            let uses = after.usage.saturating_sub(before.usage);
            uses > if is_forbidden(after) { BEGUN_BEFORE } else { 0 }
        })
        .map(|(_, after)| after)
        .collect();
    let deepest = used.iter().max_by_key(|state| state.latency);
    let forbidden = used.iter().find(|state| is_forbidden(state));
    Seen {
        figure: "time_to_leave_the_deepest_idle_state_used",
        unit: Unit::new("us"),
        value: deepest.map_or(0.0, |state| state.latency as f64),
        absent: forbidden.map(|state| {
            format!(
                "{} is used although {setting} does not allow a state that takes {} us to leave",
                state.name, state.latency
            )
        }),
    }
}

/// The limit that the level of a latency knob sets.
fn limit_in_microseconds(setting: &Setting) -> Option<u64> {
    let level = setting.level.to_string();
    ["latency", "resume_latency"]
        .contains(&setting.factor.as_str())
        .then(|| knobstat_knobs::microseconds(&level))?
}

/// Every state of every CPU, in one order.
fn states(root: &Root) -> Vec<State> {
    let list = |directory: &str, prefix: &str| -> Vec<String> {
        root.list(directory)
            .unwrap_or_default()
            .into_iter()
            .filter(|name| {
                name.strip_prefix(prefix).is_some_and(|number| {
                    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
                })
            })
            .map(|name| format!("{directory}/{name}"))
            .collect()
    };
    list(CPUS, "cpu")
        .iter()
        .flat_map(|cpu| list(&format!("{cpu}/cpuidle"), "state"))
        .filter_map(|state| {
            let text = |file: &str| root.read(&format!("{state}/{file}")).ok();
            Some(State {
                name: text("name")?,
                latency: text("latency")?.trim().parse().ok()?,
                off: text("disable")?.trim() != "0",
                usage: text("usage")?.trim().parse().ok()?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(name: &str, latency: u64, off: bool, usage: u64) -> State {
        State {
            name: name.to_owned(),
            latency,
            off,
            usage,
        }
    }

    #[test]
    fn a_state_that_is_off_and_used_shows_that_the_limit_does_not_hold() {
        let before = [state("C1", 2, false, 10), state("C6", 85, true, 7)];
        let after = [state("C1", 2, false, 30), state("C6", 85, true, 7)];
        let seen = judge(&Setting::new("cstate", "C1"), &before, &after);
        assert_eq!((seen.value, seen.absent), (2.0, None));
        let after = [state("C1", 2, false, 30), state("C6", 85, true, 9)];
        let seen = judge(&Setting::new("cstate", "C1"), &before, &after);
        assert_eq!(seen.value, 85.0);
        assert!(seen.absent.unwrap().contains("C6 is used"));
    }

    #[test]
    fn a_sleep_that_began_before_the_level_is_none_of_its() {
        let before = [state("C1", 2, false, 10), state("C6", 85, true, 7)];
        let after = [state("C1", 2, false, 30), state("C6", 85, true, 8)];
        let seen = judge(&Setting::new("cstate", "C1"), &before, &after);
        assert_eq!((seen.value, seen.absent), (2.0, None));
        // Of a state that is allowed a single use counts.
        let after = [state("C1", 2, false, 11), state("C6", 85, true, 7)];
        let seen = judge(&Setting::new("cstate", "C1"), &before, &after);
        assert_eq!(seen.value, 2.0);
    }

    #[test]
    fn a_latency_forbids_what_takes_longer() {
        let before = [state("C1", 2, false, 10), state("C6", 1500, false, 7)];
        let after = [state("C1", 2, false, 30), state("C6", 1500, false, 9)];
        for (level, absent) in [
            ("10us", true),
            ("1499", true),
            ("1ms", true),
            ("2ms", false),
            ("1s", false),
            ("none", false),
        ] {
            let seen = judge(&Setting::new("latency", level), &before, &after);
            assert_eq!(seen.absent.is_some(), absent, "{level}");
        }
    }
}
