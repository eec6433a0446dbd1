//! A serial line as a stream of bytes.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::termios::{OptionalActions, speed, tcgetattr, tcsetattr};

/// Opens a serial line that carries bytes as they are in both directions: no echo, no line
/// discipline, no translation. It does not become the terminal of this process.
///
/// # Errors
/// When it cannot be opened, or is no terminal.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOCTTY.bits();
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(i32::try_from(flags).unwrap_or(0))
        .open(path)?;
    let mut settings = tcgetattr(&file)?;
    settings.make_raw();
    settings.set_speed(speed::B115200)?;
    tcsetattr(&file, OptionalActions::Flush, &settings)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_terminal_is_refused() {
        assert!(open(Path::new("/dev/null")).is_err());
    }
}
