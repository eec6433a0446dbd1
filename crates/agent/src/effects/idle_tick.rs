//! Local timer interrupts a second on a CPU that sleeps, against those on a busy one: the effect of
//! the tick of idle CPUs.

use std::time::Duration;

use knobstat_data::Unit;
use knobstat_sys::tick::{asleep_rate, busy_rate};

use super::Seen;

/// How long the CPU is kept busy, and then let sleep.
const WHILE: Duration = Duration::from_millis(200);
/// A CPU whose tick goes on is interrupted no less often than this share of the busy rate while it
/// sleeps, and one whose tick stops less often, where nobody else keeps it busy.
const GOES_ON: f64 = 0.6;

/// Counts them.
///
/// # Errors
/// When this machine does not count them.
pub fn look(knob: &str, level: &str) -> Result<Seen, String> {
    let rates = busy_rate(WHILE).zip(asleep_rate(WHILE));
    let (busy, asleep) =
        rates.ok_or("/proc/interrupts has no local timer interrupts of this CPU")?;
    Ok(judge(knob, level, busy, asleep))
}

fn judge(knob: &str, level: &str, busy: f64, asleep: f64) -> Seen {
    let stops = (knob, level) == ("nohz", "on") || (knob, level) == ("idletick", "off");
    let went_on = asleep >= GOES_ON * busy;
    let absent = match (stops, went_on) {
        (true, true) => Some(format!(
            "a CPU on which this program sleeps is interrupted {asleep:.0} times a second and a \
             busy one {busy:.0} times: something keeps it busy, or its tick does not stop"
        )),
        (false, false) => Some(format!(
            "a CPU that sleeps is interrupted {asleep:.0} times a second and a busy one {busy:.0} \
             times: its tick stops"
        )),
        _ => None,
    };
    Seen {
        figure: "timer_interrupts_per_second_of_a_sleeping_CPU",
        unit: Unit::new("1/s"),
        value: asleep,
        absent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_that_does_otherwise_than_its_level_says_is_told() {
        for (knob, level, asleep, absent) in [
            ("idletick", "on", 251.0, false),
            ("idletick", "on", 15.0, true),
            ("idletick", "off", 15.0, false),
            ("idletick", "off", 251.0, true),
            ("nohz", "on", 15.0, false),
            ("nohz", "off", 15.0, true),
        ] {
            let seen = judge(knob, level, 250.0, asleep);
            assert_eq!(seen.absent.is_some(), absent, "{knob}={level} {asleep}");
        }
    }
}
