//! Where groups for runs can be made, or why not.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use knobstat_data::Evidence;
use knobstat_sys::spawn::{Prepared, Program, Settings};

use super::capture::Group;
use super::decode;

/// Where version 2 of control groups is mounted.
const HIERARCHY: &str = "/sys/fs/cgroup";
/// What every group of that version has.
const PROCESSES: &str = "cgroup.procs";

/// The place for groups of runs.
#[derive(Debug)]
pub struct Groups(Result<PathBuf, String>);

impl Groups {
    /// None are made, for this reason.
    pub fn none(reason: impl Into<String>) -> Self {
        Self(Err(reason.into()))
    }

    /// Looks for a place and tries it: beside all others for root, else within this process's own
    /// group, where that was delegated to its user (cgroups(7)).
    pub fn of_this_machine() -> Self {
        Self::find(
            Path::new(HIERARCHY),
            fs::read_to_string("/proc/self/cgroup"),
        )
    }

    fn find(hierarchy: &Path, own: io::Result<String>) -> Self {
        let places = [
            Some(hierarchy.to_owned()),
            own.ok().and_then(|text| within(hierarchy, &text)),
        ];
        let mut reason = format!("{} has no control groups of version 2", hierarchy.display());
        for place in places.into_iter().flatten() {
            if !place.join(PROCESSES).is_file() {
                continue;
            }
            match try_out(&place) {
                Ok(()) => return Self(Ok(place)),
                Err(error) => {
                    reason = format!("no control group can be made here: {error}");
                }
            }
        }
        Self(Err(reason))
    }

    /// A group for one run; none where none can be made.
    pub fn make(&self) -> Option<Group> {
        Group::make(self.0.as_ref().ok()?).ok()
    }

    /// The evidence of a run that had a group or had none.
    pub fn decode(&self, group: Option<&Group>) -> Vec<Evidence> {
        match (group, &self.0) {
            (Some(group), _) => decode::decode(&group.readings()),
            (None, Err(reason)) => decode::lacking(reason),
            (None, Ok(_)) => decode::lacking("the group of this run could not be made"),
        }
    }
}

/// The place of this process's own group: the line of version 2 begins with `0::`.
fn within(hierarchy: &Path, own: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(hierarchy.join(path)).filter(|place| place != hierarchy)
}

/// Whether a process can be started in a group there.
fn try_out(place: &Path) -> io::Result<()> {
    let group = Group::make(place)?;
    let program = Program {
        executable: PathBuf::from("/proc/self/exe"),
        arguments: vec![OsString::from("knobstat")],
        environment: Vec::new(),
    };
    let settings = Settings {
        control_group: Some(group.as_fd()),
        ..Settings::default()
    };
    let mut prepared = Prepared::new(program, settings).map_err(io::Error::other)?;
    prepared.rehearse().map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_by_the_line_of_version_2() {
        let root = Path::new("/g");
        let text = "8:pids:/\n0::/user.slice/a.scope\n";
        assert_eq!(
            within(root, text),
            Some(PathBuf::from("/g/user.slice/a.scope"))
        );
        assert_eq!(within(root, "0::/\n"), None);
        assert_eq!(within(root, "1:cpu:/x\n"), None);
    }

    #[test]
    fn what_is_no_hierarchy_is_a_reason_and_is_left_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let groups = Groups::find(directory.path(), Ok("0::/own\n".to_owned()));
        assert!(groups.make().is_none());
        // A directory that looks like one, in which no group comes to be.
        fs::write(directory.path().join(PROCESSES), "").unwrap();
        let groups = Groups::find(directory.path(), Err(io::ErrorKind::NotFound.into()));
        let told = groups.decode(None);
        assert!(told.iter().all(|one| one.value.is_err()), "{told:?}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
