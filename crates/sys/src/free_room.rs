//! How much room a file system has left.

use std::io;
use std::path::Path;

/// The bytes that this user can still write to the file system that a path is on.
///
/// # Errors
/// When the path is not there or cannot be looked at.
pub fn free_room(path: &Path) -> io::Result<u64> {
    let system = rustix::fs::statvfs(path)?;
    Ok(system.f_bavail.saturating_mul(system.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_somewhere_and_none_nowhere() {
        assert!(free_room(&std::env::temp_dir()).unwrap() > 0);
        assert!(free_room(Path::new("/nonexistent")).is_err());
    }
}
