//! Mounting the kernel's own file systems where a machine has just started and nobody has.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::path::Path;

use rustix::io::Errno;
use rustix::mount::MountFlags;

/// Mounts a file system of the kernel's own (`proc`, `sysfs`, `tmpfs`, …) at a directory, which
/// is made where it is not there. One that is mounted there already is no error.
///
/// # Errors
/// As mount(2) says: ENODEV where the kernel has no such file system.
pub fn mount(kind: &str, directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let no_options: Option<&CStr> = None;
    match rustix::mount::mount(kind, directory, kind, MountFlags::NOSUID, no_options) {
        Ok(()) | Err(Errno::BUSY) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
