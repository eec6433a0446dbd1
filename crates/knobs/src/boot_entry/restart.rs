//! Starting the machine anew in good order: by its service manager where it has one.

use std::process::{Command, Stdio};

use knobstat_sys::restart;
use knobstat_sys::root::Root;

use super::error::BootError;

/// What sd_booted(3) looks at.
const SYSTEMD: &str = "/run/systemd/system";

/// How a machine is started anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Through its firmware.
    Firmware,
    /// By the kernel that was loaded.
    Kexec,
}

impl Restart {
    /// Starts the machine anew. A laid-out tree stays as it is: whoever laid it out plays its boot
    /// loader.
    ///
    /// # Errors
    /// When that cannot be done; it may return where it can.
    pub fn perform(self, root: &Root) -> Result<(), BootError> {
        if !root.is_real() {
            return Ok(());
        }
        if root.exists(SYSTEMD) {
            let verb = match self {
                Self::Firmware => "reboot",
                Self::Kexec => "kexec",
            };
            return ask("systemctl", &[verb]);
        }
        match self {
            // The init of the machine ends its services first, where it has the usual command.
            Self::Firmware => {
                ask("reboot", &[]).map_err(|_| BootError::Restart(restart::restart().to_string()))
            }
            Self::Kexec => Err(BootError::Restart(
                restart::start_loaded_kernel().to_string(),
            )),
        }
    }
}

/// Whether the machine's services are managed by systemd.
pub fn has_systemd(root: &Root) -> bool {
    root.exists(SYSTEMD)
}

fn ask(program: &str, arguments: &[&str]) -> Result<(), BootError> {
    let failed = |reason: String| BootError::Restart(format!("{program}: {reason}"));
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|error| failed(error.to_string()))?;
    if status.success() {
        Ok(())
    } else {
        Err(failed(status.to_string()))
    }
}
