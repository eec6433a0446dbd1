//! Which clock answers when a program asks for the time?

use knobstat_sys::clock::{Clock, Stopwatch, now};
use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "clock source";
const DIRECTORY: &str = "/sys/devices/system/clocksource/clocksource0";

/// The clock source in force and those that can be chosen.
pub fn examine(root: &Root) -> Finding {
    let Ok(current) = root.read(&format!("{DIRECTORY}/current_clocksource")) else {
        return Finding::unseen(TOPIC, format!("{DIRECTORY} cannot be read"));
    };
    let available = root
        .read(&format!("{DIRECTORY}/available_clocksource"))
        .unwrap_or_default();
    let evidence = format!(
        "{current}{}; can be chosen: {}",
        cost(root),
        available.trim()
    );
    let quick = [
        "tsc",
        "kvm-clock",
        "arch_sys_counter",
        "hyperv_clocksource_tsc_page",
    ];
    if quick.contains(&current.as_str()) {
        Finding::good(TOPIC, evidence)
    } else if available.split_whitespace().any(|name| name == "tsc") {
        Finding::warning(
            TOPIC,
            evidence,
            "every look at the time is a system call of a microsecond or more",
            format!(
                "echo tsc > {}",
                root.resolve(&format!("{DIRECTORY}/current_clocksource"))
                    .display()
            ),
        )
    } else {
        Finding::warning(
            TOPIC,
            evidence,
            "every look at the time is a system call of a microsecond or more",
            "the kernel gave up on tsc or the machine has none that is stable: `dmesg | grep -i clocksource` tells, and only a reboot brings it back",
        )
    }
}

/// What a reading costs, where the clocks are the machine's own.
fn cost(root: &Root) -> String {
    const READINGS: u32 = 10_000;
    if !root.is_real() {
        return String::new();
    }
    let stopwatch = Stopwatch::calibrated();
    let start = stopwatch.read();
    for _ in 0..READINGS {
        std::hint::black_box(now(Clock::Monotonic));
    }
    let took = stopwatch.between(start, stopwatch.read());
    format!(
        ", {:.0} ns a reading",
        took.as_nanos() as f64 / f64::from(READINGS)
    )
}
