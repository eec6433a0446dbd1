//! From /proc/softirqs, the kernel's filesystems/proc.rst, to soft interrupts on each CPU.

use knobstat_data::{Evidence, Unit};

use crate::evidence::{evidence, growth};

/// What is counted apart, and the name of its line.
const KINDS: [(&str, &str); 5] = [
    ("softirqs.timer", "TIMER"),
    ("softirqs.sched", "SCHED"),
    ("softirqs.rcu", "RCU"),
    ("softirqs.net_rx", "NET_RX"),
    ("softirqs.net_tx", "NET_TX"),
];

/// Evidence from the text before and the text after. The columns are all possible CPUs, those
/// that are offline included, so that they never change while the machine is up.
pub(super) fn decode(texts: Result<(&str, &str), String>) -> Vec<Evidence> {
    let (before, after) = match texts {
        Ok(texts) => texts,
        Err(reason) => {
            return KINDS
                .map(|(key, _)| evidence(key, "machine", Unit::COUNT, Err(reason.clone())))
                .to_vec();
        }
    };
    let cpus = cpus(after);
    let mut found = Vec::new();
    for (key, name) in KINDS {
        let Some((before, after)) = counts(before, name).zip(counts(after, name)) else {
            let reason = format!("the kernel counts no {name}");
            found.push(evidence(key, "machine", Unit::COUNT, Err(reason)));
            continue;
        };
        found.extend(cpus.iter().zip(before.into_iter().zip(after)).map(
            |(cpu, (before, after))| {
                let scope = format!("cpu{cpu}");
                evidence(key, scope, Unit::COUNT, growth(before, after))
            },
        ));
    }
    found
}

/// The numbers of the columns' CPUs.
fn cpus(text: &str) -> Vec<&str> {
    text.lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|column| column.strip_prefix("CPU"))
        .collect()
}

/// The counts of a line; none where there is no such line.
fn counts(text: &str, name: &str) -> Option<Vec<u64>> {
    text.lines().skip(1).find_map(|line| {
        let (own, counts) = line.split_once(':')?;
        (own.trim() == name).then(|| {
            counts
                .split_whitespace()
                .map_while(|count| count.parse().ok())
                .collect()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "                    CPU0       CPU1       \n\
        \u{20}         HI:          0          0\n\
        \u{20}      TIMER:     200515     158391\n\
        \u{20}     NET_TX:          1          2\n\
        \u{20}     NET_RX:       4000       5000\n\
        \u{20}      SCHED:     300000     200000\n\
        \u{20}        RCU:     100000      90000\n";
    const AFTER: &str = "                    CPU0       CPU1       \n\
        \u{20}         HI:          0          0\n\
        \u{20}      TIMER:     200765     158392\n\
        \u{20}     NET_TX:          1          2\n\
        \u{20}     NET_RX:       4005       5000\n\
        \u{20}      SCHED:     300250     200000\n\
        \u{20}        RCU:     100100      89000\n";

    #[test]
    fn each_cpu_has_its_soft_interrupts() {
        let decoded = decode(Ok((BEFORE, AFTER)));
        let value = |key: &str, scope: &str| {
            let found = decoded
                .iter()
                .find(|one| one.key == key && one.scope == scope);
            found.unwrap().value.clone()
        };
        assert_eq!(value("softirqs.timer", "cpu0"), Ok(250.0));
        assert_eq!(value("softirqs.timer", "cpu1"), Ok(1.0));
        assert_eq!(value("softirqs.net_rx", "cpu0"), Ok(5.0));
        assert!(value("softirqs.rcu", "cpu1").is_err(), "it went back");
        assert_eq!(decoded.len(), 10);
    }

    #[test]
    fn what_is_lacking_is_a_reason() {
        for texts in [Err("no".to_owned()), Ok(("", ""))] {
            let decoded = decode(texts);
            assert_eq!(decoded.len(), KINDS.len());
            assert!(decoded.iter().all(|one| one.value.is_err()));
        }
    }
}
