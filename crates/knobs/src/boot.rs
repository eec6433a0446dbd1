//! Which boot of a machine this is: a journal of another one is void.

use knobstat_sys::root::Root;

/// The boot's own id, or a fixed word where there is none: a laid-out tree has one boot unless it
/// holds the file, whatever the machine that it lies on does.
pub fn boot_id(root: &Root) -> String {
    root.read("/proc/sys/kernel/random/boot_id")
        .ok()
        .map(|id| id.trim().to_owned())
        .filter(|id| !id.is_empty())
        .unwrap_or_else(|| "unknown".to_owned())
}
