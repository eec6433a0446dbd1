//! Are real time tasks stopped from time to time?

use knobstat_sys::machine;
use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "real time";

/// What a task of priority fifo that never sleeps may have of each period.
pub fn examine(root: &Root) -> Finding {
    let Some((runtime, period)) = machine::real_time_limit(root) else {
        return Finding::unseen(
            TOPIC,
            "the kernel does not tell how it holds real time tasks back",
        );
    };
    if runtime == period {
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
