//! Whether a clock is read through the vDSO or by a system call, found by counting.
//!
//! A thread that lives for this alone forbids itself the system call clock_gettime(2) by a
//! seccomp filter, and reads the clock as any program does. The vDSO needs no system call; where
//! it hands on to the kernel, as it does for a clock source that only the kernel can read, the
//! reading fails. The filter is the thread's own and ends with it.

use std::io;

use super::every::ClockId;

/// The error that the filter gives in place of the time; clock_gettime(2) never has it.
const REFUSED: libc::c_int = libc::EDOM;

/// How many of so many readings of a clock needed a system call.
///
/// # Errors
/// Where the filter cannot be set, as in a sandbox that has no seccomp, or no thread be started.
pub fn readings_by_system_call(clock: ClockId, readings: u32) -> io::Result<u32> {
    let counting = std::thread::Builder::new().spawn(move || {
        forbid_clock_gettime()?;
        let mut refused = 0;
        for _ in 0..readings {
            match clock.get() {
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(REFUSED) => refused += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(refused)
    })?;
    counting
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the counting thread panicked")))
}

/// The offset of the system call's number in `struct seccomp_data`.
const NUMBER: u32 = 0;

/// Makes clock_gettime(2) fail for the calling thread, seccomp(2).
fn forbid_clock_gettime() -> io::Result<()> {
    let instruction = |code: u32, jumps: (u8, u8), k: u32| libc::sock_filter {
        code: code as u16,
        jt: jumps.0,
        jf: jumps.1,
        k,
    };
    let mut filter = [
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, (0, 0), NUMBER),
        instruction(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            (0, 1),
            libc::SYS_clock_gettime as u32,
        ),
        instruction(
            libc::BPF_RET | libc::BPF_K,
            (0, 0),
            libc::SECCOMP_RET_ERRNO | REFUSED as u32,
        ),
        instruction(libc::BPF_RET | libc::BPF_K, (0, 0), libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as libc::c_ushort,
        filter: filter.as_mut_ptr(),
    };
    let zero: libc::c_ulong = 0;
    let one: libc::c_ulong = 1;
    // SAFETY: takes numbers alone; it concerns the calling thread and no other.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, one, zero, zero, zero) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mode = libc::c_ulong::from(libc::SECCOMP_MODE_FILTER);
    // SAFETY: the kernel copies the program, which lives across the call, and puts it on the
    // calling thread alone.
    if unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::every::CLOCK_IDS;
    use super::*;

    #[test]
    fn cpu_time_needs_the_kernel_and_the_filter_ends_with_its_thread() {
        let named = |name| CLOCK_IDS.into_iter().find(|clock| clock.name() == name);
        let cpu_time = named("CLOCK_THREAD_CPUTIME_ID").unwrap();
        match readings_by_system_call(cpu_time, 16) {
            Ok(by_system_call) => assert_eq!(by_system_call, 16),
            Err(error) => println!("no seccomp here: {error}"),
        }
        assert!(cpu_time.probe().is_ok());
    }

    #[test]
    fn the_coarse_clock_never_needs_the_clock_source() {
        // The coarse clocks are in the vDSO's page whatever the clock source is.
        let named = |name| CLOCK_IDS.into_iter().find(|clock| clock.name() == name);
        let coarse = named("CLOCK_MONOTONIC_COARSE").unwrap();
        if let Ok(by_system_call) = readings_by_system_call(coarse, 16) {
            assert_eq!(by_system_call, 0);
        }
    }
}
