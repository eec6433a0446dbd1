//! Do tasks wait for a CPU?

use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "pressure";

/// `some avg10` of /proc/pressure/cpu: the share of time in which a task waited for a CPU.
pub fn examine(root: &Root) -> Finding {
    let Ok(text) = root.read("/proc/pressure/cpu") else {
        return Finding::unseen(
            TOPIC,
            "/proc/pressure/cpu cannot be read: the kernel has no pressure information (psi=1 at boot)",
        );
    };
    let average = text.lines().find_map(|line| {
        line.strip_prefix("some ")?
            .split_whitespace()
            .find_map(|word| word.strip_prefix("avg10="))?
            .parse::<f64>()
            .ok()
    });
    let Some(average) = average else {
        return Finding::unseen(TOPIC, "/proc/pressure/cpu has no `some avg10`");
    };
    let evidence = format!("tasks waited for a CPU {average:.1} % of the last ten seconds");
    if average < 5.0 {
        Finding::good(TOPIC, evidence)
    } else {
        Finding::warning(
            TOPIC,
            evidence,
            "runs wait for their turn, and what they wait is in their time",
            "wait for a quiet moment, or pin the workload with `cpus` to a CPU of its own",
        )
    }
}
