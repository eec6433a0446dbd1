//! From the harness's own usage around the timed window to evidence.

use std::time::Duration;

use knobstat_data::{Evidence, Unit};
use knobstat_sys::clock::thread_cpu_time;
use knobstat_sys::spawn::Usage;

use crate::evidence::evidence;

/// The key of all switches.
pub(in crate::evidence) const SWITCHES: &str = "harness.context_switches";

/// The key of those that a process made by going to sleep: its wake-ups.
pub(in crate::evidence) const VOLUNTARY_SWITCHES: &str = "harness.context_switches.voluntary";

/// What the harness has used so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Own {
    /// Everything but the CPU time, which is only brought up to date at the tick.
    pub usage: Usage,
    /// The CPU time, to this moment.
    pub cpu: Duration,
}

impl Own {
    /// Of the calling thread.
    pub fn now() -> Self {
        Self {
            usage: Usage::of_this_thread(),
            cpu: thread_cpu_time(),
        }
    }
}

/// The harness on both sides of the timed window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// What it had used before.
    pub before: Own,
    /// What it had used after.
    pub after: Own,
    /// The CPU that it was on when it started the process.
    pub cpu: Option<u32>,
}

/// Evidence from both.
pub fn decode(seen: &Seen) -> Vec<Evidence> {
    let Seen { before, after, cpu } = seen;
    let used = after.cpu.saturating_sub(before.cpu);
    let (before, after) = (&before.usage, &after.usage);
    let switches = |usage: &Usage| usage.voluntary_switches + usage.involuntary_switches;
    let switched = switches(after).saturating_sub(switches(before));
    let slept = after
        .voluntary_switches
        .saturating_sub(before.voluntary_switches);
    let agent = |key: &str, unit: Unit, value| evidence(key, "agent", unit, value);
    vec![
        agent(SWITCHES, Unit::COUNT, Ok(switched as f64)),
        agent(VOLUNTARY_SWITCHES, Unit::COUNT, Ok(slept as f64)),
        agent("harness.cpu_time", Unit::SECONDS, Ok(used.as_secs_f64())),
        agent(
            "harness.sits_on_cpu",
            Unit::COUNT,
            cpu.map(f64::from)
                .ok_or_else(|| "the kernel does not tell".to_owned()),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_of_both_kinds_count() {
        let before = Usage {
            voluntary_switches: 5,
            involuntary_switches: 1,
            ..Usage::default()
        };
        let after = Usage {
            voluntary_switches: 7,
            involuntary_switches: 2,
            ..before
        };
        let own = |usage, microseconds| Own {
            usage,
            cpu: Duration::from_micros(microseconds),
        };
        let decoded = decode(&Seen {
            before: own(before, 500),
            after: own(after, 537),
            cpu: Some(1),
        });
        assert_eq!(decoded[0].value, Ok(3.0));
        assert_eq!(decoded[1].value, Ok(2.0));
        assert_eq!(decoded[2].value, Ok(37e-6));
        assert_eq!(decoded[3].value, Ok(1.0));
    }
}
