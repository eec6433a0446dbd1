//! Local timer interrupts a second on a busy CPU: the effect of the tick rate.

use std::time::Duration;

use knobstat_data::Unit;
use knobstat_sys::tick::busy_rate;

use super::Seen;

/// How long the CPU is kept busy.
const BUSY: Duration = Duration::from_millis(200);
/// By how much the rate may be off: other timers interrupt as well, and a guest loses ticks.
const TOLERANCE: f64 = 0.2;

/// Counts them.
///
/// # Errors
/// When this machine does not count them.
pub fn look(knob: &str, level: &str) -> Result<Seen, String> {
    let rate =
        busy_rate(BUSY).ok_or("/proc/interrupts has no local timer interrupts of this CPU")?;
    Ok(judge(knob, level, rate))
}

fn judge(knob: &str, level: &str, rate: f64) -> Seen {
    let wanted = (knob == "hz").then(|| level.parse::<f64>().ok()).flatten();
    let absent = wanted
        .filter(|hz| (rate / hz - 1.0).abs() > TOLERANCE)
        .map(|hz| format!("a busy CPU is interrupted {rate:.0} times a second and not {hz:.0}"));
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
}
