//! What a reading of the time costs: the effect of a clock source.
//!
//! The readings are timed by the stopwatch, which does not depend on the clock source where the
//! machine has a counter that can be read directly.

use std::hint::black_box;

use knobstat_data::Unit;
use knobstat_sys::clock::{Clock, Stopwatch, now, thread_cpu_time};

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

/// A reading through the vDSO takes a smaller share than this of what the system call for the
/// thread's own CPU time takes, which no vDSO has, and a reading by a system call no smaller one.
/// So the same holds for fast processors and emulated ones.
const SYSTEM_CALL: f64 = 0.4;

/// Times readings of the clock.
pub fn look(stopwatch: &Stopwatch, level: &str) -> Seen {
    let reading = quickest(stopwatch, || {
        black_box(now(Clock::Monotonic));
    });
    let system_call = quickest(stopwatch, || {
        black_box(thread_cpu_time());
    });
    judge(level, reading, system_call)
}

/// What one of many takes at the quickest, in nanoseconds.
fn quickest(stopwatch: &Stopwatch, read: impl Fn()) -> f64 {
    let mut quickest = f64::INFINITY;
    for _ in 0..TIMES {
        let start = stopwatch.read();
        for _ in 0..READINGS {
            read();
        }
        let took = stopwatch.between(start, stopwatch.read());
        quickest = quickest.min(took.as_nanos() as f64 / f64::from(READINGS));
    }
    quickest
}

fn judge(level: &str, nanoseconds: f64, system_call: f64) -> Seen {
    let quick = nanoseconds < SYSTEM_CALL * system_call;
    let absent = if SLOW.contains(&level) && quick {
        Some(format!(
            "a reading of the clock takes {nanoseconds:.0} ns, which is too quick for {level}: \
             the time does not come from it"
        ))
    } else if QUICK.contains(&level) && !quick {
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
        for (level, nanoseconds, system_call, absent) in [
            ("tsc", 30.0, 160.0, false),
            ("tsc", 450.0, 160.0, true),
            ("hpet", 900.0, 160.0, false),
            ("hpet", 31.0, 160.0, true),
            ("acpi_pm", 2300.0, 160.0, false),
            ("jiffies", 20.0, 160.0, false),
            // Emulated, with a time that follows instructions.
            ("tsc", 128.0, 640.0, false),
            ("tsc", 700.0, 640.0, true),
            ("hpet", 746.0, 640.0, false),
        ] {
            let seen = judge(level, nanoseconds, system_call);
            assert_eq!(seen.absent.is_some(), absent, "{level} {nanoseconds}");
        }
    }
}
