//! The tick as it shows: local timer interrupts a second on a CPU that is kept busy, which is the
//! tick rate of kernels whose configuration cannot be read, and on one that is let sleep.
//!
//! The clock ticks of sysconf(3) are not it. (The kernel's documentation: filesystems/proc.rst on
//! /proc/interrupts, timers/no_hz.rst.)

use std::fs;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::topology::{affinity, set_affinity};

/// How long a CPU is kept busy.
const BUSY: Duration = Duration::from_millis(250);

/// Tick rates that kernels are built with (kernel/Kconfig.hz, and what distributors add).
const RATES: [u32; 5] = [100, 250, 300, 500, 1000];

/// By how much the measured rate may be off: other timers interrupt as well, and a guest loses
/// ticks.
const TOLERANCE: f64 = 0.12;

/// The tick rate, measured once in the life of the process; none where it is near no rate that
/// kernels are built with.
pub fn measured_hz() -> Option<u32> {
    static MEASURED: OnceLock<Option<u32>> = OnceLock::new();
    *MEASURED.get_or_init(|| nearest(busy_rate(BUSY)?))
}

/// Local timer interrupts a second on one CPU that this thread keeps busy for so long.
pub fn busy_rate(time: Duration) -> Option<f64> {
    busy_rate_on(*affinity().ok()?.first()?, time)
}

/// Local timer interrupts a second on this CPU, which this thread keeps busy for so long. None
/// where it may not run there as well.
pub fn busy_rate_on(cpu: u32, time: Duration) -> Option<f64> {
    rate_while(cpu, |begun| {
        while begun.elapsed() < time {
            std::hint::spin_loop();
        }
    })
}

/// Local timer interrupts a second on one CPU on which this thread sleeps for so long. Others may
/// keep it busy all the same.
pub fn asleep_rate(time: Duration) -> Option<f64> {
    rate_while(*affinity().ok()?.first()?, |_| std::thread::sleep(time))
}

/// Local timer interrupts a second on the CPU that this thread is held on meanwhile.
fn rate_while(cpu: u32, pass_time: impl FnOnce(Instant)) -> Option<f64> {
    let before = affinity().ok()?;
    set_affinity(&[cpu]).ok()?;
    let count = || timer_interrupts(&fs::read_to_string("/proc/interrupts").ok()?, cpu);
    let first = count();
    let begun = Instant::now();
    pass_time(begun);
    let elapsed = begun.elapsed();
    let last = count();
    // What was there before can be had again.
    set_affinity(&before).ok()?;
    Some(last?.checked_sub(first?)? as f64 / elapsed.as_secs_f64())
}

/// The local timer interrupts of one CPU, by the text of /proc/interrupts.
pub fn timer_interrupts(text: &str, cpu: u32) -> Option<u64> {
    let mut lines = text.lines();
    // Only CPUs that are online have a column.
    let column = lines
        .next()?
        .split_whitespace()
        .position(|name| name.strip_prefix("CPU") == Some(&cpu.to_string()))?;
    let line = lines.find(|line| {
        let line = line.trim();
        line.starts_with("LOC:") || line.ends_with("arch_timer")
    })?;
    line.split_whitespace().nth(column + 1)?.parse().ok()
}

fn nearest(rate: f64) -> Option<u32> {
    RATES
        .into_iter()
        .find(|known| (rate / f64::from(*known) - 1.0).abs() <= TOLERANCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERRUPTS: &str = "           CPU0       CPU2       \n\
                              \x20 0:         23          0   IO-APIC   2-edge      timer\n\
                              LOC:     184736     222222   Local timer interrupts\n";

    #[test]
    fn the_column_is_the_cpus_own() {
        assert_eq!(timer_interrupts(INTERRUPTS, 0), Some(184_736));
        assert_eq!(timer_interrupts(INTERRUPTS, 2), Some(222_222));
        assert_eq!(timer_interrupts(INTERRUPTS, 1), None);
        let arm = "       CPU0 CPU1\n 11: 5 7 GICv3 27 Level arch_timer\n";
        assert_eq!(timer_interrupts(arm, 1), Some(7));
    }

    #[test]
    fn a_rate_is_one_that_kernels_are_built_with_or_none() {
        for (rate, hz) in [
            (99.0, Some(100)),
            (254.0, Some(250)),
            (301.0, Some(300)),
            (930.0, Some(1000)),
            (40.0, None),
            (1500.0, None),
        ] {
            assert_eq!(nearest(rate), hz, "{rate}");
        }
    }

    #[test]
    fn measuring_leaves_the_thread_where_it_may_run() {
        std::thread::spawn(|| {
            let before = affinity().unwrap();
            for rate in [busy_rate, asleep_rate] {
                let _ = rate(Duration::from_millis(1));
                assert_eq!(affinity().unwrap(), before);
            }
            // A CPU that no machine has.
            assert_eq!(busy_rate_on(1 << 20, Duration::from_millis(1)), None);
            assert_eq!(affinity().unwrap(), before);
        })
        .join()
        .unwrap();
    }
}
