//! The deepest idle state allowed: `C1` lets every CPU sleep as deep as its own state C1 and no
//! deeper.
//!
//! A state's index says nothing (state 3 may be C6) and hybrid parts have different states per
//! CPU, so that a level is found on each CPU by name, and where a CPU has no state of that name,
//! by the exit latency that the name has elsewhere. Shallower states keep the kernel's default:
//! some are off by default. (The kernel's documentation: admin-guide/pm/cpuidle.)

use knobstat_data::Level;

use crate::availability::Unavailable;
use crate::catalogue::Entry;
use crate::files::Files;
use crate::knob::{Plan, Write};
use crate::pattern::numbers;
use crate::special::latency::microseconds;
use crate::special::written::missing;
use crate::value::Form;

const CPUS: &str = "/sys/devices/system/cpu";

/// What the file that turns a state off shows where a user did. A driver that did shows another bit,
/// which no write takes away (CPUIDLE_STATE_DISABLED_BY_DRIVER of linux/cpuidle.h).
const BY_USER: u64 = 1;

/// An idle state of one CPU.
#[derive(Clone, Debug)]
struct State {
    /// The file that turns it off.
    disable: String,
    /// Its name without the processor family that some drivers append: `C1` of `C1-SKX`.
    name: String,
    /// The exit latency in microseconds.
    latency: u64,
    /// Whether it is off now.
    disabled: bool,
    /// Whether it is off unless somebody turns it on.
    disabled_by_default: bool,
}

/// One CPU and its states, in the kernel's order.
#[derive(Clone, Debug)]
struct Cpu {
    number: u32,
    states: Vec<State>,
}

/// A level, and the exit latency that stands for it on CPUs without a state of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Depth {
    name: String,
    latency: u64,
}

/// The level in force.
///
/// # Errors
/// When there are no idle states, or no level describes what the CPUs are allowed.
pub fn read(files: &dyn Files, entry: &Entry) -> Result<Level, Unavailable> {
    let cpus = cpus(files, entry)?;
    depths(&cpus)
        .into_iter()
        .rev()
        .find(|depth| {
            cpus.iter().all(|cpu| {
                cpu.wanted(depth)
                    .all(|(state, disabled)| state.disabled == disabled)
            })
        })
        .map(|depth| Level::text(depth.name))
        .ok_or_else(|| {
            Unavailable::without_remedy(format!(
                "the idle states allowed are those of no level: {}",
                describe(&cpus)
            ))
        })
}

/// Whether a latency that was asked for as a level is what the CPUs are held to.
///
/// # Errors
/// When there are no idle states.
pub fn is_held_to(files: &dyn Files, entry: &Entry, asked: &str) -> Result<bool, Unavailable> {
    let Some(depth) = by_latency(asked) else {
        return Ok(false);
    };
    Ok(cpus(files, entry)?.iter().all(|cpu| {
        cpu.wanted(&depth)
            .all(|(state, disabled)| state.disabled == disabled)
    }))
}

/// A level that is a latency: every state that wakes as fast is allowed.
fn by_latency(level: &str) -> Option<Depth> {
    level.contains('s').then_some(())?;
    Some(Depth {
        // No state has this name, so that latency alone decides.
        name: level.to_owned(),
        latency: microseconds(level)?,
    })
}

/// Every level of this machine, the shallowest first.
pub fn offered(files: &dyn Files, entry: &Entry) -> Vec<String> {
    cpus(files, entry)
        .map(|cpus| depths(&cpus).into_iter().map(|depth| depth.name).collect())
        .unwrap_or_default()
}

