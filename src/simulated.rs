//! Machine files: read, checked, and made simulated machines.

use std::path::{Path, PathBuf};

use knobstat_model::{MachineFile, Simulator};

use crate::trouble::Trouble;

/// The simulated machine of a machine file.
///
/// # Errors
/// When the file cannot be read or is no machine file.
pub fn read(path: &Path) -> Result<Simulator, Trouble> {
    let name = path.display().to_string();
    let source = std::fs::read_to_string(path).map_err(|error| {
        Trouble::request(
            format!("the machine file {name} cannot be read ({error})"),
            "Check the path; crates/model/machines has machine files to start from.",
        )
    })?;
    let machine = MachineFile::parse(&source, &name)
        .map_err(|error| Trouble::request(error.to_string(), ""))?;
    Ok(Simulator::new(machine, source))
}

/// Where a machine file is that an experiment file names: seen from that file's directory.
pub fn path(machine: &str, experiment_file: &Path) -> PathBuf {
    experiment_file.parent().map_or_else(
        || PathBuf::from(machine),
        |directory| directory.join(machine),
    )
}
