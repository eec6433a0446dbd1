//! Clocks: the stopwatch that is never the thing under test, the kernel's clocks beside it, and
//! how fine each of them is.
//!
//! It knows nothing of runs; it tells what it could not have instead of replacing it in silence.

#[cfg_attr(target_arch = "x86_64", path = "counter_x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "counter_aarch64.rs")]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    path = "counter_none.rs"
)]
mod counter;
mod every;
mod kernel;
mod offset;
mod stopwatch;
mod vdso;
#[cfg(target_arch = "x86_64")]
mod vouched;

pub use every::{CLOCK_IDS, ClockId};
pub use kernel::{
    Clock, ClockReadings, now, observed_step, reported_resolution, thread_cpu_time,
    unix_time_milliseconds,
};
pub use offset::Offset;
pub use stopwatch::{CALIBRATION_INTERVAL, Reading, Reference, Stopwatch};
pub use vdso::readings_by_system_call;

use thiserror::Error;

/// Why there is no counter that can be read without asking the kernel's time-keeping.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoCounter {
    /// The architecture has none that is known here.
    #[error("this architecture has no counter that is known here")]
    Architecture,
    /// The TSC may change its rate or stop.
    #[error("the processor does not promise a TSC of constant rate")]
    NotInvariant,
    /// `prctl(PR_SET_TSC)` or a sandbox forbids the instruction.
    #[error("reading the TSC is forbidden to this process")]
    Forbidden,
    /// The kernel does not offer it as a clock source: it was found unstable, or was disabled.
    #[error("the kernel does not offer the TSC as a clock source, so it may be unstable")]
    Distrusted,
    /// The counters of two CPUs are apart.
    #[error(
        "the counter of CPU {cpu} is {apart:?} or more apart from that of the first, so that a time taken on both would be off by as much"
    )]
    Apart {
        /// The CPU.
        cpu: u32,
        /// How far, at least.
        apart: std::time::Duration,
    },
    /// It did not move, or the clock that it was compared with did not.
    #[error("the counter could not be compared with CLOCK_MONOTONIC_RAW")]
    NotCalibrated,
}
