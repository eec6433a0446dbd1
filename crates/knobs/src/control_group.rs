//! The guardian's own control group.
//!
//! A service manager or a batch system that ends a job ends its whole control group, the guardian
//! with it. Where this process may, the guardian therefore moves to a group beside the job's, made
//! for it alone (cgroups(7), version 2). Where it may not, as without root or in a container, the
//! journal is what is left.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where version 2 of control groups is mounted.
const HIERARCHY: &str = "/sys/fs/cgroup";
/// The list of a group's processes; a number written to it moves that process.
const PROCESSES: &str = "cgroup.procs";
/// What the names of guardians' groups begin with; the process's number follows.
const PREFIX: &str = "knobstat-guardian-";

/// What the names of the groups of runs begin with, which a killed agent leaves behind.
const RUNS: &str = "knobstat-run-";

/// The hierarchy of this machine.
pub fn hierarchy() -> &'static Path {
    Path::new(HIERARCHY)
}

/// Moves a process to a group of its own.
///
/// # Errors
/// When there is no such hierarchy or it may not be changed; the process is then where it was, and
/// nothing was left behind.
pub fn enter(hierarchy: &Path, process: u32) -> io::Result<()> {
    // Something else may be mounted there, version 1 for example.
    if !hierarchy.join(PROCESSES).is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let group = group(hierarchy, process);
    fs::create_dir(&group)?;
    let moved = move_to(&group, process);
    if moved.is_err() {
        let _ = fs::remove_dir(&group);
    }
    moved
}

/// Moves a process out of its own group, to the root of the hierarchy, and removes the group.
///
/// # Errors
/// When it is in none, or the group cannot be left.
pub fn leave(hierarchy: &Path, process: u32) -> io::Result<()> {
    let group = group(hierarchy, process);
    if !group.is_dir() {
        return Err(io::ErrorKind::NotFound.into());
    }
    move_to(hierarchy, process)?;
    fs::remove_dir(group)
}

/// Removes the groups of guardians and of runs that have ended. The kernel refuses to remove one that still
/// holds a process.
pub fn remove_empty(hierarchy: &Path) {
    let Ok(entries) = fs::read_dir(hierarchy) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if [PREFIX, RUNS].iter().any(|prefix| name.starts_with(prefix)) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn group(hierarchy: &Path, process: u32) -> PathBuf {
    hierarchy.join(format!("{PREFIX}{process}"))
}

/// The kernel's file is there as soon as the group is; in anything else it is missing, and is not
/// made.
fn move_to(group: &Path, process: u32) -> io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .open(group.join(PROCESSES))?;
    io::Write::write_all(&mut file, process.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_hierarchy_is_left_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        assert!(enter(directory.path(), 12).is_err());
        assert!(leave(directory.path(), 12).is_err());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_the_empty_groups_of_guardians_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let made = |name: &str| {
            let path = directory.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let (ended, other) = (made("knobstat-guardian-1"), made("user.slice"));
        let there = made("knobstat-guardian-2");
        fs::write(there.join("holds"), "something").unwrap();
        remove_empty(directory.path());
        assert!(!ended.exists() && other.exists() && there.exists());
        remove_empty(Path::new("/no/such/hierarchy"));
    }

    #[test]
    fn a_process_is_moved_by_its_number() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(PROCESSES), "").unwrap();
        fs::create_dir(directory.path().join("knobstat-guardian-7")).unwrap();
        leave(directory.path(), 7).unwrap();
        let told = fs::read_to_string(directory.path().join(PROCESSES)).unwrap();
        assert_eq!(told, "7");
        assert!(!directory.path().join("knobstat-guardian-7").exists());
    }
}
