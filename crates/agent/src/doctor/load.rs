//! Does anything else run?

use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "load";

/// The one-minute load average of /proc/loadavg.
pub fn examine(root: &Root) -> Finding {
    let Ok(text) = root.read("/proc/loadavg") else {
        return Finding::unseen(TOPIC, "/proc/loadavg cannot be read");
    };
    let Some(load) = text
        .split_whitespace()
        .next()
        .and_then(|word| word.parse::<f64>().ok())
    else {
        return Finding::unseen(TOPIC, format!("/proc/loadavg reads \"{text}\""));
    };
    let evidence = format!("{load:.2} tasks wanted a CPU on average over the last minute");
    if load < 0.3 {
        Finding::good(TOPIC, evidence)
    } else {
        let effect = "other work takes CPU time, cache and turbo from the runs";
        let remedy = "stop what is not needed: `ps -eo pcpu,comm --sort=-pcpu | head`";
        if load < 1.0 {
            Finding::notice(TOPIC, evidence, effect, remedy)
        } else {
            Finding::warning(TOPIC, evidence, effect, remedy)
        }
    }
}