/// What has to be written for a level.
///
/// # Errors
/// When no CPU has a state of that name.
pub fn plan(files: &dyn Files, entry: &Entry, level: &str) -> Result<Plan, Unavailable> {
    let cpus = cpus(files, entry)?;
    let depths = depths(&cpus);
    let named = depths.iter().find(|depth| depth.name == level).cloned();
    let Some(depth) = named.or_else(|| by_latency(level)) else {
        let names: Vec<&str> = depths.iter().map(|depth| depth.name.as_str()).collect();
        return Err(Unavailable::new(
            format!(
                "no CPU has an idle state {level}: this machine's are {}",
                names.join(", ")
            ),
            entry.remedies.get(level).cloned().unwrap_or_else(|| {
                "name one of those, or a latency such as 10us: the idle driver and \
                 intel_idle.max_cstate= decide at boot which there are"
                    .to_owned()
            }),
        ));
    };
    let writes = cpus
        .iter()
        .flat_map(|cpu| cpu.wanted(&depth))
        .map(|(state, disabled)| {
            let value = if disabled { "1" } else { "0" };
            Write::file(state.disable.clone(), Form::Plain, value.to_owned())
        })
        .collect();
    Ok(Plan {
        side_effects: Vec::new(),
        writes,
    })
}

impl Cpu {
    /// Every state with whether it is to be off for a level.
    fn wanted<'a>(&'a self, depth: &'a Depth) -> impl Iterator<Item = (&'a State, bool)> {
        let own = self
            .states
            .iter()
            .enumerate()
            .filter(|(_, state)| state.name == depth.name)
            .max_by_key(|(index, state)| (state.latency, *index));
        let deepest = match own {
            Some((index, state)) => (state.latency, index),
            // No state of that name: what wakes as fast is allowed, whatever its place.
            None => (depth.latency, usize::MAX),
        };
        self.states.iter().enumerate().map(move |(index, state)| {
            let disabled = if own.is_some_and(|(own, _)| own == index) {
                false
            } else {
                (state.latency, index) > deepest || state.disabled_by_default
            };
            (state, disabled)
        })
    }
}

/// The names of all states, by the longest exit latency that each has, the shortest first.
fn depths(cpus: &[Cpu]) -> Vec<Depth> {
    let mut depths: Vec<Depth> = Vec::new();
    for state in cpus.iter().flat_map(|cpu| &cpu.states) {
        match depths.iter_mut().find(|depth| depth.name == state.name) {
            Some(depth) => depth.latency = depth.latency.max(state.latency),
            None => depths.push(Depth {
                name: state.name.clone(),
                latency: state.latency,
            }),
        }
    }
    // Stable: states of one latency stay in the kernel's order.
    depths.sort_by_key(|depth| depth.latency);
    depths
}

fn cpus(files: &dyn Files, entry: &Entry) -> Result<Vec<Cpu>, Unavailable> {
    let text = |path: &str| {
        let bytes = files.read(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    };
    let cpus: Vec<Cpu> = numbers(files, CPUS, "cpu", "")
        .into_iter()
        .filter_map(|number| {
            let directory = format!("{CPUS}/cpu{number}/cpuidle");
            let states: Vec<State> = numbers(files, &directory, "state", "")
                .into_iter()
                .filter_map(|index| {
                    let state = format!("{directory}/state{index}");
                    let disable = format!("{state}/disable");
                    Some(State {
                        name: base_name(&text(&format!("{state}/name"))?).to_owned(),
                        latency: text(&format!("{state}/latency"))?.parse().ok()?,
                        disabled: match text(&disable)?.parse::<u64>().ok()? {
                            0 => false,
                            BY_USER => true,
                            // The driver has found that it does not work: it is none.
                            _ => return None,
                        },
                        disabled_by_default: text(&format!("{state}/default_status"))
                            .is_some_and(|status| status == "disabled"),
                        disable,
                    })
                })
                .collect();
            (!states.is_empty()).then_some(Cpu { number, states })
        })
        .collect();
    if cpus.is_empty() {
        Err(missing(files, entry))
    } else {
        Ok(cpus)
    }
}

/// A state's name without what some drivers append: `C6` of `C6-SKX`, `C2` of `C2_ACPI`.
/// Names of another shape (`POLL`, `cpu-sleep-0`) are kept.
fn base_name(name: &str) -> &str {
    let base = name.split(['-', '_']).next().unwrap_or(name);
    let numbered = base
        .strip_prefix('C')
        .is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()));
    if numbered { base } else { name }
}

