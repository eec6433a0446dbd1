//! Local timer interrupts a second on a busy CPU: the effect of the tick rate, and of a tick that
//! stops on busy CPUs (the kernel's documentation: timers/no_hz.rst), which is looked for on one of
//! those.

use std::time::Duration;

use knobstat_data::{CpuList, Unit};
use knobstat_sys::tick::{busy_rate, busy_rate_on};

use super::Seen;

/// How long the CPU is kept busy.
const BUSY: Duration = Duration::from_millis(200);
/// By how much the rate may be off: other timers interrupt as well, and a guest loses ticks.
const TOLERANCE: f64 = 0.2;
/// A CPU whose tick is stopped is interrupted about once a second, and one that ticks at least a
/// hundred times.
const STOPPED: f64 = 50.0;

/// Counts them.
///
/// # Errors
/// When this machine does not count them.
pub fn look(knob: &str, level: &str) -> Result<Seen, String> {
    let rate = match tickless(knob, level) {
        Some(cpu) => busy_rate_on(cpu, BUSY).ok_or_else(|| {
            format!("CPU {cpu} may not be used, or has no local timer interrupts that are counted")
        })?,
        None => {
            busy_rate(BUSY).ok_or("/proc/interrupts has no local timer interrupts of this CPU")?
        }
    };
    Ok(judge(knob, level, rate))
}

/// A CPU whose tick is to stop while it is busy, where the level has one.
fn tickless(knob: &str, level: &str) -> Option<u32> {
    let cpus: CpuList = (knob == "nohz_full").then(|| level.parse().ok())??;
    cpus.cpus().last().copied()
}

fn judge(knob: &str, level: &str, rate: f64) -> Seen {
    let wanted = (knob == "hz").then(|| level.parse::<f64>().ok()).flatten();
    let absent = if let Some(cpu) = tickless(knob, level) {
        (rate > STOPPED).then(|| {
            format!("CPU {cpu} is interrupted {rate:.0} times a second while it runs one task: its tick does not stop")
        })
    } else {
        wanted
            .filter(|hz| (rate / hz - 1.0).abs() > TOLERANCE)
            .map(|hz| format!("a busy CPU is interrupted {rate:.0} times a second and not {hz:.0}"))
    };
    Seen {
        figure: "timer_interrupts_per_second",
        unit: Unit::new("1/s"),
        value: rate,
        absent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_is_not_the_configured_one_is_told() {
        assert_eq!(judge("hz", "250", 254.0).absent, None);
        assert!(judge("hz", "1000", 254.0).absent.is_some());
        assert_eq!(judge("nohz", "on", 254.0).absent, None);
    }
    #[test]
    fn a_tick_that_goes_on_where_it_is_to_stop_is_told() {
        assert_eq!(tickless("nohz_full", "1-3"), Some(3));
        assert_eq!(tickless("nohz_full", "none"), None);
        assert_eq!(tickless("hz", "250"), None);
        assert_eq!(judge("nohz_full", "1-3", 5.0).absent, None);
        assert!(judge("nohz_full", "1-3", 250.0).absent.is_some());
        assert_eq!(judge("nohz_full", "none", 250.0).absent, None);
    }
}
