//! Every clock that clock_gettime(2) knows, read as programs read it and by the bare system call.

use std::io;

/// A clock by its number and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockId {
    name: &'static str,
    id: libc::clockid_t,
}

/// Every clock id of Linux, clock_gettime(2).
pub const CLOCK_IDS: [ClockId; 11] = [
    ClockId::of("CLOCK_REALTIME", libc::CLOCK_REALTIME),
    ClockId::of("CLOCK_MONOTONIC", libc::CLOCK_MONOTONIC),
    ClockId::of("CLOCK_MONOTONIC_RAW", libc::CLOCK_MONOTONIC_RAW),
    ClockId::of("CLOCK_BOOTTIME", libc::CLOCK_BOOTTIME),
    ClockId::of("CLOCK_TAI", libc::CLOCK_TAI),
    ClockId::of("CLOCK_REALTIME_COARSE", libc::CLOCK_REALTIME_COARSE),
    ClockId::of("CLOCK_MONOTONIC_COARSE", libc::CLOCK_MONOTONIC_COARSE),
    ClockId::of("CLOCK_REALTIME_ALARM", libc::CLOCK_REALTIME_ALARM),
    ClockId::of("CLOCK_BOOTTIME_ALARM", libc::CLOCK_BOOTTIME_ALARM),
    ClockId::of("CLOCK_PROCESS_CPUTIME_ID", libc::CLOCK_PROCESS_CPUTIME_ID),
    ClockId::of("CLOCK_THREAD_CPUTIME_ID", libc::CLOCK_THREAD_CPUTIME_ID),
];

impl ClockId {
    const fn of(name: &'static str, id: libc::clockid_t) -> Self {
        Self { name, id }
    }

    /// Its name in clock_gettime(2): `CLOCK_MONOTONIC`.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Whether it counts the CPU time of a process or thread instead of the passing of time.
    pub fn counts_cpu_time(self) -> bool {
        matches!(
            self.id,
            libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID
        )
    }

    /// Whether it can be read at all: an alarm clock needs a real-time clock device.
    ///
    /// # Errors
    /// As clock_gettime(2) says: EINVAL where the kernel has no such clock.
    pub fn probe(self) -> io::Result<()> {
        self.get().map(|_| ())
    }

    /// Its time in nanoseconds, as a program reads it: through the vDSO where the kernel offers
    /// that. Zero for a clock that [`ClockId::probe`] refuses.
    #[inline]
    pub fn now(self) -> u64 {
        self.get().unwrap_or(0)
    }

    /// Its time in nanoseconds, by the system call, past the vDSO. Zero for a clock that
    /// [`ClockId::probe`] refuses.
    #[inline]
    pub fn now_by_system_call(self) -> u64 {
        let mut time = EMPTY;
        // SAFETY: the kernel writes one timespec to the address given. On the architectures
        // that this crate knows its timespec is the C library's.
        let result = unsafe { libc::syscall(libc::SYS_clock_gettime, self.id, &raw mut time) };
        if result == 0 { nanoseconds(time) } else { 0 }
    }

    /// The resolution that clock_getres(2) claims, in nanoseconds: that of its timers.
    ///
    /// # Errors
    /// As clock_getres(2) says.
    pub fn claimed_resolution(self) -> io::Result<u64> {
        let mut time = EMPTY;
        // SAFETY: the call writes one timespec to the address given.
        match unsafe { libc::clock_getres(self.id, &raw mut time) } {
            0 => Ok(nanoseconds(time)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    #[inline]
    pub(super) fn get(self) -> io::Result<u64> {
        let mut time = EMPTY;
        // SAFETY: the call writes one timespec to the address given.
        match unsafe { libc::clock_gettime(self.id, &raw mut time) } {
            0 => Ok(nanoseconds(time)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

const EMPTY: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// A clock that was set to before 1970 says zero.
fn nanoseconds(time: libc::timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_reading_a_clock_tell_one_time() {
        for clock in CLOCK_IDS {
            // An alarm clock may be absent, and a thread's CPU time moves as it is asked for.
            if clock.probe().is_err() {
                continue;
            }
            let before = clock.now();
            let between = clock.now_by_system_call();
            let after = clock.now();
            assert!(before <= between && between <= after, "{}", clock.name());
            assert!(clock.claimed_resolution().unwrap() >= 1);
        }
    }

    #[test]
    fn a_clock_that_does_not_exist_is_refused() {
        let none = ClockId::of("CLOCK_NONE", 1000);
        assert!(none.probe().is_err());
        assert_eq!((none.now(), none.now_by_system_call()), (0, 0));
    }
}
