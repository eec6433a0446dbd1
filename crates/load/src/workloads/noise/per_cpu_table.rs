//! The kernel's tables of one column a CPU: /proc/interrupts and /proc/softirqs. Pure.

use std::collections::BTreeMap;

/// Counts by the name of the line; lines that count for the machine as a whole are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PerCpuTable {
    cpus: Vec<u32>,
    lines: BTreeMap<String, Line>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    counts: Vec<u64>,
    description: String,
}

impl PerCpuTable {
    /// The table of a text; `None` where its first line names no CPU.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let cpus: Vec<u32> = lines
            .next()?
            .split_whitespace()
            .map_while(|column| column.strip_prefix("CPU")?.parse().ok())
            .collect();
        if cpus.is_empty() {
            return None;
        }
        let lines = lines
            .filter_map(|line| {
                let (name, rest) = line.split_once(':')?;
                let mut words = rest.split_whitespace();
                let counts: Vec<u64> = words
                    .by_ref()
                    .take(cpus.len())
                    .map_while(|word| word.parse().ok())
                    .collect();
                let description = words.collect::<Vec<_>>().join(" ");
                (counts.len() == cpus.len()).then(|| {
                    let line = Line {
                        counts,
                        description,
                    };
                    (name.trim().to_owned(), line)
                })
            })
            .collect();
        Some(Self { cpus, lines })
    }

    /// How much the lines that are wanted, by name and description, have grown on a CPU since an
    /// earlier table; `None` where there is no such line or no such CPU.
    pub(super) fn growth(
        &self,
        earlier: &Self,
        cpu: u32,
        wanted: impl Fn(&str, &str) -> bool,
    ) -> Option<u64> {
        let column = self.cpus.iter().position(|other| *other == cpu)?;
        let column_before = earlier.cpus.iter().position(|other| *other == cpu)?;
        self.lines
            .iter()
            .filter(|(name, line)| wanted(name, &line.description))
            .map(|(name, line)| {
                let before = earlier
                    .lines
                    .get(name)
                    .map_or(0, |line| line.counts[column_before]);
                line.counts[column].saturating_sub(before)
            })
            .reduce(|sum, growth| sum + growth)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BEFORE: &str = "           CPU0       CPU2\n 24:  1  5  IO-APIC 5-edge ACPI:Ged\n\
                          LOC:  100  200  Local timer interrupts\nERR:  0\n";
    const AFTER: &str = "           CPU0       CPU2\n 24:  2  5  IO-APIC 5-edge ACPI:Ged\n\
                         LOC:  350  201  Local timer interrupts\n\
                         RES:  4  7  Rescheduling interrupts\nERR:  9\n";

    #[test]
    fn growth_is_by_cpu_and_line() {
        let (before, after) = (
            PerCpuTable::parse(BEFORE).unwrap(),
            PerCpuTable::parse(AFTER).unwrap(),
        );
        let growth = |cpu, wanted: &str| {
            after.growth(&before, cpu, |name, description| {
                name == wanted || description.contains(wanted)
            })
        };
        assert_eq!(growth(0, "LOC"), Some(250));
        assert_eq!(growth(2, "Local timer"), Some(1));
        // A line that was not there before has grown from nothing.
        assert_eq!(growth(2, "RES"), Some(7));
        assert_eq!(growth(1, "LOC"), None);
        assert_eq!(growth(0, "ERR"), None);
        assert_eq!(after.growth(&before, 0, |_, _| true), Some(255));
        assert_eq!(before.growth(&after, 0, |_, _| true), Some(0));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[ CPU0-9:\nLOC]{0,200}") {
            if let Some(table) = PerCpuTable::parse(&text) {
                let _ = table.growth(&table, 0, |_, _| true);
            }
        }
    }
}
