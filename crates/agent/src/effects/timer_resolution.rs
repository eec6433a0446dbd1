//! The resolution of timers: the effect of timers of high resolution.
//!
//! clock_getres(2) says 1 ns where timers have it, and the length of a tick where they do not.

use std::time::Duration;

use knobstat_data::Unit;
use knobstat_sys::clock::{Clock, reported_resolution};

use super::Seen;

/// No tick is as short.
const HIGH: Duration = Duration::from_micros(1);

/// Asks for it.
pub fn look(level: &str) -> Seen {
    judge(level, reported_resolution(Clock::Monotonic))
}

fn judge(level: &str, resolution: Duration) -> Seen {
    let is_high = resolution <= HIGH;
    let absent = match level {
        "on" if !is_high => Some(format!("timers expire on ticks of {resolution:?} only")),
        "off" if is_high => Some(format!("timers have a resolution of {resolution:?}")),
        _ => None,
    };
    Seen {
        figure: "resolution_of_timers",
        unit: Unit::new("ns"),
        value: resolution.as_nanos() as f64,
        absent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resolution_that_is_not_that_of_the_level_is_told() {
        let (tick, fine) = (Duration::from_millis(4), Duration::from_nanos(1));
        for (level, resolution, absent) in [
            ("on", fine, false),
            ("on", tick, true),
            ("off", tick, false),
            ("off", fine, true),
            ("absent", tick, false),
        ] {
            assert_eq!(judge(level, resolution).absent.is_some(), absent, "{level}");
        }
    }
}
