//! Does the hypervisor give the CPUs to others?

use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "steal";

/// The share of the time since boot that the host gave to others, from the first line of
/// /proc/stat (proc(5): user nice system idle iowait irq softirq steal).
pub fn examine(root: &Root) -> Finding {
    let Ok(stat) = root.read("/proc/stat") else {
        return Finding::unseen(TOPIC, "/proc/stat cannot be read");
    };
    let fields: Option<Vec<u64>> = stat
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("cpu "))
        .and_then(|rest| {
            rest.split_whitespace()
                .take(8)
                .map(|field| field.parse().ok())
                .collect()
        });
    let Some([user, nice, system, idle, waiting, irq, softirq, steal]) =
        fields.as_deref().and_then(|fields| fields.first_chunk())
    else {
        return Finding::unseen(TOPIC, "/proc/stat does not tell what was stolen");
    };
    // What was idle could not be stolen.
    let wanted = user + nice + system + irq + softirq + steal;
    if wanted + idle + waiting == 0 {
        return Finding::unseen(TOPIC, "/proc/stat has counted nothing yet");
    }
    let share = 100.0 * *steal as f64 / wanted.max(1) as f64;
    let evidence =
        format!("{share:.1} % of the CPU time that was wanted since boot went to others");
    if share < 1.0 {
        Finding::good(TOPIC, evidence)
    } else {
        Finding::warning(
            TOPIC,
            evidence,
            "runs are longer by what the host gives to other guests, and by another amount each time",
            "measure at a quiet time of the host, or on a guest with CPUs of its own; look at steal in the evidence of each run",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::Grade;
    use super::super::tests::machine;
    use super::*;

    #[test]
    fn what_was_stolen_is_a_share_of_what_was_wanted() {
        for (line, grade) in [
            ("cpu  900 0 90 100000 5 0 10 0 0 0\n", Grade::Good),
            ("cpu  800 0 90 100000 5 0 10 100 0 0\n", Grade::Warning),
            ("cpu  1 2\n", Grade::Unseen),
        ] {
            let (_tree, root) = machine(&[("proc/stat", line)]);
            assert_eq!(examine(&root).grade, grade, "{line}");
        }
    }
}
