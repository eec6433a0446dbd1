//! How fine are sleeps and timers?

use std::time::Duration;

use knobstat_sys::clock::{Clock, reported_resolution};
use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "timer resolution";

/// clock_getres(2) of CLOCK_MONOTONIC: a nanosecond with high resolution timers, else a tick.
/// Clocks are the real machine's, whatever the root is.
pub fn examine(root: &Root) -> Finding {
    if !root.is_real() {
        return Finding::unseen(TOPIC, "a laid-out tree has no clocks");
    }
    judge(reported_resolution(Clock::Monotonic))
}

fn judge(resolution: Duration) -> Finding {
    let evidence = format!("{} ns", resolution.as_nanos());
    if resolution <= Duration::from_micros(1) {
        Finding::good(TOPIC, evidence)
    } else {
        Finding::warning(
            TOPIC,
            evidence,
            "sleeps and timeouts last to the next tick, so that paced work runs in lumps",
            "boot without highres=off, with a clock source that allows high resolution timers",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::Grade;
    use super::*;

    #[test]
    fn a_tick_is_coarse() {
        assert_eq!(judge(Duration::from_nanos(1)).grade, Grade::Good);
        assert_eq!(judge(Duration::from_millis(4)).grade, Grade::Warning);
    }
}
