//! How often does the timer interrupt?

use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "timer tick";

/// CONFIG_HZ and the idle tick, from the kernel's config and command line; HZ measured where no
/// config is to be had.
pub fn examine(root: &Root) -> Finding {
    let configured = knobstat_sys::machine::configured_hz(root);
    let measured = || {
        let hz = root.is_real().then(knobstat_sys::tick::measured_hz)??;
        Some((hz, " as measured on a busy CPU"))
    };
    let hz = configured.map(|hz| (hz, "")).or_else(measured);
    let command_line = root.read("/proc/cmdline").unwrap_or_default();
    let word = |name: &str| command_line.split_whitespace().any(|word| word == name);
    let idle = if word("nohz=off") {
        ", and idle CPUs are interrupted as well (nohz=off)"
    } else {
        ""
    };
    let Some((hz, how)) = hz else {
        return Finding::unseen(
            TOPIC,
            format!("the kernel's config is not to be had and HZ could not be measured{idle}"),
        );
    };
    let evidence = format!("HZ={hz}{how}{idle}");
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
