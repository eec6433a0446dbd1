//! What these tests need of the machine: QEMU, and kernels in the cache.

use knobstat_lab::guest::find_qemu;
use knobstat_lab::kernels::{Cache, DEBIAN, KernelError};

/// What is lacking, in one sentence; none where nothing is.
pub fn lacking() -> Option<String> {
    find_qemu(std::env::var_os("PATH").as_deref())
        .map_err(|error| error.to_string())
        .and_then(|_| slow_kernel().map_err(|error| error.to_string()))
        .err()
}

fn cache() -> Result<Cache, KernelError> {
    Cache::locate(std::env::var_os)
}

/// A kernel of 250 ticks a second: ours, or Debian's ready-made one.
fn slow_kernel() -> Result<&'static str, KernelError> {
    let cache = cache()?;
    let ours = "hz250";
    if cache.find(ours).is_ok() {
        return Ok(ours);
    }
    cache.find(DEBIAN).map(|_| DEBIAN)
}

/// The name of a kernel of 250 ticks a second.
pub fn kernel() -> &'static str {
    slow_kernel().expect("a kernel, without which no test is begun")
}

/// The tick rates for which there are kernels.
pub fn tick_rates() -> Vec<u32> {
    let cache = cache().expect("a cache, without which no test is begun");
    let rates = [250, 1000].into_iter();
    rates.filter(|hz| cache.with_hz(*hz).is_ok()).collect()
}
