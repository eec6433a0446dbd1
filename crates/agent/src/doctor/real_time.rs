//! Are real time tasks stopped from time to time?

use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "real time";
const SYSCTL: &str = "/proc/sys/kernel";

/// kernel.sched_rt_runtime_us against kernel.sched_rt_period_us: what a task of priority fifo that
/// never sleeps may have of each period.
pub fn examine(root: &Root) -> Finding {
    let microseconds = |name: &str| {
        root.read(&format!("{SYSCTL}/{name}"))
            .ok()?
            .trim()
            .parse::<i64>()
            .ok()
    };
    let (Some(runtime), Some(period)) = (
        microseconds("sched_rt_runtime_us"),
        microseconds("sched_rt_period_us"),
    ) else {
        return Finding::unseen(
            TOPIC,
            "the kernel does not tell how it holds real time tasks back",
        );
    };
    if runtime < 0 || runtime >= period {
        return Finding::good(TOPIC, "tasks of priority fifo are never stopped");
    }
    Finding::notice(
        TOPIC,
        format!(
            "a task of priority fifo that never sleeps is stopped for {} ms of each {} ms, or shares \
             its CPU as newer kernels let it",
            (period - runtime) / 1000,
            period / 1000
        ),
        "under `priority = \"fifo:N\"` the largest values are this pause and not the machine's",
        "leave it; let such a workload sleep, or measure the holes with the noise workload",
    )
}
