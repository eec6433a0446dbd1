//! From /proc/interrupts, proc_interrupts(5), to interrupts on each CPU.

use knobstat_data::{Evidence, Unit};

use crate::evidence::{evidence, growth};

/// What is counted apart, and the first word of its line on x86-64, or words of its description
/// on Arm.
const KINDS: [(&str, &str, &str); 2] = [
    ("interrupts.timer", "LOC", "arch_timer"),
    ("interrupts.rescheduling", "RES", "Rescheduling interrupts"),
];

const ALL: &str = "interrupts.all";

/// Evidence from the text before and the text after.
pub(super) fn decode(texts: Result<(&str, &str), String>) -> Vec<Evidence> {
    let (before, after) = match texts {
        Ok(texts) => texts,
        Err(reason) => {
            let keys = KINDS.iter().map(|(key, _, _)| *key).chain([ALL]);
            return keys
                .map(|key| evidence(key, "machine", Unit::COUNT, Err(reason.clone())))
                .collect();
        }
    };
    let cpus = cpus(after);
    if cpus != self::cpus(before) {
        let reason = "CPUs went on- or offline meanwhile".to_owned();
        return vec![evidence(ALL, "machine", Unit::COUNT, Err(reason))];
    }
    let mut found = Vec::new();
    for (key, name, description) in KINDS {
        let wanted = |line: &Line<'_>| line.name == name || line.description.contains(description);
        let none = || format!("the kernel counts no {name} and no {description}");
        let sums = sums(before, cpus.len(), wanted).zip(sums(after, cpus.len(), wanted));
        match sums {
            Some((before, after)) => found.extend(per_cpu(key, &cpus, &before, &after)),
            None => found.push(evidence(key, "machine", Unit::COUNT, Err(none()))),
        }
    }
    let sums = sums(before, cpus.len(), |_| true).zip(sums(after, cpus.len(), |_| true));
    if let Some((before, after)) = sums {
        found.extend(per_cpu(ALL, &cpus, &before, &after));
    }
    found
}

fn per_cpu(key: &str, cpus: &[&str], before: &[u64], after: &[u64]) -> Vec<Evidence> {
    cpus.iter()
        .zip(before.iter().zip(after))
        .map(|(cpu, (before, after))| {
            let scope = format!("cpu{cpu}");
            evidence(key, scope, Unit::COUNT, growth(*before, *after))
        })
        .collect()
}

struct Line<'a> {
    name: &'a str,
    counts: Vec<u64>,
    description: &'a str,
}

/// The numbers of the columns' CPUs: those that are online.
fn cpus(text: &str) -> Vec<&str> {
    text.lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|column| column.strip_prefix("CPU"))
        .collect()
}

fn line(text: &str, cpus: usize) -> Option<Line<'_>> {
    let (name, mut rest) = text.split_once(':')?;
    let mut counts = Vec::with_capacity(cpus);
    while counts.len() < cpus {
        rest = rest.trim_start();
        let end = rest.find(' ').unwrap_or(rest.len());
        let Ok(count) = rest[..end].parse() else {
            // `ERR` and `MIS` count for the machine and not for a CPU.
            return None;
        };
        counts.push(count);
        rest = &rest[end..];
    }
    Some(Line {
        name: name.trim(),
        counts,
        description: rest.trim(),
    })
}

/// The sums over all lines that are wanted; `None` when there is no such line.
fn sums(text: &str, cpus: usize, wanted: impl Fn(&Line<'_>) -> bool) -> Option<Vec<u64>> {
    text.lines()
        .skip(1)
        .filter_map(|text| line(text, cpus))
        .filter(wanted)
        .map(|line| line.counts)
        .reduce(|sums, counts| {
            sums.iter()
                .zip(counts)
                .map(|(sum, count)| sum.wrapping_add(count))
                .collect()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: (&str, &str) = (
        "           CPU0       CPU2       \n\
         \u{20}24:          1          0  IO-APIC   5-edge      ACPI:Ged\n\
         LOC:     370896     385421   Local timer interrupts\n\
         RES:      82996      36737   Rescheduling interrupts\n\
         ERR:          0\n",
        "           CPU0       CPU2       \n\
         \u{20}24:          2          0  IO-APIC   5-edge      ACPI:Ged\n\
         LOC:     371146     385422   Local timer interrupts\n\
         RES:      82996      36740   Rescheduling interrupts\n\
         ERR:          0\n",
    );

    fn values(decoded: &[Evidence]) -> Vec<(&str, &str, Option<f64>)> {
        decoded
            .iter()
            .map(|one| {
                let value = one.value.as_ref().ok().copied();
                (one.key.as_str(), one.scope.as_str(), value)
            })
            .collect()
    }

    #[test]
    fn each_cpu_has_its_interrupts() {
        assert_eq!(
            values(&decode(Ok(X86))),
            [
                ("interrupts.timer", "cpu0", Some(250.0)),
                ("interrupts.timer", "cpu2", Some(1.0)),
                ("interrupts.rescheduling", "cpu0", Some(0.0)),
                ("interrupts.rescheduling", "cpu2", Some(3.0)),
                ("interrupts.all", "cpu0", Some(251.0)),
                ("interrupts.all", "cpu2", Some(4.0)),
            ]
        );
    }

    #[test]
    fn arm_names_its_interrupts_otherwise() {
        let text = |timer: u32, wakes: u32| {
            format!(
                "           CPU0\n 11:  {timer}  GICv3  27 Level  arch_timer\n\
                 IPI0:  {wakes}  Rescheduling interrupts\n"
            )
        };
        let (before, after) = (text(10, 5), text(14, 6));
        assert_eq!(
            values(&decode(Ok((&before, &after)))),
            [
                ("interrupts.timer", "cpu0", Some(4.0)),
                ("interrupts.rescheduling", "cpu0", Some(1.0)),
                ("interrupts.all", "cpu0", Some(5.0)),
            ]
        );
    }

    #[test]
    fn what_is_lacking_is_a_reason() {
        assert!(
            decode(Err("no".to_owned()))
                .iter()
                .all(|one| one.value.is_err())
        );
        let other = "           CPU0       CPU1\n";
        let decoded = decode(Ok((X86.0, other)));
        assert_eq!(values(&decoded), [("interrupts.all", "machine", None)]);
        let decoded = decode(Ok((other, other)));
        assert!(decoded.iter().all(|one| one.value.is_err()));
        assert_eq!(decoded.len(), 2);
    }

    #[test]
    fn a_counter_that_went_back_says_nothing() {
        let decoded = decode(Ok((X86.1, X86.0)));
        assert!(values(&decoded).contains(&("interrupts.timer", "cpu0", None)));
    }
}
