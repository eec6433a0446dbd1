//! The children that a process has: those it started, and orphans that the kernel gave it.

use std::fs;
use std::io;

use super::wait::{Exited, wait_with};

/// The numbers of all children of this process, ended ones included, ascending.
///
/// # Errors
/// When /proc cannot be read.
pub fn children() -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    for thread in fs::read_dir("/proc/self/task")? {
        match fs::read_to_string(thread?.path().join("children")) {
            Ok(list) => found.extend(list.split_whitespace().filter_map(number)),
            // A kernel without CONFIG_PROC_CHILDREN; or a thread that has ended, whose children
            // belong to another thread now.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    || error.raw_os_error() == Some(libc::ESRCH) =>
            {
                return children_by_parent();
            }
            Err(error) => return Err(error),
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The same, from every process's word on who its parent is.
fn children_by_parent() -> io::Result<Vec<u32>> {
    let me = std::process::id();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(number) else {
            continue;
        };
        // One that ends meanwhile is no child any more.
        if let Ok(status) = fs::read_to_string(format!("/proc/{pid}/stat"))
            && parent(&status) == Some(me)
        {
            found.push(pid);
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn number(text: &str) -> Option<u32> {
    text.parse().ok()
}

/// The parent in `PID (NAME) STATE PPID …`; the name may hold spaces and parentheses.
fn parent(status: &str) -> Option<u32> {
    let (_, rest) = status.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

/// Reaps a child if it has ended; `None` when it has not.
///
/// # Errors
/// ECHILD when it is no child of ours.
pub fn reap(pid: u32) -> io::Result<Option<Exited>> {
    let pid = libc::pid_t::try_from(pid)
        .ok()
        .filter(|pid| *pid > 0)
        .ok_or_else(|| io::Error::from_raw_os_error(libc::ECHILD))?;
    wait_with(pid, libc::WNOHANG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_found_both_ways_and_reaped_once() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        assert!(children().unwrap().contains(&pid));
        assert!(children_by_parent().unwrap().contains(&pid));
        while reap(pid).unwrap().is_none() {
            std::thread::yield_now();
        }
        assert_eq!(reap(pid).unwrap_err().raw_os_error(), Some(libc::ECHILD));
        assert!(child.wait().is_err());
        assert!(reap(0).is_err());
    }

    #[test]
    fn a_name_may_hold_anything() {
        assert_eq!(parent("12 (a) b) S 7 12"), Some(7));
        assert_eq!(parent("12"), None);
    }
}
