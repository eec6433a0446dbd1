//! What these tests need of the machine: QEMU, and kernels in the cache.

use std::path::{Path, PathBuf};

use knobstat_lab::guest::find_qemu;
use knobstat_lab::kernels::{Cache, DEBIAN, Kernel, KernelError};
use knobstat_sys::spawn::{Lookup, find_program};

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

/// A kernel of 250 ticks a second, with what the cache knows of it.
pub fn kernel_of_the_cache() -> Kernel {
    let found = cache().and_then(|cache| cache.find(kernel()));
    found.expect("a kernel, without which no test is begun")
}

/// What is lacking for guests with a disk of their own.
pub fn lacking_for_a_disk() -> Option<String> {
    let busybox = find("busybox").is_none();
    let file_system = mkfs().is_none_or(|mkfs| !mkfs.with_file_name("debugfs").exists());
    let missing = |is_missing: bool, what: &str| is_missing.then(|| format!("{what} is missing"));
    missing(busybox, "busybox").or_else(|| missing(file_system, "e2fsprogs (mkfs.ext4, debugfs)"))
}

/// QEMU.
pub fn qemu() -> PathBuf {
    let found = find_qemu(std::env::var_os("PATH").as_deref());
    found.expect("QEMU, without which no test is begun")
}

/// What makes disk images, which is not on everybody's search path.
pub fn mkfs() -> Option<PathBuf> {
    let usual = PathBuf::from("/usr/sbin/mkfs.ext4");
    find("mkfs.ext4").or_else(|| usual.exists().then_some(usual))
}

/// A program of the search path.
pub fn find(name: &str) -> Option<PathBuf> {
    let search_path = std::env::var_os("PATH");
    match find_program(name.as_ref(), search_path.as_deref(), Path::new("/")) {
        Lookup::Found(path) => Some(path),
        _ => None,
    }
}
