//! The CPUs that the two ends of a flow could be given, and how much CPU time each has had.

use std::io;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::topology::{affinity, set_affinity};

/// The CPUs that this process could have if it asked: those online that its cpuset leaves it,
/// whatever narrower choice was inherited.
///
/// # Errors
/// As [`affinity`], or when no thread can be started to ask on behalf of this one.
pub fn obtainable_cpus() -> io::Result<Vec<u32>> {
    let widened = std::thread::Builder::new().spawn(|| {
        let all: Vec<u32> = (0..MOST_CPUS).collect();
        set_affinity(&all)?;
        affinity()
    })?;
    widened
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the asking thread panicked")))
}

/// More than Linux can be built for (8192).
const MOST_CPUS: u32 = 1 << 14;

/// The CPU time that this thread has had, user and system together.
pub fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_choice_does_not_narrow_what_could_be_had() {
        std::thread::spawn(|| {
            let before = obtainable_cpus().unwrap();
            let first = before[0];
            set_affinity(&[first]).unwrap();
            assert_eq!(obtainable_cpus().unwrap(), before);
            assert_eq!(affinity().unwrap(), [first]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn work_takes_cpu_time() {
        let before = thread_cpu_time();
        while thread_cpu_time() == before {
            std::hint::spin_loop();
        }
    }
}
