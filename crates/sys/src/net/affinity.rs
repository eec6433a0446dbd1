//! Where a thread may run, and how much CPU time it has had.

use std::io;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// The CPUs that this thread may run on, in order.
///
/// # Errors
/// What sched_getaffinity(2) says: on machines of more than 1024 CPUs, EINVAL.
pub fn allowed_cpus() -> io::Result<Vec<u32>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .map(|cpu| cpu as u32)
        .collect())
}

/// Keeps this thread on one CPU from now on.
///
/// # Errors
/// EINVAL where the machine has no such CPU online or the thread may not have it.
pub fn pin_to(cpu: u32) -> io::Result<()> {
    let cpu = cpu as usize;
    if cpu >= CpuSet::MAX_CPU {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

/// The CPU time that this thread has had, user and system together.
pub fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_stays_where_it_was_put() {
        std::thread::spawn(|| {
            let last = *allowed_cpus().unwrap().last().unwrap();
            pin_to(last).unwrap();
            assert_eq!(allowed_cpus().unwrap(), [last]);
            assert_eq!(rustix::thread::sched_getcpu(), last as usize);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused() {
        assert!(pin_to(1023).is_err());
        assert!(pin_to(u32::MAX).is_err());
    }
}
