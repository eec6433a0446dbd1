//! How deep do idle cores sleep?

use std::collections::BTreeSet;

use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "idle states";
const CPU: &str = "/sys/devices/system/cpu";

/// The states of CPU 0 with their wake-up latency, the idle driver, and whether all CPUs have the
/// same.
pub fn examine(root: &Root) -> Finding {
    let states = |cpu: &str| -> Vec<(String, u64)> {
        let directory = format!("{CPU}/{cpu}/cpuidle");
        root.list(&directory)
            .unwrap_or_default()
            .into_iter()
            .filter(|name| name.starts_with("state"))
            .filter_map(|state| {
                let name = root.read(&format!("{directory}/{state}/name")).ok()?;
                let latency = root.read(&format!("{directory}/{state}/latency")).ok()?;
                Some((name, latency.parse().ok()?))
            })
            .collect()
    };
    let cpus: Vec<String> = root
        .list(CPU)
        .unwrap_or_default()
        .into_iter()
        .filter(|name| {
            name.strip_prefix("cpu").is_some_and(|number| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            })
        })
        .collect();
    let kinds: BTreeSet<Vec<(String, u64)>> = cpus.iter().map(|cpu| states(cpu)).collect();
    let Some(first) = kinds.iter().next_back().filter(|states| !states.is_empty()) else {
        return Finding::unseen(
            TOPIC,
            "no idle state is visible: the host or the firmware decides",
        );
    };
    let driver = root
        .read(&format!("{CPU}/cpuidle/current_driver"))
        .unwrap_or_else(|_| "unknown driver".to_owned());
    let list = first
        .iter()
        .map(|(name, latency)| format!("{name} {latency} us"))
        .collect::<Vec<_>>()
        .join(", ");
    let deepest = first.iter().map(|(_, latency)| *latency).max().unwrap_or(0);
    let evidence = format!("{driver}: {list}");
    if kinds.len() > 1 {
        Finding::notice(
            TOPIC,
            format!("{evidence}; CPUs differ (a hybrid part, or CPUs that are offline)"),
            "the same setting means another sleep on another CPU",
            "pin the workload with `cpus` to CPUs of one kind",
        )
    } else if deepest >= 50 {
        Finding::notice(
            TOPIC,
            evidence,
            format!("waking may take {deepest} us, which work that sleeps often sees in its time"),
            "leave it if it is what is measured; else bound it: `[fixed] latency = \"10us\"`",
        )
    } else {
        Finding::good(TOPIC, evidence)
    }
}