/// What the CPUs are allowed, those alike together.
fn describe(cpus: &[Cpu]) -> String {
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    for cpu in cpus {
        let names: Vec<&str> = cpu
            .states
            .iter()
            .filter(|state| !state.disabled)
            .map(|state| state.name.as_str())
            .collect();
        let allowed = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(" ")
        };
        match groups.iter_mut().find(|(known, _)| *known == allowed) {
            Some((_, numbers)) => numbers.push(cpu.number),
            None => groups.push((allowed, vec![cpu.number])),
        }
    }
    groups
        .iter()
        .map(|(allowed, numbers)| {
            let list: Vec<String> = numbers.iter().map(u32::to_string).collect();
            // The list as the kernel prints it; it always reads back.
            let list = list.join(",");
            let list = list
                .parse::<knobstat_data::CpuList>()
                .map_or(list, |cpus| cpus.to_string());
            format!("CPU {list}: {allowed}")
        })
        .collect::<Vec<_>>()
        .join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;
    use crate::knob::Knob;

    #[test]
    fn names_lose_their_family_and_nothing_else() {
        for (name, base) in [
            ("C1-SKX", "C1"),
            ("C1E-SKX", "C1E"),
            ("C2_ACPI", "C2"),
            ("C7s-HSW", "C7s"),
            ("POLL", "POLL"),
            ("cpu-sleep-0", "cpu-sleep-0"),
            ("Cluster-off", "Cluster-off"),
            ("WFI", "WFI"),
        ] {
            assert_eq!(base_name(name), base);
        }
    }

    fn state(name: &str, latency: u64, disabled_by_default: bool) -> State {
        State {
            disable: format!("/{name}"),
            name: name.to_owned(),
            latency,
            disabled: false,
            disabled_by_default,
        }
    }

    fn allowed(cpu: &Cpu, name: &str, latency: u64) -> Vec<String> {
        let depth = Depth {
            name: name.to_owned(),
            latency,
        };
        cpu.wanted(&depth)
            .filter(|(_, disabled)| !disabled)
            .map(|(state, _)| state.name.clone())
            .collect()
    }

    #[test]
    fn a_level_allows_its_own_state_and_shallower_ones() {
        let cpu = Cpu {
            number: 0,
            states: vec![
                state("POLL", 0, false),
                state("C1", 1, false),
                state("C1E", 4, true),
                state("C6", 170, false),
                state("C6P", 170, false),
            ],
        };
        assert_eq!(allowed(&cpu, "POLL", 0), ["POLL"]);
        assert_eq!(allowed(&cpu, "C1", 1), ["POLL", "C1"]);
        // Asked for by name, a state that is off by default is on; in passing it is not.
        assert_eq!(allowed(&cpu, "C1E", 4), ["POLL", "C1", "C1E"]);
        assert_eq!(allowed(&cpu, "C6", 170), ["POLL", "C1", "C6"]);
        assert_eq!(allowed(&cpu, "C6P", 170), ["POLL", "C1", "C6", "C6P"]);
        // A name of other CPUs: by its latency.
        assert_eq!(allowed(&cpu, "C3", 60), ["POLL", "C1"]);
    }

    #[test]
    fn a_state_that_its_driver_gave_up_is_left_as_it_is() {
        let state = |index: u32| format!("{CPUS}/cpu0/cpuidle/state{index}");
        let machine = FakeMachine::new(&[]);
        for (index, name, latency, disable) in [
            (0, "C1", "2\n", "0\n"),
            (1, "C2", "30\n", "0\n"),
            (2, "C3", "90\n", "2\n"),
        ] {
            machine.set(&format!("{}/name", state(index)), name);
            machine.set(&format!("{}/latency", state(index)), latency);
            machine.set(&format!("{}/disable", state(index)), disable);
        }
        let knob = Knob::find("cstate", &[]).unwrap();
        assert_eq!(knob.read(&machine).unwrap(), Level::text("C2"));
        // A write would set the user's bit beside the driver's, and no write takes it away again.
        let plan = plan(&machine, knob.entry().unwrap(), "C1").unwrap();
        let written: Vec<String> = plan
            .writes
            .iter()
            .map(|write| format!("{:?}", write.target))
            .collect();
        assert!(
            written.iter().all(|target| !target.contains("state2")),
            "{written:?}"
        );
        assert!(super::plan(&machine, knob.entry().unwrap(), "C3").is_err());
    }
}
