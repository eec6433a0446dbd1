//! The unit by which systemd puts back at boot what an interrupted experiment left behind.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use knobstat_knobs::Refused;
use knobstat_sys::root::Root;

use crate::output;
use crate::trouble::Trouble;

/// Where systemd looks for units that an administrator wrote (systemd.unit(5)).
const UNITS: &str = "etc/systemd/system";
const NAME: &str = "knobstat-restore.service";

/// Writes the unit beneath a root, enabled for the next boot.
///
/// # Errors
/// When the machine has no systemd, or its directory cannot be written.
pub fn install(root: &Root) -> Result<(), Trouble> {
    if root.is_real() && Refused::from_environment().0 {
        return Err(Trouble::request(
            "KNOBSTAT_NO_KNOBS is set, which refuses every change of this machine",
            "Unset KNOBSTAT_NO_KNOBS.",
        ));
    }
    let units = root.path().join(UNITS);
    if !units.is_dir() {
        return Err(Trouble::request(
            format!("{} is no directory: systemd is not here", units.display()),
            "Let your own init start `knobstat restore` at boot.",
        ));
    }
    let program = std::env::current_exe().map_err(|error| {
        Trouble::disk(
            format!("the program cannot find itself ({error})"),
            "Start it by its whole path.",
        )
    })?;
    let path = units.join(NAME);
    write(&path, &unit(&program))
        .and_then(|()| enable(&units))
        .map_err(|error| {
            Trouble::disk(
                format!("{} cannot be written ({error})", path.display()),
                "Run it as root.",
            )
        })?;
    output::result(&format!(
        "{} runs at every boot from now on. `systemctl disable {NAME}` takes it away again.\n",
        path.display()
    ))
}

/// Beside, then renamed: systemd never reads half a unit.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("service.new");
    fs::write(&beside, text)?;
    fs::rename(&beside, path)
}

/// What `systemctl enable` does.
fn enable(units: &Path) -> io::Result<()> {
    let wants = units.join("multi-user.target.wants");
    fs::create_dir_all(&wants)?;
    let target = PathBuf::from("..").join(NAME);
    match symlink(target, wants.join(NAME)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

/// The unit. It begins once the disks are there, and before daemons that turn knobs.
fn unit(program: &Path) -> String {
    format!(
        "[Unit]\n\
         Description=Put back what an interrupted knobstat experiment left behind\n\
         After=local-fs.target\n\
         Before=tuned.service power-profiles-daemon.service thermald.service tlp.service\n\
         ConditionPathExists=/var/lib/knobstat/machine/journal\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         ExecStart=\"{}\" restore\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n",
        program.display()
    )
}
