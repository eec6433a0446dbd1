//! The processes of an experiment, looked at from outside through /proc.

use std::path::PathBuf;
use std::process::Command;

/// The children of a process.
pub fn children(pid: u32) -> Vec<i32> {
    std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

/// Sends a signal by name.
#[track_caller]
pub fn kill(signal: &str, pid: i32) {
    assert!(
        Command::new("kill")
            .args([&format!("-{signal}"), &pid.to_string()])
            .status()
            .unwrap()
            .success()
    );
}

/// Waits until a process is gone: its folder of /proc vanishes, or it is a zombie.
pub fn wait_until_gone(pid: i32) {
    let path = PathBuf::from(format!("/proc/{pid}/stat"));
    while let Ok(stat) = std::fs::read_to_string(&path) {
        if stat
            .rsplit(')')
            .next()
            .is_some_and(|rest| rest.trim_start().starts_with('Z'))
        {
            return;
        }
        std::thread::yield_now();
    }
}
