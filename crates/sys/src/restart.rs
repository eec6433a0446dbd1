//! Starting the machine anew: through its firmware, or by the running kernel starting another
//! (kexec_file_load(2), reboot(2)).

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::system::{RebootCommand, reboot};

/// The kernel command that starts what was loaded, LINUX_REBOOT_CMD_KEXEC of linux/reboot.h.
const START_LOADED: libc::c_int = libc::LINUX_REBOOT_CMD_KEXEC;

/// Loads a kernel that [`start_loaded_kernel`] starts, in place of one loaded before.
///
/// # Errors
/// EPERM without root's rights or where the kernel is locked down, ENOSYS without
/// CONFIG_KEXEC_FILE, EINVAL for what is no kernel or a command line that is too long.
pub fn load_kernel(image: &Path, initrd: Option<&Path>, command_line: &str) -> io::Result<()> {
    let image = File::open(image)?;
    let initrd = initrd.map(File::open).transpose()?;
    let words = CString::new(command_line)?;
    let flags = match initrd {
        Some(_) => 0,
        None => libc::KEXEC_FILE_NO_INITRAMFS,
    };
    // SAFETY: both descriptors are open for the length of the call (the second is not looked at
    // where the flag says that there is none), and the length is that of the text with its zero
    // byte.
    let result = unsafe {
        libc::syscall(
            libc::SYS_kexec_file_load,
            image.as_raw_fd(),
            initrd.as_ref().map_or(-1, File::as_raw_fd),
            words.as_bytes_with_nul().len(),
            words.as_ptr(),
            libc::c_long::from(flags),
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Forgets a kernel that was loaded. None loaded is no error.
///
/// # Errors
/// As for [`load_kernel`].
pub fn unload_kernel() -> io::Result<()> {
    // SAFETY: with this flag the kernel looks at no other argument.
    let result = unsafe {
        libc::syscall(
            libc::SYS_kexec_file_load,
            -1,
            -1,
            0usize,
            std::ptr::null::<libc::c_char>(),
            libc::c_long::from(libc::KEXEC_FILE_UNLOAD),
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Writes everything to the disks and starts the kernel that was loaded. It does not return where
/// it succeeds, and asks no process to end first.
///
/// # Errors
/// EPERM without root's rights, EINVAL where no kernel was loaded.
pub fn start_loaded_kernel() -> io::Error {
    rustix::fs::sync();
    // SAFETY: takes a number alone; RB_KEXEC has no pointer to pass.
    unsafe { libc::reboot(START_LOADED) };
    io::Error::last_os_error()
}

/// Writes everything to the disks and starts the machine anew. It does not return where it
/// succeeds, and asks no process to end first.
///
/// # Errors
/// EPERM without root's rights.
pub fn restart() -> io::Error {
    rustix::fs::sync();
    match reboot(RebootCommand::Restart) {
        Ok(()) => io::Error::other("the kernel did not restart the machine"),
        Err(error) => error.into(),
    }
}
