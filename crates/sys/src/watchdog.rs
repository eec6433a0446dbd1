//! The hardware watchdog: it starts the machine anew unless it hears from somebody in time
//! (Documentation/watchdog/watchdog-api.rst).

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

/// The first watchdog of the machine.
pub const DEVICE: &str = "/dev/watchdog0";

/// `_IOWR('W', 6, int)` of linux/watchdog.h.
const SET_TIMEOUT: libc::Ioctl = 0xc004_5706_u32 as libc::Ioctl;

/// What is written before closing, for the watchdog to stop.
const MAGIC_CLOSE: &[u8] = b"V";

/// Times to ask for, the longest first: many devices count no further than a few minutes.
const TIMEOUTS: [i32; 6] = [600, 300, 240, 120, 60, 30];

/// A watchdog that counts. It goes on counting after this is dropped.
#[derive(Debug)]
pub struct Armed {
    _device: File,
    timeout: Duration,
}

impl Armed {
    /// How long it waits.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }
}

/// Starts a watchdog with the longest time that it takes, up to ten minutes.
///
/// # Errors
/// ENOENT where there is none, EBUSY where somebody else feeds it, EINVAL where it takes no time.
pub fn arm(device: &Path) -> io::Result<Armed> {
    let mut opened = OpenOptions::new().write(true).open(device)?;
    for seconds in TIMEOUTS {
        let mut taken: libc::c_int = seconds;
        // SAFETY: the request reads and writes one int, which `taken` is.
        if unsafe { libc::ioctl(opened.as_raw_fd(), SET_TIMEOUT, &raw mut taken) } == 0 {
            opened.write_all(b"\0")?;
            return Ok(Armed {
                _device: opened,
                timeout: Duration::from_secs(u64::try_from(taken).unwrap_or_default()),
            });
        }
    }
    let error = io::Error::last_os_error();
    // It counts since it was opened.
    opened.write_all(MAGIC_CLOSE)?;
    Err(error)
}

/// Stops a watchdog that nobody else has open.
///
/// # Errors
/// ENOENT where there is none, EBUSY where somebody else feeds it.
pub fn disarm(device: &Path) -> io::Result<()> {
    OpenOptions::new()
        .write(true)
        .open(device)?
        .write_all(MAGIC_CLOSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_watchdog_is_left_as_one_that_stops() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(arm(&file).is_err());
        assert_eq!(std::fs::read(&file).unwrap(), MAGIC_CLOSE);
        let none = arm(&directory.path().join("none")).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::NotFound);
    }
}
