//! How the scheduler treats the calling thread.

use std::io;

use crate::spawn::Scheduling;

/// Gives the calling thread a priority.
///
/// # Errors
/// EPERM or EACCES where the process has no right to it (CAP_SYS_NICE, RLIMIT_NICE,
/// RLIMIT_RTPRIO).
pub fn set_priority(scheduling: Scheduling) -> io::Result<()> {
    let result = match scheduling {
        // Linux gives each thread a nice value of its own; 0 is the calling one.
        // SAFETY: takes numbers alone.
        Scheduling::Nice(nice) => unsafe {
            libc::setpriority(libc::PRIO_PROCESS, 0, libc::c_int::from(nice))
        },
        Scheduling::Fifo(priority) => {
            let parameter = libc::sched_param {
                sched_priority: libc::c_int::from(priority),
            };
            // SAFETY: the kernel reads one sched_param from the address given.
            unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) }
        }
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// How often the calling thread lost its CPU to another thread although it wanted to go on,
/// getrusage(2).
pub fn involuntary_switches() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one rusage to the address given, and all zeroes is one already.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    u64::try_from(usage.ru_nivcsw).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_may_always_be_nicer() {
        // A thread of its own, so that the others stay as they are.
        std::thread::spawn(|| {
            set_priority(Scheduling::Nice(19)).unwrap();
            let before = involuntary_switches();
            assert!(involuntary_switches() >= before);
        })
        .join()
        .unwrap();
    }
}
