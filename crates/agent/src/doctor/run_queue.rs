//! Does this process wait for a CPU when it wants one?

use std::time::{Duration, Instant};

use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "run queue";

/// How long a CPU is wanted for.
const WANTED: Duration = Duration::from_millis(200);
/// The share of waiting from which it is a warning.
const MUCH: f64 = 0.05;

/// The second figure of /proc/self/schedstat: time that this process was runnable and waited,
/// while it wants a CPU for a moment. Counters are the real machine's, whatever the root is.
pub fn examine(root: &Root) -> Finding {
    if !root.is_real() {
        return Finding::unseen(TOPIC, "a laid-out tree runs nothing");
    }
    let waited = || {
        let text = Root::real().read("/proc/self/schedstat").ok()?;
        text.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let Some(before) = waited() else {
        return Finding::unseen(
            TOPIC,
            "/proc/self/schedstat cannot be read: the kernel lacks CONFIG_SCHED_INFO",
        );
    };
    let begun = Instant::now();
    while begun.elapsed() < WANTED {
        std::hint::spin_loop();
    }
    let wanted = begun.elapsed();
    let after = waited().unwrap_or(before);
    judge(Duration::from_nanos(after.saturating_sub(before)), wanted)
}

fn judge(waited: Duration, wanted: Duration) -> Finding {
    let share = waited.as_secs_f64() / wanted.as_secs_f64();
    let evidence = format!(
        "this process waited {:.1} % of {} ms in which it wanted a CPU",
        100.0 * share,
        wanted.as_millis()
    );
    if share < MUCH {
        Finding::good(TOPIC, evidence)
    } else {
        Finding::warning(
            TOPIC,
            evidence,
            "other work has the CPU while a run wants it, and the wait is in the run's time",
            "stop what is not needed: `ps -eo pcpu,comm --sort=-pcpu | head`; or pin with `cpus`",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::Grade;
    use super::*;

    #[test]
    fn a_wait_of_a_twentieth_is_a_warning() {
        let of = |waited| judge(Duration::from_millis(waited), WANTED).grade;
        assert_eq!(of(0), Grade::Good);
        assert_eq!(of(9), Grade::Good);
        assert_eq!(of(11), Grade::Warning);
    }
}
