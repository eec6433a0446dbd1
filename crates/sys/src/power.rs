//! Turning off the machine: for a guest whose only process this is.

use std::io;

use rustix::system::RebootCommand;

/// Turns the machine off at once; nothing is written back first.
///
/// # Errors
/// EPERM without the right to do so.
pub fn off() -> io::Result<()> {
    rustix::system::reboot(RebootCommand::PowerOff).map_err(io::Error::from)
}
