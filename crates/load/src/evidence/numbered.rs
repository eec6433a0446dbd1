//! Directories of the kernel whose names are a word and a number.

use std::fs;
use std::path::{Path, PathBuf};

/// Where the CPUs are.
pub(super) const CPUS: &str = "/sys/devices/system/cpu";

/// The directories of a directory whose names are a word and a number, by number.
pub(super) fn numbered(directory: &Path, word: &str) -> Vec<(String, PathBuf)> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut found: Vec<(u32, String, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?.to_owned();
            let number = name.strip_prefix(word)?.parse().ok()?;
            Some((number, name, path))
        })
        .collect();
    found.sort();
    found
        .into_iter()
        .map(|(_, name, path)| (name, path))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_come_by_number_and_nothing_else_comes() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["cpu10", "cpu2", "cpufreq", "cpu"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        let names: Vec<String> = numbered(directory.path(), "cpu")
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["cpu2", "cpu10"]);
        assert!(numbered(Path::new("/no/such/place"), "cpu").is_empty());
    }
}
