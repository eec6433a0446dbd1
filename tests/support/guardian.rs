//! The guardian of an experiment, looked at from outside through /proc.

use std::path::Path;

/// The guardian of a laid-out tree, found by its command line.
pub fn guardian_of(tree: &Path) -> Option<i32> {
    let tree = tree.canonicalize().unwrap();
    std::fs::read_dir("/proc").unwrap().find_map(|entry| {
        let entry = entry.ok()?;
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let command = std::fs::read(entry.path().join("cmdline")).ok()?;
        let words: Vec<&[u8]> = command.split(|byte| *byte == 0).collect();
        let ours = words.get(1) == Some(&b"guardian".as_slice())
            && words
                .iter()
                .any(|word| Path::new(std::str::from_utf8(word).unwrap_or("")) == tree);
        ours.then_some(pid)
    })
}
