//! The result of the workload `noise`: plain figures, each with its unit in its name.

use serde::{Deserialize, Serialize};

use super::super::survey::{Distribution, Seen, StopwatchFigures};

/// Everything that the survey found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseFigures {
    /// How long was looked.
    pub duration_seconds: f64,
    /// The length of the windows of which the worst is told.
    pub interval_nanoseconds: u64,
    /// Two readings of the stopwatch at least this far apart are an interruption.
    pub threshold_nanoseconds: u64,
    /// The priority of the threads, where one was asked for.
    pub priority: Option<String>,
    /// What timed it.
    pub stopwatch: StopwatchFigures,
    /// The lengths of the interruptions of all CPUs; why none where nothing interrupted.
    pub all: Seen<Distribution>,
    /// Each CPU.
    pub cpus: Vec<CpuFigures>,
}

/// One CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuFigures {
    /// Which.
    pub cpu: u32,
    /// How long was looked.
    pub looked_nanoseconds: u64,
    /// Of this, how long was spent asking the kernel after an interruption, and not looked.
    pub asking_nanoseconds: u64,
    /// Readings of the stopwatch.
    pub readings: u64,
    /// The shortest time between two readings: what one turn of the loop takes.
    pub turn_nanoseconds: u64,
    /// All interruptions.
    pub interruptions: Lost,
    /// Their lengths; why none where nothing interrupted.
    pub lengths: Seen<Distribution>,
    /// The largest share of a window that was lost, 0 to 1.
    pub worst_window: f64,
    /// What they were.
    pub causes: Causes,
}

/// Interruptions of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lost {
    /// How many.
    pub count: u64,
    /// How long all of them together.
    pub nanoseconds: u64,
    /// The longest.
    pub longest_nanoseconds: u64,
}

impl Lost {
    /// Counts one.
    #[inline]
    pub fn add(&mut self, nanoseconds: u64) {
        self.count += 1;
        self.nanoseconds += nanoseconds;
        self.longest_nanoseconds = self.longest_nanoseconds.max(nanoseconds);
    }
}

/// What the interruptions of a CPU were, as far as counters tell. Times are known of the first
/// two, which part all interruptions between them, and of stolen time; of the rest the kernel
/// counts how many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Causes {
    /// Another thread ran: the kernel counted an involuntary context switch.
    pub other_threads: Lost,
    /// No other thread ran: interrupts, what they led to, the firmware, the hypervisor.
    pub interrupts: Lost,
    /// Interrupts of the CPU's own timer: the tick, and sleeps that ended.
    pub timer: Seen<u64>,
    /// Interrupts by which another CPU made this one choose a thread anew.
    pub rescheduling: Seen<u64>,
    /// Interrupts by which another CPU had a function called here, flushes of address
    /// translations included.
    pub function_calls: Seen<u64>,
    /// Every other interrupt: devices, performance counters, the rest.
    pub others: Seen<u64>,
    /// Soft interrupts: what interrupts left to be done.
    pub soft_interrupts: Seen<u64>,
    /// Time during which the hypervisor let somebody else run, in steps of 10 ms.
    pub stolen_nanoseconds: Seen<u64>,
    /// Interruptions without another thread beyond the number of the interrupts: what no counter
    /// of the kernel explains. An interrupt that came while another one was served, or that was
    /// shorter than the threshold, makes this smaller, never larger.
    pub unexplained: Seen<u64>,
}
