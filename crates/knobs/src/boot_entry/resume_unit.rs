//! The unit by which systemd continues an experiment after a reboot.

use std::path::Path;

use knobstat_sys::root::Root;

use super::error::BootError;
use super::loader::{Trace, file_error, rm};

/// Where systemd looks for units that an administrator wrote (systemd.unit(5)).
const UNITS: &str = "/etc/systemd/system";
const NAME: &str = "knobstat-resume.service";
/// What is wanted once the machine is up.
const WANTS: &str = "/etc/systemd/system/multi-user.target.wants";

/// Whether a machine is one with systemd.
pub fn is_possible(root: &Root) -> bool {
    root.exists(UNITS)
}

/// Whether the directory of what is wanted has to be made for it.
pub fn lacks_directory(root: &Root) -> bool {
    !root.exists(WANTS)
}

/// Writes the unit, enabled for the next boot.
///
/// # Errors
/// When it cannot be written.
pub fn install(root: &Root, program: &Path, state: &Path) -> Result<(), BootError> {
    let path = format!("{UNITS}/{NAME}");
    root.replace_file(&path, text(program, state).as_bytes(), 0o644)
        .map_err(file_error(root, &path, "written"))?;
    root.create_directory(WANTS)
        .map_err(file_error(root, WANTS, "written"))?;
    root.create_link(&format!("../{NAME}"), &wanted())
        .map_err(file_error(root, WANTS, "written"))
}

/// What of it is there.
pub fn traces(root: &Root) -> Vec<Trace> {
    let unit = format!("{UNITS}/{NAME}");
    [unit, wanted()]
        .iter()
        .filter(|path| is_there(root, path))
        .map(|path| Trace {
            what: root.resolve(path).display().to_string(),
            command: rm(root, path),
        })
        .collect()
}

/// Removes it, and the directory of what is wanted where that had to be made.
///
/// # Errors
/// When it cannot be removed.
pub fn remove(root: &Root, made_directory: bool) -> Result<(), BootError> {
    for path in [wanted(), format!("{UNITS}/{NAME}")] {
        root.remove_file(&path)
            .map_err(file_error(root, &path, "removed"))?;
    }
    if made_directory {
        // One that others use by now stays.
        let _ = root.remove_directory(WANTS);
    }
    Ok(())
}

/// A link counts whether it leads somewhere or not.
fn is_there(root: &Root, path: &str) -> bool {
    let (directory, name) = path.rsplit_once('/').unwrap_or_default();
    root.list(directory)
        .is_ok_and(|names| names.iter().any(|other| other == name))
}

fn wanted() -> String {
    format!("{WANTS}/{NAME}")
}

/// The unit. It waits by itself until the machine has come up: a unit that is wanted by a target
/// cannot come after it. What is left of a run is ended by the guardian, not by systemd.
fn text(program: &Path, state: &Path) -> String {
    format!(
        "[Unit]\n\
         Description=Continue the knobstat experiment that rebooted this machine\n\
         After=local-fs.target remote-fs.target time-sync.target\n\
         ConditionPathExists={}\n\
         \n\
         [Service]\n\
         Type=simple\n\
         KillMode=mixed\n\
         ExecStart=\"{}\" resume\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n",
        literally(state),
        literally(program)
    )
}

/// A path as a unit reads it between quotes: `%` begins what systemd fills in.
fn literally(path: &Path) -> String {
    path.display()
        .to_string()
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('%', "%%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_literally() {
        let text = text(
            Path::new("/opt/100% \"mine\"/knobstat"),
            Path::new("/var/b"),
        );
        assert!(text.contains("ExecStart=\"/opt/100%% \\\"mine\\\"/knobstat\" resume\n"));
        assert!(text.contains("ConditionPathExists=/var/b\n"));
    }
}
