//! Who chooses the frequency?

use std::collections::BTreeSet;

use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "governor";
const DIRECTORY: &str = "/sys/devices/system/cpu/cpufreq";

/// The governors of all frequency policies.
pub fn examine(root: &Root) -> Finding {
    let governors: BTreeSet<String> = root
        .list(DIRECTORY)
        .unwrap_or_default()
        .into_iter()
        .filter(|name| name.starts_with("policy"))
        .filter_map(|policy| {
            root.read(&format!("{DIRECTORY}/{policy}/scaling_governor"))
                .ok()
        })
        .collect();
    let names: Vec<&str> = governors.iter().map(String::as_str).collect();
    match names.as_slice() {
        [] => Finding::unseen(
            TOPIC,
            "no frequency policy is visible: the host or the firmware decides",
        ),
        ["performance"] => Finding::good(TOPIC, "performance on every policy"),
        [one] => Finding::notice(
            TOPIC,
            format!("{one} on every policy"),
            "short runs may be over before the frequency has risen",
            "hold it for an experiment: `[fixed] governor = \"performance\"`",
        ),
        several => Finding::warning(
            TOPIC,
            format!("policies differ: {}", several.join(", ")),
            "a run's speed depends on the CPU that it happens to land on",
            "hold it for an experiment: `[fixed] governor = \"performance\"`",
        ),
    }
}
