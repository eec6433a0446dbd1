//! The end of a process: how it ended and what it used.

use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

/// How a process ended and what it and its waited-for descendants used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exited {
    /// How it ended.
    pub status: Status,
    /// What it used.
    pub usage: Usage,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// By itself, with a code.
    Code(i32),
    /// By a signal.
    Signal {
        /// The signal's number.
        signal: i32,
        /// Whether the kernel says that it dumped core.
        core_dumped: bool,
    },
}

/// What a process and its waited-for descendants used, as wait4(2) tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time in user mode. The sum with `system` is exact; on most kernels the split is sampled
    /// by the tick.
    pub user: Duration,
    /// Time in the kernel.
    pub system: Duration,
    /// The largest resident set of any of them, in bytes; never below what the harness had when
    /// it started the process.
    pub peak_resident: u64,
    /// Page faults served without reading.
    pub minor_faults: u64,
    /// Page faults that had to read.
    pub major_faults: u64,
    /// How often they went to sleep.
    pub voluntary_switches: u64,
    /// How often they were taken off the CPU.
    pub involuntary_switches: u64,
    /// Blocks of 512 bytes read.
    pub blocks_in: u64,
    /// Blocks of 512 bytes written.
    pub blocks_out: u64,
}

impl Usage {
    /// What the calling thread has used so far.
    pub fn of_this_thread() -> Self {
        let mut usage = MaybeUninit::uninit();
        // SAFETY: the kernel writes one rusage.
        let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
        if result != 0 {
            return Self::default();
        }
        // SAFETY: the call has succeeded and so has written the whole of it.
        Self::from(unsafe { usage.assume_init() })
    }

    /// User and system time together.
    pub fn cpu(&self) -> Duration {
        self.user + self.system
    }
}

impl From<libc::rusage> for Usage {
    fn from(usage: libc::rusage) -> Self {
        let count = |count: libc::c_long| u64::try_from(count).unwrap_or(0);
        let time = |time: libc::timeval| {
            let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
            Duration::from_secs(seconds)
                + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
        };
        Self {
            user: time(usage.ru_utime),
            system: time(usage.ru_stime),
            // In KiB, getrusage(2).
            peak_resident: count(usage.ru_maxrss) * 1024,
            minor_faults: count(usage.ru_minflt),
            major_faults: count(usage.ru_majflt),
            voluntary_switches: count(usage.ru_nvcsw),
            involuntary_switches: count(usage.ru_nivcsw),
            blocks_in: count(usage.ru_inblock),
            blocks_out: count(usage.ru_oublock),
        }
    }
}

/// Waits for a child to end, and reaps it.
pub(super) fn wait(pid: libc::pid_t) -> io::Result<Exited> {
    loop {
        match wait_with(pid, 0) {
            Ok(Some(exited)) => return Ok(exited),
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// One wait4(2); `None` when the child has not ended.
pub(super) fn wait_with(pid: libc::pid_t, options: libc::c_int) -> io::Result<Option<Exited>> {
    let mut status = 0;
    let mut usage = MaybeUninit::uninit();
    // SAFETY: the kernel writes one int and one rusage.
    let result = unsafe { libc::wait4(pid, &raw mut status, options, usage.as_mut_ptr()) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    let Some(status) = decode(status).filter(|_| result == pid) else {
        return Ok(None);
    };
    // SAFETY: a child was reaped, so the kernel has written its usage.
    let usage = Usage::from(unsafe { usage.assume_init() });
    Ok(Some(Exited { status, usage }))
}

/// A status of wait(2); `None` for a process that was only stopped or went on.
fn decode(status: libc::c_int) -> Option<Status> {
    if libc::WIFEXITED(status) {
        Some(Status::Code(libc::WEXITSTATUS(status)))
    } else if libc::WIFSIGNALED(status) {
        Some(Status::Signal {
            signal: libc::WTERMSIG(status),
            core_dumped: libc::WCOREDUMP(status),
        })
    } else {
        None
    }
}
