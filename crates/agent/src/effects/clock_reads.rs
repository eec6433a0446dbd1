//! What a reading of the time costs: the effect of a clock source.
//!
//! The readings are timed by the stopwatch, which does not depend on the clock source where the
//! machine has a counter that can be read directly.

use std::hint::black_box;

use knobstat_data::Unit;
use knobstat_sys::clock::{Clock, Stopwatch, now};

use super::Seen;

/// How many readings are timed together.
const READINGS: u32 = 2_000;
/// How many times they are timed; the quickest counts, since nothing makes a reading quicker.
const TIMES: u32 = 5;

/// Counters that the vDSO reads without a system call.
const QUICK: [&str; 4] = [
    "tsc",
    "kvm-clock",
    "arch_sys_counter",
    "hyperv_clocksource_tsc_page",
];
/// Devices that take far longer to answer than the processor's own counter, and a system call.
const SLOW: [&str; 2] = ["hpet", "acpi_pm"];

/// No reading through the vDSO takes as long as this, in nanoseconds, and no system call less.
const SYSTEM_CALL: f64 = 100.0;

/// Times readings of the clock.
pub fn look(stopwatch: &Stopwatch, level: &str) -> Seen {
    let mut quickest = f64::INFINITY;
    for _ in 0..TIMES {
        let start = stopwatch.read();
        for _ in 0..READINGS {
            black_box(now(Clock::Monotonic));
        }
        let took = stopwatch.between(start, stopwatch.read());
        quickest = quickest.min(took.as_nanos() as f64 / f64::from(READINGS));
    }
    judge(level, quickest)
}

fn judge(level: &str, nanoseconds: f64) -> Seen {
    let absent = if SLOW.contains(&level) && nanoseconds < SYSTEM_CALL {
        Some(format!(
            "a reading of the clock takes {nanoseconds:.0} ns, which is too quick for {level}: \
             the time does not come from it"
        ))
    } else if QUICK.contains(&level) && nanoseconds > SYSTEM_CALL {
        Some(format!(
            "a reading of the clock takes {nanoseconds:.0} ns, which is a system call: the vDSO \
             does not read {level} here"
        ))
    } else {
        None
    };
    Seen {
        figure: "time_per_clock_reading",
        unit: Unit::new("ns"),
        value: nanoseconds,
        absent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_is_as_quick_as_another_is_not_in_force() {
        for (level, nanoseconds, absent) in [
            ("tsc", 30.0, false),
            ("tsc", 450.0, true),
            ("hpet", 900.0, false),
            ("hpet", 31.0, true),
            ("acpi_pm", 2300.0, false),
            ("jiffies", 20.0, false),
        ] {
            let seen = judge(level, nanoseconds);
            assert_eq!(seen.absent.is_some(), absent, "{level} {nanoseconds}");
        }
    }
}
