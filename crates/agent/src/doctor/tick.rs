//! How often does the timer interrupt?

use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "timer tick";

/// CONFIG_HZ and the idle tick, from the kernel's config and command line.
pub fn examine(root: &Root) -> Finding {
    let hz = knobstat_sys::machine::configured_hz(root);
    let command_line = root.read("/proc/cmdline").unwrap_or_default();
    let word = |name: &str| command_line.split_whitespace().any(|word| word == name);
    let idle = if word("nohz=off") {
        ", and idle CPUs are interrupted as well (nohz=off)"
    } else {
        ""
    };
    let Some(hz) = hz else {
        return Finding::unseen(
            TOPIC,
            format!("the kernel's config is not to be had, so HZ is unknown{idle}"),
        );
    };
    let evidence = format!("HZ={hz}{idle}");
    if word("nohz=off") {
        Finding::notice(
            TOPIC,
            evidence,
            "idle cores are woken HZ times a second and keep turbo from the working one",
            "boot without nohz=off, unless the idle tick is what is being measured",
        )
    } else {
        Finding::good(TOPIC, evidence)
    }
}
