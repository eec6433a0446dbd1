//! The time stamp counter of x86-64.

use std::arch::x86_64::{__cpuid, _mm_lfence, _rdtsc};

use super::{NoCounter, vouched};

/// The counter's name.
pub(super) const NAME: &str = "tsc";

/// `prctl(2)`: reading the TSC raises SIGSEGV.
const PR_TSC_SIGSEGV: libc::c_int = 2;

/// Whether the TSC can be read and counts at one rate whatever the clock source, the frequency
/// and the idle states are.
pub(super) fn probe() -> Result<(), NoCounter> {
    let mut mode: libc::c_int = 0;
    // SAFETY: PR_GET_TSC writes one int to the address given.
    let known = unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) } == 0;
    if known && mode == PR_TSC_SIGSEGV {
        return Err(NoCounter::Forbidden);
    }
    if !is_invariant() && !vouched::by_host() {
        return Err(NoCounter::NotInvariant);
    }
    // The kernel takes the TSC off this list when its watchdog finds it unstable, when the
    // processors' counters disagree, and under `notsc`.
    match std::fs::read_to_string(
        "/sys/devices/system/clocksource/clocksource0/available_clocksource",
    ) {
        Ok(sources) if !sources.split_whitespace().any(|source| source == "tsc") => {
            Err(NoCounter::Distrusted)
        }
        _ => Ok(()),
    }
}

/// Whether only the host of this guest says that it counts at one rate.
pub(super) fn is_vouched() -> bool {
    !is_invariant() && vouched::by_host()
}

/// Bit 8 of EDX of CPUID leaf 80000007H, the promise of a constant rate in every state.
fn is_invariant() -> bool {
    const ADVANCED_POWER_MANAGEMENT: u32 = 0x8000_0007;
    __cpuid(0x8000_0000).eax >= ADVANCED_POWER_MANAGEMENT
        && __cpuid(ADVANCED_POWER_MANAGEMENT).edx & 1 << 8 != 0
}

/// The counter now: not before what precedes it in the program, not after what follows.
#[inline]
pub(super) fn read() -> u64 {
    // SAFETY: both instructions exist on every x86-64; `probe` has seen that the process may
    // read the counter.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}
