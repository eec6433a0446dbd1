//! What the kernel counts on each CPU, before and after.

use std::io;

use super::figures::{Causes, Lost};
use super::per_cpu_table::PerCpuTable;

/// The counters at one moment, each text or why it cannot be read.
#[derive(Clone, Debug)]
pub(super) struct Counters {
    interrupts: Result<PerCpuTable, String>,
    soft_interrupts: Result<PerCpuTable, String>,
    processors: Result<String, String>,
}

/// The unit of /proc/stat, proc_stat(5): 100 to the second on every kernel of the architectures
/// that this program knows.
const STATISTICS_TICK_NANOSECONDS: u64 = 10_000_000;

impl Counters {
    /// The counters of this machine now.
    pub(super) fn read() -> Self {
        Self::from_texts(|path| std::fs::read_to_string(path))
    }

    fn from_texts(read: impl Fn(&str) -> io::Result<String>) -> Self {
        let text = |path: &str| read(path).map_err(|error| format!("{path}: {error}"));
        let table = |path: &str| {
            PerCpuTable::parse(&text(path)?).ok_or_else(|| format!("{path} names no CPU"))
        };
        Self {
            interrupts: table("/proc/interrupts"),
            soft_interrupts: table("/proc/softirqs"),
            processors: text("/proc/stat"),
        }
    }

    /// What interrupted a CPU since an earlier moment, given what its loop has seen itself.
    pub(super) fn causes(
        &self,
        earlier: &Self,
        cpu: u32,
        other_threads: Lost,
        interrupts: Lost,
    ) -> Causes {
        let count = |wanted: &dyn Fn(&str, &str) -> bool, what: &str| {
            let (after, before) = both(&self.interrupts, &earlier.interrupts)?;
            after
                .growth(before, cpu, wanted)
                .ok_or_else(|| format!("the kernel counts no {what} on CPU {cpu}"))
        };
        let all = count(&|name, _| is_interrupt(name), "interrupts");
        let timer = count(&is_timer, "timer interrupts");
        let rescheduling = count(&is_rescheduling, "rescheduling interrupts");
        let function_calls = count(&is_function_call, "function call interrupts");
        let others = count(
            &|name, description| {
                is_interrupt(name)
                    && !is_timer(name, description)
                    && !is_rescheduling(name, description)
                    && !is_function_call(name, description)
            },
            "other interrupts",
        );
        let soft_interrupts =
            both(&self.soft_interrupts, &earlier.soft_interrupts).and_then(|(after, before)| {
                after
                    .growth(before, cpu, |_, _| true)
                    .ok_or_else(|| format!("the kernel counts no soft interrupts on CPU {cpu}"))
            });
        let stolen = both(&self.processors, &earlier.processors).and_then(|(after, before)| {
            let stolen = |text: &str| {
                stolen_ticks(text, cpu)
                    .ok_or_else(|| format!("/proc/stat tells no stolen time of CPU {cpu}"))
            };
            let ticks = stolen(after)?.saturating_sub(stolen(before)?);
            Ok(ticks * STATISTICS_TICK_NANOSECONDS)
        });
        Causes {
            other_threads,
            interrupts,
            unexplained: all
                .map(|counted| interrupts.count.saturating_sub(counted))
                .into(),
            timer: timer.into(),
            rescheduling: rescheduling.into(),
            function_calls: function_calls.into(),
            others: others.into(),
            soft_interrupts: soft_interrupts.into(),
            stolen_nanoseconds: stolen.into(),
        }
    }
}

/// Both or the first reason why not.
fn both<'a, T>(
    after: &'a Result<T, String>,
    before: &'a Result<T, String>,
) -> Result<(&'a T, &'a T), String> {
    match (after, before) {
        (Ok(after), Ok(before)) => Ok((after, before)),
        (Err(why), _) | (_, Err(why)) => Err(why.clone()),
    }
}

/// Whether a line counts interrupts of its own: flushes of address translations are counted among
/// function calls, those of performance counters among non-maskable interrupts, looks for
/// machine checks are the timer's, and errors are none.
fn is_interrupt(name: &str) -> bool {
    !matches!(name, "TLB" | "PMI" | "MCP" | "ERR" | "MIS")
}

/// The local timer: by its line on x86-64, by its driver on Arm.
fn is_timer(name: &str, description: &str) -> bool {
    name == "LOC" || description.contains("arch_timer")
}

/// RES on x86-64, an IPI by its description on Arm.
fn is_rescheduling(name: &str, description: &str) -> bool {
    name == "RES" || description.starts_with("Rescheduling interrupts")
}

/// CAL on x86-64, an IPI by its description on Arm.
fn is_function_call(name: &str, description: &str) -> bool {
    name == "CAL" || description.starts_with("Function call interrupts")
}

/// The stolen time of a CPU in the text of /proc/stat: the eighth column.
fn stolen_ticks(text: &str, cpu: u32) -> Option<u64> {
    let name = format!("cpu{cpu}");
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(found, _)| *found == name)
        .and_then(|(_, columns)| columns.split_whitespace().nth(7)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::super::super::survey::Seen;
    use super::*;

    fn at(timer: u64, stolen: u64) -> Counters {
        Counters::from_texts(|path| match path {
            "/proc/interrupts" => Ok(format!(
                "  CPU0 CPU1\n 5: 3 0 device\nLOC: {timer} 1 Local timer interrupts\n\
                 RES: 5 5 Rescheduling interrupts\nCAL: 2 2 Function call interrupts\n\
                 TLB: 2 2 TLB shootdowns\n"
            )),
            "/proc/stat" => Ok(format!(
                "cpu  1 1 1 1 1 1 1 9\ncpu0 1 1 1 1 1 1 1 {stolen} 0 0\n"
            )),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        })
    }

    fn lost(count: u64) -> Lost {
        Lost {
            count,
            nanoseconds: 1000 * count,
            longest_nanoseconds: 1000,
        }
    }

    #[test]
    fn causes_are_what_the_counters_grew_by() {
        let causes = at(350, 12).causes(&at(100, 10), 0, lost(3), lost(260));
        assert_eq!(causes.timer, Seen::Value(250));
        assert_eq!(causes.rescheduling, Seen::Value(0));
        assert_eq!(causes.function_calls, Seen::Value(0));
        assert_eq!(causes.others, Seen::Value(0));
        assert_eq!(causes.stolen_nanoseconds, Seen::Value(20_000_000));
        // 260 were seen and 250 counted: the rest is somebody else's.
        assert_eq!(causes.unexplained, Seen::Value(10));
        assert_eq!(causes.other_threads.count, 3);
    }

    #[test]
    fn what_is_not_counted_is_a_reason() {
        let causes = at(350, 12).causes(&at(100, 10), 7, lost(0), lost(0));
        assert!(causes.timer.as_result().unwrap_err().contains("CPU 7"));
        assert!(causes.stolen_nanoseconds.value().is_none());
        let why = causes.soft_interrupts.as_result().unwrap_err().to_owned();
        assert!(why.starts_with("/proc/softirqs"), "{why}");
    }
}
